"""Metrics without Spark: counters over restarts, the exposition format, and the endpoint."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from pyspark.sql.streaming.listener import StreamingQueryListener

import muntin as mt
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import STREAM_NATIVE, choose_stream
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.spark.stream.metrics import serving
from muntin.spark.stream.metrics.counting import ENDED, Counts
from muntin.spark.stream.metrics.families import FAMILIES
from muntin.spark.stream.metrics.serving import CONNECTIONS, Endpoint
from muntin.spark.stream.metrics.telling import log_batch, log_end, log_start
from muntin.spark.stream.progress import OperatorState, Progress
from muntin.spark.telling import log_plan
from tests.hostile import HOSTILE, ORDERS

WATERMARK = datetime(2024, 1, 1, 0, 10, tzinfo=UTC)
OPERATOR = OperatorState("transformWithStateExec", 3, 1, 0, 0, 4096, 512)
COLUMNAR = Progress(
    *(1, 10, 7, 3, (OPERATOR,), WATERMARK, 250),
    shape="columnar",
    late_rows=(("1h", 1), ("10 s", 3)),
    missed=1,
    packed=42,
    change=7,
    steps=(("addBatch", 200), ("triggerExecution", 250)),
    began=datetime(2024, 1, 1, 0, 30, tzinfo=UTC),
    input_rate=5.0,
    processed_rate=40.0,
)
CHAIN = replace(COLUMNAR, shape="chain", late=2, late_groups=2, late_rows=(), missed=None, packed=None, change=None)


def parsed(text: str) -> dict[str, Metric]:
    """Read Prometheus text as Prometheus does."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def values(text: str, **labels: str) -> dict[str, float]:
    """Give the samples that have some labels, by name."""
    found = [sample for family in parsed(text).values() for sample in family.samples]
    return {sample.name: sample.value for sample in found if labels.items() <= sample.labels.items()}


def fetched(url: str) -> tuple[str, str]:
    """Give the type and the text of a page."""
    with urllib.request.urlopen(url, timeout=300) as answer:  # noqa: S310 - our own endpoint
        return answer.headers["Content-Type"], answer.read().decode()


