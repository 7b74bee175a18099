"""What the benchmark beside Flink asks of Flink, and what the report says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from muntin.cli import main
from muntin.errors import UnsupportedError
from muntin_bench.experiments import flink, flink_job
from muntin_bench.record import record
from muntin_bench.report.flink import ENGINES, NAMES, flink_section, latency_section

SECONDS = dict(zip(NAMES, (4.0, 10.0, 12.0, 20.0), strict=True))


def test_without_flink_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="tools/flink installs it there"):
        flink.Flink(tmp_path)
    asked = ["bench", "stream", "flink", "--flink", str(tmp_path), "--out", str(tmp_path / "out.json")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code != 0
    assert "there is no Flink in" in done.output + str(done.exception)
    assert not (tmp_path / "out.json").exists()


def test_options_before_the_command_are_not_lost() -> None:
    done = CliRunner().invoke(main, ["bench", "stream", "--events", "1000", "flink"])
    assert done.exit_code == 2
    assert "Options of flink come after its name: muntin bench stream flink" in done.output


def test_windows_are_asked_for_as_flink_writes_them(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars/some.jar").touch()
    (tmp_path / ".ready").touch()
    for setting in flink.settings(1000):
        asked = json.loads(flink.Flink(tmp_path).request(setting.windows, "heap", tmp_path, source={}))
        assert asked["jars"] == [str(tmp_path / "jars/some.jar")]
        assert len(asked["windows"]) == len(setting.windows)
        assert asked["windows"][0] == ([600, 600] if "tumbling" in setting.name else [3600, 600])
    assert "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '600' SECOND(6))" in flink_job.statement(600, 600)
    hop = "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '600' SECOND(6), INTERVAL '3600' SECOND(6))"
    assert hop in flink_job.statement(3600, 600)  # the slide first


def test_every_kind_of_state_is_in_the_table_and_checkpoints_have_a_place(tmp_path: Path) -> None:
    (tmp_path / ".ready").touch()
    assert list(NAMES) == ["muntin", *flink.STATES]
    for state in flink.STATES:
        asked = json.loads(flink.Flink(tmp_path).request((), state, Path("/place")))
        place = asked["settings"].get("execution.checkpointing.dir")
        assert place == ("file:///place/checkpoints" if "checkpoints" in state else None)


def test_a_job_that_fails_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text("#!/bin/sh\nread line\necho no such table >&2\nexit 3\n")
    (tmp_path / "bin/python").chmod(0o755)
    (tmp_path / ".ready").touch()
    log = tmp_path / "log"
    message = re.escape("Flink ended with 3: no such table")
    with flink.Flink(tmp_path).jobs(log) as jobs, pytest.raises(UnsupportedError, match=message):
        flink.answer(jobs, "{}\n", log)


def test_the_report_tells_times_differences_and_latency() -> None:
    row = {"setting": "dense", "events": 10, "seconds": SECONDS, "compared_rows": 1234, "differ": 5, "flink": "2.3.0"}
    text = flink_section(record("stream flink", "muntin bench stream flink", [row]))
    assert "Flink 2.3.0, 100 keys" in text
    assert "| dense | 10 | 4.0 | 10.0 | 12.0 | 20.0 | 2.5 | 5.0 |" in text
    assert "of 1,234 rows, 5 differ or are missing on one side" in text
    assert "Throughput does not show latency: Flink answers record by record, Spark in micro-batches" in text
    times = {"rows": 7, "p50_ms": 1, "p99_ms": 2, "most_ms": 3, "rate": 1000, "windows": 10, "checkpoints": "10 s"}
    text = latency_section(record("stream latency", "", [{"engine": name, **times} for name in ENGINES]))
    assert "| Flink SQL, RocksDB | 7 | 1 | 2 | 3 | – | 10 s |" in text
    assert "Half of the rows arrive within this time: Flink SQL, RocksDB 0.0 s, Muntin, auto 0.0 s" in text
