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
    products = {1}
    for prime in _prime_factors(number):
        products |= {divisor * prime for divisor in products}
    return tuple(sorted(products))


def _prime_factors(number: int) -> list[int]:
    """List the prime factors, each as often as it divides."""
    factors = []
    for prime in _SMALL_PRIMES:
        while number % prime == 0:
            number //= prime
            factors.append(prime)
    todo = [number] if number > 1 else []
    while todo:
        rest = todo.pop()
        if _is_prime(rest):
            factors.append(rest)
        else:
            part = _some_factor(rest)
            todo += [part, rest // part]
    return factors


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
        factor = 1
        while factor == 1:
            slow = (slow * slow + step) % composite
            fast = (fast * fast + step) % composite
            fast = (fast * fast + step) % composite
            factor = gcd(slow - fast, composite)
        if factor != composite:
            return factor
    raise AssertionError(f"{composite} is prime")
