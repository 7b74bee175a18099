"""The plan that mt.explain shows is the one that runs, and its costs can be compared with those of other strategies."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.cli.queries import running
from muntin.plan.physical.prices import Prices
from muntin.plan.physical.stream import ASSUMED, StreamShape
from muntin.spark.sessions import ARROW_BYTES
from muntin.spark.statements.run import statement_results
from tests.spark.test_edges import setting

WINDOWS: list[Any] = [mt.tumbling("10 s"), mt.tumbling("20 s"), mt.hopping("1 min", "10 s")]
SESSION = mt.session_window("5 s")
ASKED: dict[str, Any] = {"time": "ts", "by": "k", "windows": WINDOWS, "aggregates": [mt.sum("v"), mt.max("v")]}
BESIDE: dict[str, Any] = {"windows": [*WINDOWS, SESSION]}
DISTINCT: dict[str, Any] = {"aggregates": mt.count_distinct("v")}
BATCH: list[dict[str, Any]] = [
    {},
    {"windows": WINDOWS[:1]},
    {"windows": [SESSION, mt.tumbling(mt.rows(100))]},
    {"aggregates": [mt.sum("v"), mt.median("v")]},
    {"layout": "wide", "watermark": "1 min"},
    *({"strategy": name} for name in ("independent", "native", "kernel", "ordered")),
    BESIDE,
    BESIDE | {"strategy": "source_sessions"},
    {"windows": SESSION, "strategy": "independent"},
    DISTINCT | {"strategy": "marks"},
]
STREAMS: list[dict[str, Any]] = [
    {},
    {"late_rows": True},
    *({"strategy": name} for name in ("independent", "expand", "chain", "columnar", "ordered")),
    BESIDE,
    DISTINCT | {"strategy": "distinct"},
]
QUERIES = [
    mt.Query("ts", "k", "10 s, 1 min", mt.sum("v"), where="v > 5", name="sums"),
    mt.Query("ts", (), "10 s", mt.max("v"), name="all"),
    mt.Query("ts", "k", "20 s, 1 min", mt.median("v"), where="v > 10", name="medians"),
]
TEXTS = {
    "one": "SELECT k, count(*) FROM events GROUP BY k, window(ts, '10 seconds')",
    "two": "SELECT k, count(*) FROM events GROUP BY k, window(ts, '10 seconds');"
    "SELECT sum(v) FROM events GROUP BY window(ts, '1 minute')",
}


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(3000).selectExpr("timestamp_micros(id * 1000000) ts", "id % 7 AS k", "CAST(id AS DOUBLE) AS v")


@pytest.fixture(scope="module")
def stream(spark: SparkSession, df: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Give a stream of files, which can be sampled; it never runs."""
    folder = str(tmp_path_factory.mktemp("files") / "events")
    df.write.parquet(folder)
    return spark.readStream.schema(df.schema).parquet(folder).withWatermark("ts", "1 minute")


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Give the plans that run, as they are logged."""
    plans: list[Any] = []
    for module in ("run", "rolling_windows.run"):
        monkeypatch.setattr(f"muntin.spark.{module}.log_plan", plans.append)
    return plans


def counted(monkeypatch: pytest.MonkeyPatch, place: str) -> list[Any]:
    """Give the calls of a function, as they come."""
    path, name = f"muntin.{place}".rsplit(".", 1)
    module, calls = import_module(path), list[Any]()
    function: Callable[..., Any] = getattr(module, name)

    def counting(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, counting)
    return calls


def operators(plan: Any) -> object:
    """Give what of a plan decides what Spark does."""
    if isinstance(plan, mt.PhysicalPlan):
        groups = [(one.windows, one.shape, one.grids, one.forest, one.aggregates) for one in plan.groups]
        return groups, plan.strategy, bool(plan.joining)
    if isinstance(plan, mt.RollingPlan):
        return plan.shape, plan.strategy, plan.frames, plan.aggregates
    return plan.windows, plan.shape, plan.strategy, plan.grids, plan.forest, plan.aggregates, plan.options


def assert_explained(logged: list[Any], explain: Callable[..., Any]) -> None:
    """Compare the plan that ran with the one that is shown, in all it says."""
    (ran,) = logged
    shown = explain()
    assert operators(ran) == operators(shown)
    if is_alone(ran):
        shown = explain(statistics=ran.statistics)
    assert ran == shown


def is_alone(plan: Any) -> bool:
    """Whether no other plan was possible: then only mt.explain measures the input, as plan_query says."""
    return getattr(plan, "shape", None) is not StreamShape.ORDERED and len(plan.alternatives) < 2


@pytest.mark.parametrize("changes", BATCH, ids=str)
def test_a_batch_runs_the_plan_that_is_shown(df: DataFrame, logged: list[Any], changes: dict[str, Any]) -> None:
    mt.aggregate(df, **(ASKED | changes))
    assert_explained(logged, lambda **known: mt.explain(df, **(ASKED | changes), **known))


@pytest.mark.parametrize("changes", STREAMS, ids=str)
def test_a_stream_runs_the_plan_that_is_shown(stream: DataFrame, logged: list[Any], changes: dict[str, Any]) -> None:
    mt.aggregate(stream, **(ASKED | changes))
    assert_explained(logged, lambda **known: mt.explain(stream, **(ASKED | changes), **known))


@pytest.mark.parametrize("windows", [[], WINDOWS, [SESSION]], ids=str)
def test_a_registry_runs_the_plan_that_is_shown(
    stream: DataFrame, logged: list[Any], windows: list[Any], tmp_path: Path
) -> None:
    registry = mt.WindowRegistry(tmp_path)
    for window in windows:
        registry.add(window)
    asked = ASKED | {"windows": registry}
    mt.aggregate(stream, **asked)
    assert_explained(logged, lambda **known: mt.explain(stream, **asked, **known))


@pytest.mark.parametrize("strategy", ["auto", "independent", "kernel"])
def test_rolling_windows_run_the_plan_that_is_shown(df: DataFrame, logged: list[Any], strategy: Any) -> None:
    asked: dict[str, Any] = {"ranges": ["1 min", "1 hour"], "aggregates": mt.sum("v"), "strategy": strategy}
    mt.rolling(df, "ts", "k", **asked)
    assert_explained(logged, lambda **known: mt.explain_rolling(df, "ts", "k", **asked, **known))


@pytest.mark.parametrize("strategy", ["auto", "apart", "conditions", "fragments", "branches"])
def test_a_set_of_queries_runs_the_plan_that_is_shown(df: DataFrame, strategy: Any) -> None:
    with mt.evaluate(df, QUERIES, strategy=strategy) as results:
        assert results.plan.to_dict() == mt.explain(df, QUERIES, strategy=strategy).to_dict()
        assert all(share.plans for share in results.plan.shares)


@pytest.mark.parametrize("windows", [[SESSION], [SESSION, mt.tumbling("10 s")], ["10 s"]], ids=str)
def test_queries_over_a_stream_run_the_plan_that_is_shown(stream: DataFrame, windows: list[Any]) -> None:
    query = mt.Query("ts", "k", windows, mt.sum("v"))
    plan = mt.evaluate(stream, [query]).plan
    assert plan.statistics != ASSUMED
    assert plan.to_dict() == mt.explain(stream, [query]).to_dict()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_statements_run_the_plan_that_is_shown(df: DataFrame, stream: DataFrame, text: str) -> None:
    for events in (df, stream):
        assert statement_results(text, events=events).plan.to_dict() == mt.explain_sql(text, events=events).to_dict()


@pytest.mark.parametrize("streaming", [False, True])
def test_costs_of_strategies_rest_on_the_same_figures(df: DataFrame, stream: DataFrame, streaming: bool) -> None:
    events = stream if streaming else df
    auto: Any = mt.explain(events, **ASKED)
    assert len(auto.alternatives) > 3
    assert "independent" in dict(auto.alternatives)
    for name, cost in auto.alternatives:
        plan: Any = mt.explain(events, **ASKED, strategy=name)
        assert (plan.statistics, plan.cost) == (auto.statistics, pytest.approx(cost)), name
    ordered = mt.explain(events, **ASKED, strategy="ordered")
    assert ordered.statistics == auto.statistics == mt.explain(events, **(ASKED | BESIDE)).statistics


def test_costs_of_sessions_and_rolling_windows_rest_on_the_same_figures(df: DataFrame) -> None:
    sessions: Any = mt.explain(df, **(ASKED | {"windows": SESSION}))
    plain = mt.explain(df, **(ASKED | {"windows": SESSION, "strategy": "independent"}))
    assert plain.cost == pytest.approx(dict(sessions.alternatives)["independent"])
    auto = mt.explain_rolling(df, "ts", "k", "1 min", mt.sum("v"))
    for name, cost in auto.alternatives:
        named: Any = name
        assert mt.explain_rolling(df, "ts", "k", "1 min", mt.sum("v"), strategy=named).cost == pytest.approx(cost)


@pytest.mark.parametrize("strategy", ["columnar", "ordered"])
def test_rows_of_a_stream_go_to_python_at_the_price_of_the_session(
    spark: SparkSession, stream: DataFrame, strategy: str
) -> None:
    def explain() -> Any:
        return mt.explain(stream, **ASKED, strategy=strategy, statistics=mt.Statistics(10**6, keys=7))

    fast, prices = explain(), Prices()
    with setting(spark, ARROW_BYTES, str(2**28)):
        slow = explain()
    assert slow.cost - fast.cost > 10**6 * (prices.limited_transfer - prices.transfer)
    assert "rows would go to Python twice as fast" in str(slow)
    assert "rows would go to Python twice as fast" not in str(fast)


def test_rolling_rows_go_to_python_at_the_price_of_the_session(spark: SparkSession, df: DataFrame) -> None:
    """Every column is carried there; a limit with a unit is read as Spark reads it."""
    wide = df.selectExpr("*", *(f"v + {place} AS v{place}" for place in range(20)))

    def explain(limit: str, strategy: Any = "kernel") -> Any:
        figures = mt.Statistics(10**6, keys=7)
        with setting(spark, ARROW_BYTES, limit):
            return mt.explain_rolling(wide, "ts", "k", "1 min", mt.sum("v"), strategy=strategy, statistics=figures)

    fast, slow, prices = explain("2147483647B"), explain("64m"), Prices()
    per_row = prices.limited_transfer - prices.transfer + 23 * (prices.limited_column - prices.column)
    assert slow.cost - fast.cost > 10**6 * per_row
    assert "rows would go to Python twice as fast" in str(slow)
    assert "rows would go to Python twice as fast" not in str(fast)
    assert "rows would go to Python twice as fast" not in str(explain("64m", "independent"))


def test_windows_on_a_grid_beside_others_are_planned_once(df: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, "spark.batch.framed_choice.plan_batch")
    mt.aggregate(df, **(ASKED | BESIDE))
    assert len(calls) == 1


@pytest.mark.parametrize("strategy", ["independent", "expand", "slices_explode"])
def test_a_forest_is_planned_only_where_it_is_followed_or_shown(
    df: DataFrame, monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    calls = counted(monkeypatch, "plan.forest.planner.plan_reads")
    mt.aggregate(df, **ASKED, strategy=strategy)
    assert not calls
    assert "unit model of the factor-windows paper" in str(mt.explain(df, **ASKED, strategy=strategy))
    assert calls


@pytest.mark.parametrize("changes", [{}, {"strategy": "columnar"}, BESIDE], ids=str)
def test_the_state_of_a_stream_is_described_once(
    stream: DataFrame, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    calls = [counted(monkeypatch, f"spark.{room}.taken_up") for room in ("stream.choice", "stream.framed_choice")]
    mt.aggregate(stream, **(ASKED | changes))
    assert sum(map(len, calls)) == 1


def test_queries_over_a_stream_are_planned_once(
    stream: DataFrame, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    samples = counted(monkeypatch, "spark.stream.choice.sampled")
    checkpoints = counted(monkeypatch, "spark.run.kept_fingerprints")
    mt.evaluate(stream, QUERIES[:2], checkpoint=tmp_path)
    assert (len(samples), len(checkpoints)) == (1, 1)


def test_a_single_statement_is_planned_once(
    spark: SparkSession, df: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Job:
        text, names = TEXTS["one"], ("query 1",)

        def arguments(self, spark: SparkSession) -> dict[str, Any]:
            return {"spark": spark, "watermark": None, "events": df}

    calls = counted(monkeypatch, "spark.queries.run.divide")
    with running._answered(Job(), spark) as answer:  # type: ignore[arg-type]
        assert answer.plan == mt.explain_sql(TEXTS["one"], events=df)
        assert [*answer.frames] == ["query 1"]
        assert answer.together is None
    assert len(calls) == 2  # one of them is that of mt.explain_sql here


@pytest.mark.parametrize("strategy", ["apart", "fragments", "branches"])
def test_queries_over_a_stream_have_one_way(stream: DataFrame, strategy: Any) -> None:
    message = f"strategy '{strategy}' is for batch input: .* Use strategy='auto' or 'conditions'"
    for call in (mt.evaluate, mt.explain):
        with pytest.raises(mt.UnsupportedError, match=message):
            call(stream, QUERIES[:2], strategy=strategy)
    with pytest.raises(mt.UnsupportedError, match=message):
        mt.sql(TEXTS["two"], strategy=strategy, events=stream)
    assert mt.evaluate(stream, QUERIES[:2], strategy="conditions").plan.streaming
