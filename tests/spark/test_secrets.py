"""A password is nowhere in what Muntin shows of tables, checkpoints, inputs and plans."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

import muntin as mt
from muntin.cli.plans import FORMATS
from muntin.cli.queries import reading
from muntin.cli.queries.inputs import sources
from muntin.cli.queries.topic_options import with_options
from muntin.cli.queries.writing import FolderSink
from muntin.errors import MuntinError, QueryError
from muntin.files import LocalFiles
from muntin.sentences import sentence_of
from muntin.spark.input import sampling
from muntin.spark.input.files import file_source
from muntin.spark.input.frame import check_frame
from muntin.spark.stream import checkpoints
from muntin.spark.stream.batch_folder import BatchFolder
from muntin.spark.stream.batch_schemas import BatchSchema, SchemaLog
from muntin.spark.stream.merged_table import MergedTable
from muntin.spark.table_names import table_name
from tests.passwords import PASSWORD, URL, shown_texts

SCHEMA = "ts TIMESTAMP, device STRING, v DOUBLE"
NOT_FOUND = f"[PATH_NOT_FOUND] Path does not exist: {URL}. SQLSTATE: 42K03"


@dataclass(frozen=True)
class Nowhere(LocalFiles):
    """Files of a folder that has nothing in it, if it is there."""

    known: bool

    def exists(self, path: str) -> bool:
        return self.known and "metadata" not in path


@dataclass(frozen=True)
class Schemas(LocalFiles):
    """Files of which each has the same schema."""

    text: str

    def list(self, folder: str) -> dict[str, Any]:
        return {"_000000000000.json": 1}

    def read(self, path: str) -> str:
        return self.text


def merged(*steps: str) -> Any:
    return MergedTable(table_name(URL, "delta"), "delta")._check_columns(*map(str.split, steps), **KEPT)


def columns(name: str) -> BatchSchema:
    return BatchSchema(T.StructType().add(name, "long"))


KEPT = {"keys": ["k"], "columns": ["k", "v"]}


@pytest.mark.parametrize(
    "act",
    [
        lambda: mt.UpsertTable(f"{URL}?", format="iceberg"),
        lambda: mt.UpsertTable(f"{URL}/`", format="delta"),
        lambda: mt.UpsertTable(URL).path,
        lambda: mt.UpsertTable(URL, by="k")._keys(SimpleNamespace(names=["window_id"])),  # type: ignore[arg-type]
        lambda: BatchFolder(URL).path,
        lambda: merged("k v muntin_batch", "k v", "v"),
        lambda: merged("k v muntin_batch", "k w", "k"),
        lambda: merged("k v muntin_batch", "k v w", "k"),
        lambda: merged("k v muntin_batch", "k", "k"),
        lambda: SchemaLog(Schemas('{"format": 99}'), URL).at(0),
        lambda: FolderSink(URL, "parquet", Schemas(columns("v").to_json()))._check_columns(columns("w"), 1),
        lambda: check_frame(URL),
        lambda: mt.DeltaLog(URL)._session(),
    ],
)
def test_errors_of_tables_quote_no_password(act: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(MuntinError) as error:
        act()
    assert PASSWORD not in shown_texts(error.value)


def test_no_repr_of_a_table_shows_a_password() -> None:
    delta = mt.UpsertTable(URL, format="delta")
    folders = [mt.UpsertTable(URL), BatchFolder(URL), SchemaLog(LocalFiles(), URL)]
    things = [*folders, delta, delta._table, mt.DeltaLog(URL)]
    assert [thing for thing in things if PASSWORD in repr(thing)] == []
    assert repr(things[0]) == "UpsertTable('s3a://***@bucket/windows')"


@pytest.mark.parametrize("known", [False, True])
def test_errors_of_checkpoints_quote_no_password(
    spark: SparkSession, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "files_with", lambda *_: Nowhere(known))
    with pytest.raises(QueryError, match=r"s3a://\*\*\*@bucket/windows") as error:
        mt.state(URL, spark)
    assert PASSWORD not in shown_texts(error.value)


def test_inputs_that_cannot_be_read_show_no_password(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AnalysisException(NOT_FOUND)

    monkeypatch.setattr(reading, "_files", refuse)
    with pytest.raises(QueryError, match=r"cannot be read: Path does not exist: s3a://\*\*\*@bucket") as error:
        reading.frames(spark, sources([f"events={URL}/a.csv"]), stream=False)
    assert PASSWORD not in shown_texts(error.value)


class Topics:
    """What reads topics, and what it was told."""

    def __init__(self, frame: DataFrame | None) -> None:
        self.frame, self.options_of = frame, {}  # type: ignore[var-annotated]

    def format(self, name: str) -> Topics:
        assert name == "kafka"
        return self

    def options(self, **options: str) -> Topics:
        self.options_of = options
        return self

    def load(self) -> DataFrame:
        if self.frame is None:
            raise AnalysisException(f"Invalid value {self.options_of}")
        return self.frame


def test_a_topic_is_read_with_its_options(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "kafka.conf"
    file.write_text(f"kafka.sasl.jaas.config=x required password={PASSWORD};", encoding="utf-8")
    options = ["kafka.security.protocol=SASL_SSL", "startingOffsets=latest"]
    inputs = with_options(sources(["clicks=kafka://localhost:9092/clicks"]), options, [str(file)])
    topics = Topics(spark.sql("SELECT binary('k') AS key, binary('v') AS value, 'clicks' AS topic"))
    session: Any = SimpleNamespace(read=topics)
    with caplog.at_level(logging.DEBUG, "muntin"):
        reading.frames(session, inputs, stream=False)
    assert topics.options_of == {
        "kafka.bootstrap.servers": "localhost:9092",
        "subscribe": "clicks",
        "startingOffsets": "latest",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.jaas.config": f"x required password={PASSWORD};",
    }
    topics.frame = None
    with pytest.raises(QueryError, match="input 'clicks' cannot be read: Invalid value") as error:
        reading.frames(session, inputs, stream=False)
    assert PASSWORD not in caplog.text + shown_texts(error.value) + repr(inputs)


@pytest.mark.parametrize("fails", [False, True])
def test_plans_have_no_password(
    spark: SparkSession, tmp_path: Path, fails: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise AnalysisException(NOT_FOUND)

    (tmp_path / "a.csv").write_text("2024-05-01 09:00:00,a,1\n", encoding="utf-8")
    reader = spark.readStream.schema(SCHEMA).option("password", PASSWORD).option("url", URL)
    stream = reader.csv(str(tmp_path))
    assert PASSWORD not in repr(file_source(stream))
    if fails:
        monkeypatch.setattr(sampling, "_sampled", refuse)
    query = "SELECT device, max(v) AS high FROM events GROUP BY device, window(ts, '1 minute')"
    with caplog.at_level(logging.DEBUG, "muntin"):
        plan = mt.explain_sql(query, watermark="1 minute", events=stream)
    shown = [write(plan) for write in FORMATS.values()]
    assert ("cannot be sampled: Path does not exist: s3a://***@bucket/windows" in shown[0]) == fails
    assert [text for text in (*shown, repr(plan), str(plan), caplog.text) if PASSWORD in text] == []


def test_what_spark_says_is_quoted_without_passwords() -> None:
    assert sentence_of(AnalysisException(NOT_FOUND)) == "Path does not exist: s3a://***@bucket/windows."
