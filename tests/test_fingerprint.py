"""What state was made for: written, read back by later versions, compared."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from muntin.errors import QueryError
from muntin.fingerprint import Computed, Fingerprint, Input, check_same
from muntin.formats import FORMAT
from muntin.window import UserWindow, Window

KEPT = Fingerprint(
    "columnar",
    Input("ts", "timestamp"),
    (Input("device", "string"), Input("lower(site) AS `städte`", "string")),
    (Computed("count"), Computed("approx_quantile", (Input("v", "double"),), (("fraction", 0.5), ("k", 200)))),
    (Window(20), Window(60, 20, 5)),
    2,
    "4.3",
)

WRITTEN_BY_FORMAT_1 = (
    '{"shape":"columnar","time":{"expression":"ts","type":"timestamp"},"keys":[{"expression":"device","type":"string"},'
    '{"expression":"lower(site) AS `städte`","type":"string"}],"aggregates":['
    '{"function":"count","inputs":[],"options":[]},'
    '{"function":"approx_quantile","inputs":[{"expression":"v","type":"double"}],"options":[["fraction",0.5],["k",200]]}],'
    '"windows":[{"kind":"periodic","range":20,"slide":20,"offset":0},'
    '{"kind":"periodic","range":60,"slide":20,"offset":5}],"buckets":2,"spark":"4.3","format":1}'
)


def test_what_format_1_wrote_is_read_for_ever() -> None:
    assert Fingerprint.from_json(WRITTEN_BY_FORMAT_1) == KEPT
    assert KEPT.to_json() == WRITTEN_BY_FORMAT_1
    assert KEPT.digest.hex() == "56183e587c5f33ba"


def test_windows_that_were_three_numbers_are_periodic() -> None:
    earlier = json.loads(WRITTEN_BY_FORMAT_1) | {"windows": [[20, 20, 0], [60, 20, 5]]}
    assert Fingerprint.from_json(json.dumps(earlier)) == KEPT


@pytest.mark.parametrize("other", [{"windows": [[20, 20, 0], [60, 20, 5]]}, {"unknown": "of a later version"}])
def test_what_was_read_stays_as_it_was_written(other: dict[str, Any]) -> None:
    text = json.dumps(json.loads(WRITTEN_BY_FORMAT_1) | other)
    kept = Fingerprint.from_json(text)
    assert kept.to_json() == text
    assert kept.digest != KEPT.digest
    sent = pickle.loads(pickle.dumps(kept))  # noqa: S301 - as to a worker
    for same in (check_same([kept], KEPT), Fingerprint.from_dict(json.loads(text)), sent):
        assert same == KEPT
        assert same.to_dict() == json.loads(text)
        assert same.digest == kept.digest
    changed = replace(kept, buckets=3)
    assert changed.digest == replace(KEPT, buckets=3).digest


def test_a_later_format_is_refused() -> None:
    later = json.dumps(json.loads(WRITTEN_BY_FORMAT_1) | {"format": FORMAT + 1})
    with pytest.raises(QueryError, match=f"has format {FORMAT + 1}, and this version of Muntin knows formats up to"):
        Fingerprint.from_json(later)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": "expand"}, r"the shape was columnar and is expand\. Use strategy='columnar'"),
        ({"time": Input("at", "timestamp")}, r"time was ts timestamp and is at timestamp\. Ask for"),
        ({"keys": KEPT.keys[:1]}, r"key 2 is missing: lower\(site\)"),
        ({"keys": (*KEPT.keys, Input("x", "int"))}, "key 3 is new: x int"),
        ({"keys": KEPT.keys[::-1]}, "key 1 was device string and is lower.*; key 2 was lower"),
        ({"aggregates": KEPT.aggregates[:1]}, r"aggregate 2 is missing: approx_quantile\(v double, fraction=0\.5"),
        ({"aggregates": (Computed("count_if"), KEPT.aggregates[1])}, r"aggregate 1 was count\(\) and is count_if\(\)"),
        ({"windows": (Window(20),)}, r"the windows were ⟨20us,20us⟩, ⟨60us,20us⟩\+5us and are ⟨20us,20us⟩"),
        ({"windows": None}, r"and are those of a registry\. Use a new checkpoint; for windows that come and go"),
        ({"buckets": 8}, r"were 2 buckets of keys and there are 8\. Set spark\.sql\.shuffle\.partitions to 2"),
    ],
)  # fmt: skip
def test_what_changed_and_what_to_do(change: dict[str, Any], message: str) -> None:
    now = replace(KEPT, **change)
    assert now.digest != KEPT.digest
    with pytest.raises(QueryError, match=f"^the checkpoint was made for another query: .*{message}"):
        check_same([KEPT], now)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({"output": "append"}, {"output": "update"}, "the output was append and is update. Use output='append'"),
        ({"order": ("v bigint ASC",)}, {"order": ()}, "the order was v bigint ASC and is none. Ask for"),
        ({"registry": "one"}, {"registry": "other"}, "the registry was one and is other. Use the registry that"),
    ],
)
def test_what_earlier_checkpoints_lack_is_compared_where_it_is_known(
    before: dict[str, Any], after: dict[str, Any], message: str
) -> None:
    kept, now = replace(KEPT, **before), replace(KEPT, **after)
    assert Fingerprint.from_json(kept.to_json()) == kept
    with pytest.raises(QueryError, match=message):
        check_same([kept], now)
    assert check_same([KEPT], now) is KEPT


@pytest.mark.parametrize("shape", ["expand", "chain"])
def test_windows_are_compared_unless_an_earlier_version_left_them_out(shape: str) -> None:
    now = replace(KEPT, shape=shape)
    earlier = replace(now, windows=None)
    assert earlier.lacks_windows
    assert check_same([earlier], now) is earlier
    with pytest.raises(QueryError, match="the windows were"):
        check_same([now], replace(now, windows=(*(now.windows or ()), Window(7))))


def test_the_nearest_of_several_is_compared() -> None:
    other = replace(KEPT, shape="expand", keys=(), windows=None, buckets=None)
    assert check_same([other, KEPT], KEPT) is KEPT
    with pytest.raises(QueryError, match="query: there were 2 buckets"):
        check_same([other, KEPT], replace(KEPT, buckets=3))


def test_another_spark_may_write_expressions_in_another_way() -> None:
    now = replace(KEPT, keys=(KEPT.keys[0], Input("lower(`site`)", "string")))
    with pytest.raises(QueryError, match=r"key 2 was lower\(site\)"):
        check_same([KEPT], now)
    assert check_same([KEPT], replace(now, spark="4.4")) is KEPT
    assert replace(KEPT, spark="4.4").digest == KEPT.digest
    with pytest.raises(QueryError, match="key 2 was"):
        check_same([KEPT], replace(KEPT, spark="4.4", keys=(KEPT.keys[0], Input("lower(`site`)", "int"))))


def pairs(state: Any, time: int) -> tuple[Any, int, int]:
    return state, 1, 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"initial": 1}, """initial of window 'pairs' was {"format":1,"value":0} and is {"format":1,"value":1}"""),
        ({"initial": (0,)}, "initial of window 'pairs' was"),
        ({"fifo": False}, "fifo of window 'pairs' was True and is False"),
        ({"complete": True}, "complete of window 'pairs' was False and is True"),
        ({"version": 2}, "version of window 'pairs' was 1 and is 2"),
    ],
)
def test_all_that_makes_a_users_window_is_compared(change: dict[str, Any], message: str) -> None:
    now = replace(KEPT, windows=(UserWindow(pairs, initial=0),))
    kept = Fingerprint.from_json(now.to_json())
    assert check_same([kept], now) is kept
    with pytest.raises(QueryError) as refusal:
        check_same([kept], replace(KEPT, windows=(UserWindow(pairs, **{"initial": 0, **change}),)))
    assert message in str(refusal.value)
    assert "Use a new checkpoint" in str(refusal.value)


def test_a_checkpoint_that_says_less_of_a_users_window_is_read() -> None:
    told = {"kind": "user", "discretizer": "pairs", "columns": [], "version": 1}
    kept = Fingerprint.from_dict(json.loads(WRITTEN_BY_FORMAT_1) | {"windows": [told]})
    for window in (UserWindow(pairs, initial=[0, 0]), UserWindow(pairs, fifo=False, complete=True)):
        assert check_same([kept], replace(KEPT, windows=(window,))) is kept
    with pytest.raises(QueryError, match="version of window 'pairs' was 1 and is 2"):
        check_same([kept], replace(KEPT, windows=(UserWindow(pairs, version=2),)))
