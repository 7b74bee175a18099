"""Exact numbers as text."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

LONG = 10**15
"""Numbers from here on are written in powers of ten."""


def number(value: int | Fraction) -> str:
    """Write a number: whole ones exactly, fractions to some digits, long ones in powers of ten.

    >>> number(1234567), number(Fraction(1, 3)), number(Fraction(10**6, 3)), number(10**40)
    ('1,234,567', '0.333', '333,333.33', '1.000e+40')
    """
    exact = Fraction(value)
    if abs(exact) >= LONG:
        return f"{Decimal(exact.numerator) / Decimal(exact.denominator):.3e}"
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    return f"{float(exact):,.2f}" if abs(exact) >= 1 else f"{float(exact):.3g}"


def plain(value: int | Fraction) -> int | str:
    """Give an exact number as JSON has it: a text beyond 64 bits, and for fractions.

    >>> plain(7), plain(2**64), plain(Fraction(1, 3))
    (7, '18446744073709551616', '1/3')
    """
    exact = Fraction(value)
    if exact.denominator > 1:
        return f"{Decimal(exact.numerator):f}/{Decimal(exact.denominator):f}"
    return exact.numerator if abs(exact.numerator) < 2**63 else f"{Decimal(exact.numerator):f}"
