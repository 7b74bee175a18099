"""Lift, combine and lower of the built-in aggregates in plain Python: what they mean, not how Spark computes them.

A partial is a tuple of columns. Lifting gives None for a row that does not count; lowering takes None for no such rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from muntin.aggregates.model import Merge, Partial
from muntin.errors import UnsupportedError

Maybe = Partial | None


def lift_value(value: Any) -> Maybe:
    """Let a value stand for itself."""
    return None if value is None else (value,)


def lift_row(*values: Any) -> Maybe:
    """Count a row that has no nulls."""
    return None if None in values else (1,)


def lift_true(value: Any) -> Maybe:
    """Count a row where a condition holds."""
    return (1,) if value else None


def lift_sum_count(value: Any) -> Maybe:
    """Make the sum and the count of one value."""
    return None if value is None else (value, 1)


def lift_moments(value: Any) -> Maybe:
    """Make the count, the mean and the sum of squared deviations of one value."""
    return None if value is None else (1, float(value), 0.0)


def lift_comoments(x: Any, y: Any) -> Maybe:
    """Make the count, the means, the sums of squared deviations and that of their products of one pair."""
    return None if x is None or y is None else (1, float(x), float(y), 0.0, 0.0, 0.0)


def lift_value_by_order(value: Any, order: Any) -> Maybe:
    """Put the order before the value."""
    return None if order is None else (order, value)


def lift_value_by_time(time: Any, value: Any) -> Maybe:
    """Put the event time before the value."""
    return None if time is None else (time, value)


def lift_set(value: Any) -> Maybe:
    """Make the set of one value."""
    return None if value is None else (frozenset([_as_counted(value)]),)


def lift_list(value: Any) -> Maybe:
    """Make the list of one value, for functions that need all of them."""
    return None if value is None else ((value,),)


def add(a: Partial, b: Partial) -> Partial:
    """Add every column."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def lesser(a: Partial, b: Partial) -> Partial:
    """Keep the partial whose first column is less, the earlier one if they are equal."""
    return b if _order(b[0]) < _order(a[0]) else a


def greater(a: Partial, b: Partial) -> Partial:
    """Keep the partial whose first column is greater, the earlier one if they are equal."""
    return b if _order(b[0]) > _order(a[0]) else a


def last_of_least(a: Partial, b: Partial) -> Partial:
    """Keep the partial whose first column is less, the later one if they are equal."""
    return a if _order(a[0]) < _order(b[0]) else b


def last_of_greatest(a: Partial, b: Partial) -> Partial:
    """Keep the partial whose first column is greater, the later one if they are equal."""
    return a if _order(a[0]) > _order(b[0]) else b


def both(a: Partial, b: Partial) -> Partial:
    """Tell whether both hold."""
    return (a[0] and b[0],)


def either(a: Partial, b: Partial) -> Partial:
    """Tell whether either holds."""
    return (a[0] or b[0],)


def unite(a: Partial, b: Partial) -> Partial:
    """Unite two sets."""
    return (a[0] | b[0],)


def merge_moments(a: Partial, b: Partial) -> Partial:
    """Merge counts, means and squared deviations by Chan's formula, without loss of digits far from zero."""
    (n, mean_a, m2_a), (m, mean_b, m2_b) = a, b
    count, delta = n + m, mean_b - mean_a
    return count, mean_a + delta * m / count, m2_a + m2_b + delta * delta * n * m / count


def merge_comoments(a: Partial, b: Partial) -> Partial:
    """Merge moments of two columns and of their products."""
    (n, x_a, y_a, x2_a, y2_a, xy_a), (m, x_b, y_b, x2_b, y2_b, xy_b) = a, b
    count, dx, dy = n + m, x_b - x_a, y_b - y_a
    share = n * m / count
    means = x_a + dx * m / count, y_a + dy * m / count
    return count, *means, x2_a + x2_b + dx * dx * share, y2_a + y2_b + dy * dy * share, xy_a + xy_b + dx * dy * share


