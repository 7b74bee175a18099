"""Divisors of a slide."""

from __future__ import annotations

_LARGEST_PRIME = 100_000
"""Trial division ends here: what is left of a larger number counts as one prime."""


def divisors(number: int) -> list[int]:
    """List the divisors in ascending order.

    Numbers with two prime factors above 100 000 miss a few; durations that people write have none.

    >>> divisors(12), divisors(1)
    ([1, 2, 3, 4, 6, 12], [1])
    """
    found = [1]
    rest, prime = number, 2
    while rest > 1:
        if prime * prime > rest or prime > _LARGEST_PRIME:
            prime = rest
        powers = [1]
        while rest % prime == 0:
            rest //= prime
            powers.append(powers[-1] * prime)
        found = [d * power for d in found for power in powers]
        prime += 1
    return sorted(found)
