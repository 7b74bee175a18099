import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.aggregates import Aggregate, Merge
from muntin.aggregates.functions import FUNCTIONS
from muntin.expressions import renumbered
from tests.executor import fold, same

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), max_size=12)
IN_PLAIN_PYTHON = sorted(
    name
    for name, function in FUNCTIONS.items()
    if function.merge not in (Merge.DISTINCT_SKETCH, Merge.QUANTILE_SKETCH, Merge.NONE)
)


def present(values: list[int | None]) -> list[int]:
    return [value for value in values if value is not None]


EXPECTED: dict[str, Any] = {
    "min": lambda v: min(v, default=None),
    "max": lambda v: max(v, default=None),
    "sum": lambda v: sum(v) if v else None,
    "count": len,
    "avg": lambda v: statistics.fmean(v) if v else None,
    "variance": lambda v: statistics.variance(map(float, v)) if len(v) > 1 else None,
    "var_pop": lambda v: statistics.pvariance(map(float, v)) if v else None,
    "stddev": lambda v: statistics.stdev(map(float, v)) if len(v) > 1 else None,
    "stddev_pop": lambda v: statistics.pstdev(map(float, v)) if v else None,
    "count_distinct": lambda v: len(set(v)),
    "median": lambda v: statistics.median(v) if v else None,
}


@pytest.mark.parametrize("name", EXPECTED)
@given(values=NUMBERS)
def test_lift_combine_lower_gives_the_aggregate(name: str, values: list[int | None]) -> None:
    result = Aggregate(FUNCTIONS[name], ("v",)).evaluate([(value,) for value in values])
    expected = EXPECTED[name](present(values))
    assert result == expected or result == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=12))
def test_aggregates_of_two_columns(rows: list[tuple[int, int]]) -> None:
    xs, ys = [float(x) for x, _ in rows], [float(y) for _, y in rows]
    covariance = mt.covar_samp("x", "y").evaluate(rows)
    assert covariance == (pytest.approx(statistics.covariance(xs, ys), abs=1e-9) if len(rows) > 1 else None)
    if rows:
        assert mt.covar_pop("x", "y").evaluate(rows) == pytest.approx(
            math.fsum((x - statistics.fmean(xs)) * (y - statistics.fmean(ys)) for x, y in rows) / len(rows), abs=1e-9
        )
        least = min(y for _, y in rows)
        assert mt.min_by("x", "y").evaluate(rows) in [x for x, y in rows if y == least]
    if len(set(xs)) > 1 and len(set(ys)) > 1:
        assert mt.corr("x", "y").evaluate(rows) == pytest.approx(statistics.correlation(xs, ys), abs=1e-9)
    else:
        assert mt.corr("x", "y").evaluate(rows) is None


def rows_for(name: str, values: list[int]) -> list[tuple[Any, ...]]:
    function = FUNCTIONS[name]
    width = function.inputs[-1] + function.takes_time
    if function.merge in (Merge.AND, Merge.OR):
        return [(value > 0,) for value in values]
    return [(value, value * 7 % 11)[:width] for value in values]


@pytest.mark.parametrize("name", IN_PLAIN_PYTHON)
@given(values=st.lists(st.integers(-5, 5), min_size=3, max_size=9), data=st.data())
def test_combine_is_associative(name: str, values: list[int], data: st.DataObject) -> None:
    function = FUNCTIONS[name]
    partials = [function.lift(*row) for row in rows_for(name, values)]
    aggregate = Aggregate(function, ("x", "y")[: function.inputs[0]])
    cut = data.draw(st.integers(1, len(partials) - 1))
    halves = [fold(aggregate, partials[:cut]), fold(aggregate, partials[cut:])]
    assert same(function.lower(fold(aggregate, halves)), function.lower(fold(aggregate, partials)))


@pytest.mark.parametrize("name", IN_PLAIN_PYTHON)
@given(values=st.lists(st.integers(-5, 5), min_size=3, max_size=9), data=st.data())
def test_overlap_safe_means_what_it_says(name: str, values: list[int], data: st.DataObject) -> None:
    function = FUNCTIONS[name]
    if not function.overlap_safe:
        return
    partials = [function.lift(*row) for row in rows_for(name, values)]
    aggregate = Aggregate(function, ("x", "y")[: function.inputs[0]])
    a, b = sorted(data.draw(st.tuples(st.integers(1, len(partials)), st.integers(0, len(partials) - 1))))
    overlapping = [fold(aggregate, partials[:b]), fold(aggregate, partials[a:]), fold(aggregate, partials)]
    assert function.lower(fold(aggregate, overlapping)) == function.lower(fold(aggregate, partials))


