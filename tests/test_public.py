"""The public surface, and what importing it must not load."""

import subprocess
import sys

import muntin as mt

NAMES = """
    Aggregate InternalError Kept MuntinError PhysicalPlan Plan Progress Query QueryError QuerySet RollingPlan
    Statistics StreamPlan UnsupportedError UpsertTable Weave Window WindowRegistry __version__ aggregate
    approx_count_distinct approx_quantile avg bool_and bool_or corr count count_distinct count_if covar_pop
    covar_samp explain explain_rolling first hopping last max max_by median min min_by mode percentile plan
    progress rolling session state stddev stddev_pop sum tumbling user_defined var_pop variance weave
"""


def test_public_names_are_pinned() -> None:
    assert sorted(mt.__all__) == sorted(NAMES.split())
    assert all(hasattr(mt, name) for name in mt.__all__)


def test_planning_loads_neither_spark_nor_numba() -> None:
    code = """
import sys, muntin as mt
mt.plan([mt.tumbling(20), mt.tumbling(30)], mt.min("v")).explain()
heavy = {"pyspark", "numba", "pandas", "pyarrow", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_errors_have_one_root() -> None:
    for error in (mt.QueryError, mt.UnsupportedError, mt.InternalError):
        assert issubclass(error, mt.MuntinError)