def test_every_metric_is_documented_and_named_as_prometheus_asks() -> None:
    page = (Path(__file__).parents[1] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    for family in FAMILIES:
        labels = ("query", "id", *(("shape",) if family.shaped else ()), *((family.label,) if family.label else ()))
        row = re.search(rf"^\| `{family.name}` \| {family.kind} \| {', '.join(labels)} \|", page, re.MULTILINE)
        assert row, f"{family.name} is not in docs/monitoring.md as it is"
        assert re.fullmatch(r"muntin_[a-z_]+", family.name)
        assert family.name.endswith("_total") == (family.kind == "counter")


def test_counters_go_up_over_restarts_and_gauges_stand_where_they_are() -> None:
    counts = Counts(clock=lambda: WATERMARK.timestamp() + 90)
    counts.started("1", "sales")
    counts.progressed("1", "sales", COLUMNAR)
    counts.progressed("1", "sales", replace(COLUMNAR, packed=40))
    text = counts.text()
    told = values(text, query="sales", id="1", shape="columnar")
    assert told["muntin_input_rows_total"] == 20
    assert told["muntin_output_rows_total"] == 14
    assert told["muntin_missed_rows_total"] == 2
    assert told["muntin_state_rows"] == 40
    assert told["muntin_state_memory_bytes"] == 4096
    assert told["muntin_state_file_bytes"] == 512
    assert told["muntin_watermark_lag_seconds"] == 90
    assert told["muntin_registry_change"] == 7
    assert values(text, window="10 s") == {"muntin_late_rows_total": 6}
    assert values(text, step="addBatch") == {"muntin_step_seconds_total": 0.4}
    counts.ended("1", failed=True)
    assert values(counts.text(), query="sales")["muntin_query_up"] == 0
    assert "muntin_watermark_lag_seconds" not in values(counts.text())
    counts.started("1", "sales")
    counts.progressed("1", "sales", COLUMNAR)
    told = values(counts.text(), query="sales")
    assert told["muntin_query_up"] == 1
    assert told["muntin_query_starts_total"] == 2
    assert told["muntin_query_failures_total"] == 1
    assert told["muntin_input_rows_total"] == 30


def test_what_a_shape_does_not_count_is_not_given_as_zero() -> None:
    counts = Counts()
    counts.progressed("1", None, CHAIN)
    told = values(counts.text(), query="1")
    assert told["muntin_late_groups_total"] == 2
    assert not told.keys() & {"muntin_late_rows_total", "muntin_missed_rows_total", "muntin_registry_change"}
    counts.progressed("2", None, COLUMNAR)
    assert "muntin_late_groups_total" not in values(counts.text(), id="2")


def test_rows_that_are_read_for_each_window_count_once() -> None:
    counts = Counts()
    counts.progressed("1", None, replace(CHAIN, shape="independent", rows_in=30, scans=3, input_rate=6.0))
    told = values(counts.text())
    assert told["muntin_input_rows_total"] == 10
    assert told["muntin_input_rows_per_second"] == 2


def test_a_query_of_somebody_else_has_the_general_numbers() -> None:
    counts = Counts()
    counts.progressed("1", "theirs", Progress(1, 10, 3, 0, (), None, 100))
    told = values(counts.text(), query="theirs")
    assert told["muntin_input_rows_total"] == 10
    assert not any("late" in name or "state" in name or "watermark" in name for name in told)


def test_the_text_is_what_prometheus_reads() -> None:
    counts = Counts()
    name = 'a "name"\nwith \\ everything é' + "".join((*HOSTILE, *ORDERS))
    window = f'w"\\\n{name}'
    counts.started("1", name)
    counts.progressed("1", name, replace(COLUMNAR, late_rows=((window, 1),)))
    families = parsed(counts.text())
    known = {family.name.removesuffix("_total"): family for family in FAMILIES}
    for found in families.values():
        family = known[found.name]
        assert (found.type, found.documentation) == (family.kind, family.help)
        assert all(sample.labels["query"] == name for sample in found.samples)
    (late,) = families["muntin_late_rows"].samples
    assert late.labels["window"] == window
    assert counts.text().endswith("\n")


def test_ended_queries_are_not_kept_for_ever() -> None:
    counts = Counts()
    for number in range(ENDED + 30):
        counts.started(str(number), None)
        counts.ended(str(number), failed=False)
    counts.started("last", None)
    ids = [sample.labels["id"] for sample in parsed(counts.text())["muntin_query_up"].samples]
    assert len(ids) == ENDED + 1
    assert "0" not in ids
    assert "last" in ids


def test_the_endpoint_serves_metrics_and_nothing_else() -> None:
    endpoint = Endpoint("127.0.0.1", 0, lambda: "muntin_é 1\n")
    try:
        assert fetched(endpoint.url) == ("text/plain; version=0.0.4; charset=utf-8", "muntin_é 1\n")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(endpoint.url + "/other")
        port = int(endpoint.url.split(":")[2].split("/")[0])
        with pytest.raises(mt.QueryError, match="Use another port, or port=0"):
            Endpoint("127.0.0.1", port, str)
    finally:
        endpoint.close()
    with pytest.raises(urllib.error.URLError):
        fetched(endpoint.url)


def port_of(endpoint: Endpoint) -> int:
    return int(endpoint.url.split(":")[2].split("/")[0])


def half_open(endpoint: Endpoint) -> socket.socket:
    """Begin a request that never ends."""
    client = socket.create_connection(("127.0.0.1", port_of(endpoint)), timeout=300)
    client.sendall(b"GET /metrics HTTP/1.0\r\n")
    return client


def answered(endpoint: Endpoint, request: bytes) -> tuple[bytes, bytes]:
    """Return the head and the body of an answer."""
    with socket.create_connection(("127.0.0.1", port_of(endpoint)), timeout=300) as client:
        client.sendall(request)
        head, _, body = b"".join(iter(lambda: client.recv(4096), b"")).partition(b"\r\n\r\n")
        return head, body


def connection_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint("127.0.0.1", 0, lambda: "muntin 1\n")
    yield endpoint
    endpoint.close()


class Session:
    """A session that can be stopped, and lets listeners be told of queries."""

    def __init__(self) -> None:
        self.sparkContext = self.streams = self
        self.listeners: list[StreamingQueryListener] = []
        self._jsc: Session | None = self
        self.addListener = self.listeners.append

    def sc(self) -> Session:
        return self

    def isStopped(self) -> bool:  # noqa: N802 - Spark's name
        return False

    def stop(self) -> None:
        self._jsc = None


def test_queries_end_with_their_session() -> None:
    """Spark tells listeners of no end when a session is stopped."""
    spark = Session()
    listening = mt.listen(spark)  # type: ignore[arg-type]
    spark.listeners[0].onQueryStarted(SimpleNamespace(id="1", runId="1", name="sales"))  # type: ignore[arg-type]
    assert values(listening.text())["muntin_query_up"] == 1
    spark.stop()
    assert values(listening.text())["muntin_query_up"] == 0


def test_half_open_requests_hold_few_threads_and_end_with_the_endpoint() -> None:
    endpoint = Endpoint("127.0.0.1", 0, str)
    clients = [half_open(endpoint) for _ in range(CONNECTIONS + 20)]
    for client in clients[CONNECTIONS:]:
        assert client.recv(1) == b"", "more are served at once than there should be"
    assert len(connection_threads()) <= CONNECTIONS
    endpoint.close()
    for client in clients:
        assert client.recv(1) == b""
        client.close()
    for thread in connection_threads():
        thread.join(300)
        assert not thread.is_alive()


def test_a_request_must_end_soon(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS", 0.0)
    with half_open(endpoint) as client:
        assert client.recv(1) == b""


def test_answers_say_no_versions_and_are_not_guessed_at(endpoint: Endpoint) -> None:
    for request in (b"GET /metrics", b"GET /other", b"HEAD /metrics", b"POST /metrics"):
        head, _ = answered(endpoint, request + b" HTTP/1.0\r\n\r\n")
        assert b"\r\nServer: muntin\r\n" in head
        assert b"\r\nX-Content-Type-Options: nosniff" in head


def test_head_has_the_headers_alone(endpoint: Endpoint) -> None:
    head, body = answered(endpoint, b"HEAD /metrics HTTP/1.0\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 200 ")
    assert b"Content-Length: 9" in head
    assert body == b""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9464", 200),
        ("localhost", 200),
        ("[::1]:9464", 200),
        ("evil.example:9464", 403),
        ("127.0.0.1.x", 403),
    ],
)
def test_on_loopback_other_hosts_are_refused(endpoint: Endpoint, host: str, status: int) -> None:
    """A web page whose name leads to this machine would otherwise read the metrics."""
    head, _ = answered(endpoint, f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert head.startswith(f"HTTP/1.0 {status} ".encode())


def test_a_micro_batch_warns_once_of_late_rows(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "muntin")
    log_start("sales")
    log_batch("sales", 3, replace(COLUMNAR, future=5), change=6)
    log_batch("sales", 4, replace(CHAIN, late=0, late_groups=0), change=7)
    log_end("sales", None)
    log_end("sales", "java.lang.Error")
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == [
        "query sales, micro-batch 3: 3 rows (1 for '1h', 3 for '10 s'; 1 for all windows) came too late",
        "query sales, micro-batch 3: set aside 5 rows ahead of the clock",
    ]
    assert "windows are those of change 7 of the registry" in caplog.text
    assert caplog.records[-1].levelno == logging.ERROR
    assert all(record.name == "muntin.spark.stream" for record in caplog.records)


def test_the_shape_that_was_chosen_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    work = StreamWork(Work(mt.Statistics(10**6, keys=10, span=10**12)), 10**7)
    plan = choose_stream(work, (mt.tumbling("1 min"),), "native", StreamOptions(), STREAM_NATIVE, (mt.count(),))
    caplog.set_level(logging.INFO, "muntin")
    log_plan(replace(plan, notes=("a note",)))
    first, second = (record.getMessage() for record in caplog.records)
    costs = r"core-seconds: expand [\d.]+, chain [\d.]+"
    assert re.fullmatch(rf"<stream plan of 1 windows: expand> by strategy 'native'; {costs}", first)
    assert second == "a note"
    caplog.set_level(logging.DEBUG, "muntin")
    log_plan(plan)
    assert plan.explain() in caplog.text


def test_muntin_is_silent_unless_logging_is_set_up() -> None:
    (handler,) = [one for one in logging.getLogger("muntin").handlers if isinstance(one, logging.NullHandler)]
    assert handler is not None


@pytest.mark.parametrize("port", [True, -1, 70_000, "9464"])
def test_a_wrong_port_is_refused(port: object) -> None:
    class Session:
        streams = None

    with pytest.raises(mt.QueryError, match=re.escape(f"port {port!r} is none. Use a number up to 65535")):
        mt.listen(Session(), port=port)  # type: ignore[arg-type]
    with pytest.raises(mt.QueryError, match="is no session"):
        mt.listen(json)  # type: ignore[arg-type]