@pytest.mark.parametrize("name", IN_PLAIN_PYTHON)
@given(values=st.lists(st.integers(-5, 5), min_size=2, max_size=2))
def test_selective_means_what_it_says(name: str, values: list[int]) -> None:
    function = FUNCTIONS[name]
    a, b = (function.lift(*row) for row in rows_for(name, values))
    if function.merge.selective and a is not None and b is not None:
        assert function.combine(a, b) in (a, b)


def test_properties() -> None:
    def having(which: str) -> set[str]:
        return {name for name, function in FUNCTIONS.items() if getattr(function, which)}

    selective = {"min", "max", "bool_and", "bool_or", "min_by", "max_by", "first", "last"}
    assert {name for name, function in FUNCTIONS.items() if function.merge.selective} == selective
    assert having("overlap_safe") == selective | {"count_distinct", "approx_count_distinct"}
    rows = {"median", "percentile", "mode"}
    assert {name for name, function in FUNCTIONS.items() if not function.mergeable} == rows
    assert {name for name, function in FUNCTIONS.items() if not function.merge.bounded} == {*rows, "count_distinct"}


def test_nan_is_the_greatest_as_in_spark() -> None:
    rows = [(math.nan,), (1.0,), (None,), (math.inf,)]
    assert mt.min("v").evaluate(rows) == 1.0
    assert math.isnan(mt.max("v").evaluate(rows))
    assert math.isnan(mt.min("v").evaluate([(math.nan,)]))


def test_first_and_last_go_by_time() -> None:
    rows = [(3, "c"), (1, "a"), (2, "b"), (None, "never")]
    assert mt.first("v").evaluate(rows) == "a"
    assert mt.last("v").evaluate(rows) == "c"


def test_variance_keeps_its_digits_far_from_zero() -> None:
    rows = [(1e9 + value,) for value in (4.0, 7.0, 13.0, 16.0)]
    assert mt.variance("v").evaluate(rows) == pytest.approx(30.0, rel=1e-12)


def test_average_of_one_to_five() -> None:
    function = mt.avg("v").function
    assert function.partials == ("sum", "count")
    total = fold(mt.avg("v"), [function.lift(value) for value in range(1, 6)])
    assert total == (15, 5)
    assert function.lower(total) == 3


def test_percentile_interpolates() -> None:
    rows = [(value,) for value in (10, 20, 30, 40)]
    assert mt.percentile("v", 0.25).evaluate(rows) == 17.5
    assert mt.percentile("v", 1).evaluate(rows) == 40
    assert mt.mode("v").evaluate([(1,), (2,), (2,)]) == 2


def test_counting() -> None:
    rows = [(True,), (False,), (None,), (True,)]
    assert mt.count().evaluate([() for _ in rows]) == 4
    assert mt.count("v").evaluate(rows) == 3
    assert mt.count_if("v").evaluate(rows) == 2
    assert mt.count("*") == mt.count()
    assert mt.count().evaluate([]) == mt.count_if("v").evaluate([]) == 0


def test_output_names() -> None:
    assert mt.min("v").name == "min_v"
    assert mt.count().name == "count"
    assert mt.corr("x", "y").name == "corr_x_y"
    assert mt.percentile("v", 0.999).name == "percentile_99_9_v"
    assert mt.approx_quantile("v", 0.5).name == "approx_quantile_50_v"
    assert mt.min("v").alias("low").name == "low"
    assert mt.min("v").alias("low") != mt.min("v") == mt.min("v")


