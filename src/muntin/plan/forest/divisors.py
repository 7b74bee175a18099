"""Divisors of a slide."""

from __future__ import annotations

from functools import cache
from math import gcd

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@cache
def divisors(number: int) -> tuple[int, ...]:
    """List the divisors in ascending order.

    >>> divisors(12), divisors(1), divisors(100_003 * 100_019)
    ((1, 2, 3, 4, 6, 12), (1,), (1, 100003, 100019, 10002200057))
    """
    found = {1}
    for prime in _prime_factors(number):
        found |= {divisor * prime for divisor in found}
    return tuple(sorted(found))


def _prime_factors(number: int) -> list[int]:
    """List the prime factors, each as often as it divides."""
    found = []
    for prime in _SMALL_PRIMES:
        while number % prime == 0:
            number //= prime
            found.append(prime)
    todo = [number] if number > 1 else []
    while todo:
        rest = todo.pop()
        if _is_prime(rest):
            found.append(rest)
        else:
            part = _some_factor(rest)
            todo += [part, rest // part]
    return found


def _is_prime(number: int) -> bool:
    """Test by Miller and Rabin's method; these bases decide every number below 2**64."""
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    for base in _SMALL_PRIMES:
        power = pow(base, (number - 1) >> twos, number)
        if base % number and power not in (1, number - 1):
            for _ in range(twos - 1):
                power = power * power % number
                if power == number - 1:
                    break
            else:
                return False
    return True


def _some_factor(composite: int) -> int:
    """Find a proper factor by Pollard's rho method."""
    for step in range(1, composite):
        slow = fast = 2
        found = 1
        while found == 1:
            slow = (slow * slow + step) % composite
            fast = (fast * fast + step) % composite
            fast = (fast * fast + step) % composite
            found = gcd(slow - fast, composite)
        if found != composite:
            return found
    raise AssertionError(f"{composite} is prime")
