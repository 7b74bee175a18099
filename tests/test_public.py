"""The public surface, and what importing it must not load."""

import inspect
import re
import subprocess
import sys
from typing import get_args

import pytest

import muntin as mt
from muntin.choices import Algorithm, ShapeName, Strategy, StreamShapeName, SubsumeMethod, WeaveAlgorithm
from muntin.hints import INSTEAD
from muntin.plan import ALGORITHMS
from muntin.plan.physical.shapes import BATCH_STRATEGIES
from muntin.plan.physical.stream import STREAM_STRATEGIES
from muntin.plan.slicing.weave import WEAVES
from muntin.plan.subsumption import METHODS

NAMES = """
    Aggregate DeltaLog InternalError Kept Listening MuntinError MuntinWarning PhysicalPlan Plan Progress Query
    QueryError QuerySet Results RollingPlan SharingPlan Statistics StreamPlan Subsumption UnsupportedError UpsertTable
    Weave Window
    WindowRegistry __version__ aggregate approx_count_distinct approx_quantile avg bool_and bool_or corr count
    count_distinct count_if covar_pop covar_samp evaluate explain explain_rolling first hopping join last listen max
    max_by mean median min min_by mode percentile plan progress rolling session state std stddev stddev_pop subsume sum
    tumbling user_defined var_pop variance weave cumulating delta distinct explain_sql landmark punctuated rows
    session_window snapshot split_late sql until user_window while_
"""


def test_public_names_are_pinned() -> None:
    assert sorted(mt.__all__) == sorted(NAMES.split())
    assert all(hasattr(mt, name) for name in mt.__all__)


def test_dir_lists_what_loads_spark() -> None:
    assert set(mt.__all__) <= set(dir(mt))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("countDistinct", "Use mt.count_distinct(column)."),
        ("approxCountDistinct", "Use mt.approx_count_distinct(column, lg_k=12)"),
        ("quantile", "Use mt.percentile(column, 0.95), or mt.approx_quantile(column, 0.95)"),
        ("percentile_approx", "Use mt.percentile(column, 0.95), or mt.approx_quantile(column, 0.95)"),
        ("stddev_samp", "Use mt.stddev(column)."),
        ("var_samp", "Use mt.variance(column)."),
        ("collect_list", "Use mt.user_defined("),
        ("sliding", "Use mt.tumbling('1 hour'), or mt.hopping('1 hour', '5 minutes')."),
        ("any_value", "Use mt.first(column)"),
        ("agregate", "Did you mean mt.aggregate?"),
        ("sumDistinct", "Did you mean mt.distinct?"),
        ("xyzzy", "module 'muntin' has no attribute 'xyzzy'."),
    ],
)
def test_names_of_other_libraries_are_hinted_at(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(mt, name)
    assert hint in str(error.value)


def test_hints_name_calls_that_exist() -> None:
    for call in INSTEAD.values():
        assert all(hasattr(mt, name) for name in re.findall(r"mt\.(\w+)", call)), call


def test_two_names_for_one_aggregate() -> None:
    assert (mt.mean, mt.std) == (mt.avg, mt.stddev)


def test_options_are_listed_once() -> None:
    """What editors complete is what is there to choose from."""
    assert list(ALGORITHMS) == list(get_args(Algorithm))
    assert list(WEAVES) == list(get_args(WeaveAlgorithm))
    assert list(METHODS) == list(get_args(SubsumeMethod))
    assert set(BATCH_STRATEGIES) == {*get_args(Strategy), *get_args(ShapeName)}
    assert set(STREAM_STRATEGIES) == {*get_args(Strategy), *get_args(StreamShapeName)}


def test_planning_loads_neither_spark_nor_numba() -> None:
    code = """
import sys, muntin as mt
mt.plan([mt.tumbling(20), mt.tumbling(30)], mt.min("v")).explain()
heavy = {"pyspark", "numba", "pandas", "pyarrow", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_errors_have_one_root() -> None:
    for error in (mt.QueryError, mt.UnsupportedError, mt.InternalError):
        assert issubclass(error, mt.MuntinError)


def test_public_names_are_documented_with_their_parameters_and_an_example() -> None:
    for name in set(mt.__all__) - {"__version__"}:
        public = getattr(mt, name)
        text = inspect.getdoc(public) or ""
        assert ">>> " in text or "```python" in text, f"mt.{name} has no example"
        if inspect.isfunction(public):
            documented = re.findall(r"^ {4}(\w+): ", text.partition("Args:\n")[2], re.MULTILINE)
            missing = set(inspect.signature(public).parameters) - set(documented)
            assert not missing, f"mt.{name} does not say what {missing} mean"