def test_user_defined_aggregates_can_say_what_they_allow() -> None:
    product = mt.user_defined("product", "v", lift=lambda v: v, combine=lambda a, b: a * b, lower=lambda p: p)
    assert product.evaluate([(2,), (None,), (5,)]) == 10
    assert product.name == "product_v"
    assert not product.function.overlap_safe
    longest = mt.user_defined("longest", "s", lift=len, combine=max, lower=lambda n: n, overlap_safe=True)
    assert mt.plan([mt.Window(10, 2), mt.Window(8, 2)], longest).semantics.value == "covered by"
    assert mt.plan([mt.Window(10, 2), mt.Window(8, 2)], product).semantics.value == "partitioned by"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.min(""), "was given '' as a column"),
        (lambda: mt.min(3), "was given 3 as a column"),
        (lambda: mt.min("v").alias(""), "alias '' is not an output name"),
        (lambda: mt.percentile("v", 95), "fraction 95 is out of bounds"),
        (lambda: mt.approx_quantile("v", "half"), "fraction 'half' is out of bounds"),  # type: ignore[arg-type]
        (lambda: mt.approx_quantile("v", 0.5, k=1), "k 1 is out of bounds"),
        (lambda: mt.approx_count_distinct("v", lg_k=40), "lg_k 40 is out of bounds"),
        (lambda: mt.approx_count_distinct("v", lg_k=12.5), "lg_k 12.5 is out of bounds"),  # type: ignore[arg-type]
        (lambda: mt.approx_quantile("v", 0.5, k="x"), "k 'x' is out of bounds"),  # type: ignore[arg-type]
        (lambda: mt.percentile("v", True), "fraction True is out of bounds"),
        (lambda: Aggregate("min", ("v",)), "'min' is not an aggregate function"),  # type: ignore[arg-type]
        (lambda: mt.user_defined(3, "v", lift=len, combine=max, lower=len), "3 is not an aggregate name"),  # type: ignore[arg-type]
        (lambda: Aggregate(FUNCTIONS["corr"], ("x",)), "corr takes 2 columns, not 1"),
        (lambda: mt.user_defined("f", "v", lift=1, combine=max, lower=len), "1 in aggregate 'f' is not a function"),  # type: ignore[arg-type]
    ],
)
def test_bad_aggregates_say_what_would_be_right(make: Any, message: str) -> None:
    with pytest.raises(mt.QueryError) as error:
        make()
    assert message in str(error.value)


def test_sketches_are_left_to_spark() -> None:
    with pytest.raises(mt.UnsupportedError, match=r"Run the query with mt\.aggregate"):
        mt.approx_count_distinct("v").evaluate([(1,)])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("transform(a, x_7 -> +(x_7, 1))", "transform(a, x_1 -> +(x_1, 1))"),
        ("transform(a, (x_8, y_9) -> +(y_9, x_8)) AS z_3", "transform(a, (x_1, y_2) -> +(y_2, x_1)) AS z_3"),
        ("f(a, x_17 -> f(array(x_17), x_18 -> =(x_18, x_17)))", "f(a, x_1 -> f(array(x_1), x_2 -> =(x_2, x_1)))"),
        ("filter(a, x_2 -> >(x_2, x_1))", "filter(a, x_2 -> >(x_2, x_1))"),
        ("filter(a, x_9 -> >(x_9, max_9))", "filter(a, x_1 -> >(x_1, max_9))"),
        ("+(x_5, y_9)", "+(x_5, y_9)"),
        ("f(a, LambdaFunction(f((x_6), LambdaFunction(x_6 + y_9, y_9)), x_6, y_7), x_8)",
         "f(a, LambdaFunction(f((x_1), LambdaFunction(x_1 + y_2, y_2)), x_1, y_3), x_8)"),
        ("f(LambdaFunction(x_3, x_3", "f(LambdaFunction(x_3, x_3"),
    ],
)  # fmt: skip
def test_variables_of_lambda_functions_are_numbered_by_appearance(text: str, same: str) -> None:
    assert renumbered(text) == same
    assert renumbered(same) == same


ZEROS = [(-0.0,), (1.0,), (0.0,), (1.0,), (-0.0,)]
NANS = [(float("nan"),), (1.0,), (float("nan"),), (-math.nan,)]


def test_zeros_and_nans_are_one_value_each_where_values_are_counted() -> None:
    assert str(mt.mode("v").evaluate(ZEROS)) == "0.0"
    assert str(mt.mode("v").evaluate([(-0.0,)])) == "0.0"
    assert math.isnan(mt.mode("v").evaluate(NANS))
    assert mt.count_distinct("v").evaluate(ZEROS) == mt.count_distinct("v").evaluate(NANS) == 2


def test_percentiles_sort_zeros_by_their_sign_and_nan_last() -> None:
    values = [(0.0,), (-0.0,), (0.0,), (-0.0,)]
    assert [str(mt.percentile("v", f).evaluate(values)) for f in (0, 0.4, 0.5, 0.9, 1)] == ["-0.0"] * 3 + ["0.0"] * 2
    assert str(mt.median("v").evaluate(values)) == "-0.0"
    assert mt.percentile("v", 0).evaluate(NANS) == 1.0
    assert math.isnan(mt.median("v").evaluate(NANS))
    assert mt.median("v").evaluate([(math.inf,), (math.inf,)]) == math.inf


@pytest.mark.parametrize("equals", [(1, 1), (0.0, -0.0), (math.nan, -math.nan)])
def test_the_last_of_rows_with_equal_orders(equals: tuple[float, float]) -> None:
    """As in Spark, which keeps a row only until an equal one comes."""
    rows = [("a", equals[0]), ("b", equals[1])]
    assert mt.min_by("v", "o").evaluate(rows) == mt.max_by("v", "o").evaluate(rows) == "b"