COMBINE: dict[Merge, Callable[[Partial, Partial], Partial]] = {
    Merge.SUM: add,
    Merge.MIN: lesser,
    Merge.MAX: greater,
    Merge.AND: both,
    Merge.OR: either,
    Merge.EARLIER: last_of_least,
    Merge.LATER: last_of_greatest,
    Merge.MOMENTS: merge_moments,
    Merge.COMOMENTS: merge_comoments,
    Merge.UNION: unite,
}
"""How partials are combined, for merges that plain Python knows."""


def lower_first(partial: Maybe) -> Any:
    """Give the only column."""
    return None if partial is None else partial[0]


def lower_second(partial: Maybe) -> Any:
    """Give the value behind its order."""
    return None if partial is None else partial[1]


def lower_count(partial: Maybe) -> int:
    """Give the count, 0 where nothing counts."""
    return 0 if partial is None else partial[0]


def lower_mean(partial: Maybe) -> Any:
    """Divide the sum by the count."""
    return None if partial is None else partial[0] / partial[1]


def lower_variance(partial: Maybe) -> float | None:
    """Give the sample variance, none of a single value."""
    return None if partial is None or partial[0] < 2 else partial[2] / (partial[0] - 1)


def lower_var_pop(partial: Maybe) -> float | None:
    """Give the population variance."""
    return None if partial is None else partial[2] / partial[0]


def lower_stddev(partial: Maybe) -> float | None:
    """Give the sample standard deviation, none of a single value."""
    variance = lower_variance(partial)
    return None if variance is None else math.sqrt(variance)


def lower_stddev_pop(partial: Maybe) -> float | None:
    """Give the population standard deviation."""
    variance = lower_var_pop(partial)
    return None if variance is None else math.sqrt(variance)


def lower_covar_samp(partial: Maybe) -> float | None:
    """Give the sample covariance, none of a single pair."""
    return None if partial is None or partial[0] < 2 else partial[5] / (partial[0] - 1)


def lower_covar_pop(partial: Maybe) -> float | None:
    """Give the population covariance."""
    return None if partial is None else partial[5] / partial[0]


def lower_correlation(partial: Maybe) -> float | None:
    """Give Pearson's correlation, none where a column does not vary."""
    scale = 0.0 if partial is None else math.sqrt(partial[3] * partial[4])
    return None if partial is None or scale == 0 else partial[5] / scale


def lower_size(partial: Maybe) -> int:
    """Give the size of a set."""
    return 0 if partial is None else len(partial[0])


def lower_median(partial: Maybe) -> float | None:
    """Give the median of all values."""
    return lower_percentile(partial, 0.5)


def lower_mode(partial: Maybe) -> Any:
    """Give the most frequent of all values."""
    return None if partial is None else Counter(map(_as_counted, partial[0])).most_common(1)[0][0]


def lower_percentile(partial: Maybe, fraction: float) -> float | None:
    """Give the value at a fraction of all sorted values, between two of them in proportion."""
    if partial is None:
        return None
    ordered = sorted(map(float, partial[0]), key=lambda value: (_order(value), math.copysign(1, value)))
    below, share = divmod(fraction * (len(ordered) - 1), 1)
    low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return low if low == high or not share else low + (high - low) * share


def only_in_spark(*_: Any, **__: Any) -> Any:
    """Refuse what plain Python has no sketch for."""
    raise UnsupportedError("this sketch is built and merged by Spark. Run the query with mt.aggregate.")


def _order(value: Any) -> tuple[bool, Any]:
    """Order values as Spark does: NaN is the greatest."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


def _as_counted(value: Any) -> Any:
    """Return a value as Spark groups by it: there is one zero and one NaN."""
    return value if not isinstance(value, float) else math.nan if math.isnan(value) else value + 0.0
