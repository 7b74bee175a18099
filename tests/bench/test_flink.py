"""What the benchmark beside Flink asks of Flink, and what the report says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from muntin.bench.experiments import flink, flink_job
from muntin.bench.record import record
from muntin.bench.report.flink import ENGINES, NAMES, flink_latency_section, flink_section
from muntin.cli import main
from muntin.errors import UnsupportedError

SECONDS = dict(zip(NAMES, (4.0, 10.0, 20.0), strict=True))


def test_without_flink_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="tools/flink installs it there"):
        flink.Flink(tmp_path)
    asked = ["bench", "flink", "--flink", str(tmp_path), "--out", str(tmp_path / "out.json")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code != 0
    assert "there is no Flink in" in done.output + str(done.exception)
    assert not (tmp_path / "out.json").exists()


def test_windows_are_asked_for_as_flink_writes_them(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars/some.jar").touch()
    for setting in flink.settings(1000):
        asked = json.loads(flink.Flink(tmp_path).command(setting, sources=[])[2])
        assert len(asked["windows"]) == len(setting.windows)
        assert asked["windows"][0] == ([600, 600] if "tumbling" in setting.name else [3600, 600])
    assert "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '600' SECOND(6))" in flink_job.statement(600, 600)
    hop = "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '600' SECOND(6), INTERVAL '3600' SECOND(6))"
    assert hop in flink_job.statement(3600, 600)  # the slide first


def test_the_report_tells_times_differences_and_latency() -> None:
    row = {"setting": "dense", "events": 10, "seconds": SECONDS, "checked_rows": 1234}
    row |= {"flink_differs": 0, "muntin_differs": 5}
    text = flink_section(record("flink", "muntin bench flink", [row]))
    assert "| dense | 10 | 4.0 | 10.0 | 20.0 | 5.0 |" in text
    assert "1,234 rows on all streams: 0 of Flink's rows differ or are missing, and 5 of Muntin's" in text
    times = {"rows": 7, "p50_ms": 1, "p99_ms": 2, "most_ms": 3, "rate": 1000, "windows": 10, "checkpoints": "10 s"}
    text = flink_latency_section(record("flink-latency", "", [{"engine": name, **times} for name in ENGINES]))
    assert "| Flink SQL, RocksDB | 7 | 1 | 2 | 3 | – | 10 s |" in text
