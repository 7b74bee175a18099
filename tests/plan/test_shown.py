"""Physical plans as text, JSON, Mermaid and HTML, one file each; `pytest --golden` writes them anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest

import muntin as mt
from muntin.arrow.forest import readers_of
from muntin.arrow.state.emit import forest
from muntin.plan.physical import framed
from muntin.plan.physical.batch import Bundle, choose
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.plans import PhysicalPlan, plan_forest, rate_below
from muntin.plan.physical.rolling import Rolling, RollingPlan, RollingShape
from muntin.plan.physical.shapes import MERGING, READING, Shape
from muntin.plan.physical.stream import PERIODIC as STREAMED
from muntin.plan.physical.stream import StreamPlan, StreamShape, choose_stream
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.show.shown import Shown
from muntin.plan.statistics import Statistics
from muntin.window import Window

GOLDEN = Path(__file__).parent.parent / "golden" / "physical"
DENSE = Statistics(10**8, keys=10, span=10**12)
WINDOWS = (
    mt.tumbling("10 s"),
    mt.tumbling("1 min", id="minute"),
    mt.tumbling("90 s"),
    mt.hopping("1 hour", "1 min"),
)
ASKED = (mt.sum("v"), mt.max("v"))


def chosen(work: Work, windows: tuple[Window, ...], strategy: str) -> PhysicalPlan:
    """Choose for aggregates that every shape can evaluate."""
    return choose(lambda asked: Bundle(asked, work, frozenset(MERGING)), [ASKED], windows, strategy)


def batch(strategy: str, windows: tuple[Window, ...] = WINDOWS, statistics: Statistics = DENSE) -> PhysicalPlan:
    """Choose as mt.explain does; give groups with kernels their forests."""
    plan = chosen(Work(statistics, 2, 1), windows, strategy)
    if len(plan.groups) > 1 or not plan.groups[0].shape.uses_kernel:
        return plan
    forest = plan_forest(windows, ASKED, rate_below(plan.groups[0], statistics))
    return replace(plan, groups=(replace(plan.groups[0], forest=forest),))


def kernels() -> PhysicalPlan:
    plan = batch("kernel")
    told = "1h/1m by two_stacks for sum(v), slick_deque for max(v): 60 partials in a range, 1 of them new"
    notes = ("rows would go to Python twice as fast with a setting",)
    return replace(plan, groups=(replace(plan.groups[0], techniques=(told,)),), notes=notes)


def two_groups() -> PhysicalPlan:
    """Choose for a median and three sums: the same windows in two groups, with other aggregates."""
    sums, median = tuple(mt.sum(name) for name in "xyz"), (mt.median("v"),)

    def bundling(asked: tuple[mt.Aggregate, ...]) -> Bundle:
        shapes = frozenset([Shape.EXPAND] if median[0] in asked else MERGING)
        return Bundle(asked, Work(DENSE, len(asked), 1, holistic=int(median[0] in asked)), shapes)

    plan = choose(bundling, [sums, median], WINDOWS, "native")
    assert len(plan.bundles) == 2
    return plan


def reading(shape: Shape) -> PhysicalPlan:
    """Choose for a median or a distinct count in a shape of its own."""
    asked = (mt.count_distinct("v"),) if shape is Shape.MARKS else (mt.median("v"), mt.sum("v"))
    sets = int(shape is Shape.MARKS)
    work = Work(DENSE, 1, 1, holistic=1 - sets, sets=sets)
    plan = choose(lambda asked: Bundle(asked, work, frozenset([shape])), [asked], WINDOWS, "auto")
    told = "1h/1m by wavelet_matrix for median(v), two_stacks for sum(v): 60 partials in a range, 1 of them new"
    groups = [replace(group, techniques=(told,) if group.shape.uses_kernel else ()) for group in plan.groups]
    return replace(plan, groups=tuple(groups))


def stream(*shapes: StreamShape, **options: str) -> StreamPlan:
    """Choose among some shapes of a stream."""
    work, agreed = StreamWork(Work(DENSE, 2, 1), 600_000_000), StreamOptions("10 minutes", **options)  # type: ignore[arg-type]
    return choose_stream(work, WINDOWS, "auto", agreed, shapes, ASKED)


def counts() -> StreamPlan:
    """Choose for a distinct count, which sets or latest occurrences may serve."""
    work = StreamWork(Work(DENSE, 1, 1, sets=1), 600_000_000)
    shapes = (StreamShape.EXPAND, StreamShape.CHAIN, StreamShape.DISTINCT)
    return choose_stream(work, WINDOWS, "auto", StreamOptions("10 minutes"), shapes, (mt.count_distinct("v"),))


FRAMED = (
    mt.session_window("30 min", longest="4 h"),
    mt.tumbling(mt.rows(100)),
    mt.hopping(mt.rows(10), "5 s", id="ten"),
)
"""Windows of other kinds."""


def framed_batch(shape: str) -> PhysicalPlan:
    """Price windows of other kinds beside periodic ones, or sessions alone."""
    work, sessions = Work(DENSE, 2, 1), (mt.session_window("30 min"), mt.session_window("1 hour"))
    group = (
        framed.ordered(work, (*WINDOWS[:1], *FRAMED), ASKED, watched=1)
        if shape == "ordered"
        else framed.source_sessions(work, sessions, ASKED)
    )
    return PhysicalPlan((group,), "auto", DENSE, ((shape, group.cost),), ("the rows of a key are one task's work",))


def framed_stream() -> StreamPlan:
    """Plan windows of other kinds beside a periodic one on a stream."""
    work = StreamWork(Work(replace(DENSE, batch=10**6), 2, 1), 600_000_000)
    return framed.ordered_stream(work, (*WINDOWS[:1], *FRAMED), "auto", StreamOptions("10 minutes"), ASKED)


def rolling(frames: tuple[float, float], techniques: tuple[str, ...] = ()) -> RollingPlan:
    """Choose as mt.explain_rolling does for frames of so many rows."""
    sizes = Rolling(Work(DENSE, 2, 1), frames, carried=3, aggregates=2)
    costs = {shape: sizes.cost(shape) for shape in RollingShape}
    weighed = sorted(costs, key=costs.__getitem__)
    alternatives = tuple((shape.name.lower(), costs[shape]) for shape in weighed)
    return RollingPlan(
        weighed[0],
        "auto",
        ("1h", "100rows"),
        DENSE,
        alternatives,
        aggregates=ASKED,
        frame_rows=frames,
        techniques=techniques,
    )


FEW = Statistics(1000, keys=5, span=3_600_000_000, ordered=False, source="4,000 rows of the input")
THIN = Statistics(rows=10**7, keys=1, span=10**13)
APART = tuple(mt.tumbling(f"{n} seconds") for n in sorted({b * k for b in (4, 7, 11) for k in range(1, 5)}))

PLANS: dict[str, Callable[[], Shown]] = {
    "batch_independent": lambda: batch("auto", WINDOWS[:1], FEW),
    "batch_expand": lambda: batch("expand"),
    "batch_slices_explode": lambda: batch("slices_explode"),
    **{f"batch_{shape.name.lower()}": partial(reading, shape) for shape in READING},
    "batch_slices_apart": lambda: batch("slices_explode", APART, THIN),
    "batch_slices_kernel": kernels,
    "batch_source_kernel": lambda: batch("source_kernel"),
    "batch_source_slices_kernel": lambda: batch("source_slices_kernel"),
    "batch_rows_kernel": lambda: batch("rows_kernel"),
    "batch_two_groups": two_groups,
    "stream_independent": lambda: stream(StreamShape.INDEPENDENT),
    "stream_expand": lambda: stream(*(shape for shape in STREAMED if shape.updates), output="update", future="1 hour"),
    "stream_chain": lambda: stream(*STREAMED),
    "stream_distinct": counts,
    "stream_columnar": lambda: stream(*(shape for shape in STREAMED if shape.exact), late="exact"),
    "batch_ordered": lambda: framed_batch("ordered"),
    "batch_source_sessions": lambda: framed_batch("source_sessions"),
    "stream_ordered": framed_stream,
    "rolling_independent": lambda: rolling((2.5, 1)),
    "rolling_kernel": lambda: rolling((36_001, 100), ("1h by two_stacks for sum(v), slick_deque for max(v)",)),
}
FORMATS: dict[str, Callable[[Shown], str]] = {
    "txt": lambda plan: plan.explain(),
    "json": lambda plan: plan.to_json(),
    "mmd": lambda plan: plan.to_mermaid(),
    "html": lambda plan: plan.to_html(),
}
DRAWN = ("batch_slices_kernel", "batch_two_groups", "stream_columnar", "stream_independent", "rolling_kernel")
"""Plans whose HTML is kept; the others have no box of another kind."""


def files() -> list[tuple[str, str]]:
    return [(name, form) for name in PLANS for form in FORMATS if form != "html" or name in DRAWN]


@pytest.mark.parametrize(("name", "form"), files())
def test_is_shown_as_before(name: str, form: str, pytestconfig: pytest.Config) -> None:
    path, shown = GOLDEN / f"{name}.{form}", FORMATS[form](PLANS[name]()) + "\n"
    if pytestconfig.getoption("golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    else:
        assert shown == path.read_text(encoding="utf-8")


def test_every_golden_file_is_of_a_plan() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{form}" for name, form in files()}


@pytest.mark.parametrize("name", PLANS)
def test_every_kind_of_plan_is_shown_alike(name: str) -> None:
    plan = PLANS[name]()
    assert str(plan) == plan.explain()
    assert plan._repr_html_() == plan.to_html()
    assert json.loads(plan.to_json()) == plan.to_dict()
    steps = plan.to_dict()["steps"]
    mermaid = plan.to_mermaid()
    for step in steps:
        assert len(re.findall(rf"^  {step['id']}[\[(]", mermaid, re.MULTILINE)) == 1
        assert step["reads"] is None or f"  {step['reads']} --> {step['id']}" in mermaid
    assert mermaid.count(" --> ") == len(steps) - 1
    assert plan.to_html().count("<rect") == len(steps)


@pytest.mark.parametrize("name", PLANS)
def test_no_drawn_boxes_lie_on_one_another(name: str) -> None:
    places = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', PLANS[name]().to_html())
    boxes = [(x, y, x + width, y + height) for x, y, width, height in (map(int, place) for place in places)]
    for one, other in combinations(boxes, 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_a_forest_is_shown_where_it_is_followed_and_nowhere_else() -> None:
    factor = "⟨30s,30s⟩ factor"
    for shape in MERGING:
        plan = batch(shape.name.lower())
        assert plan.groups[0].shape is shape
        assert (factor in str(plan)) == shape.uses_kernel
        assert ("this plan follows no forest" in str(plan)) == (not shape.uses_kernel)
        assert ("slices begin at multiples of 10s" in str(plan)) == shape.uses_slices
    for streamed in STREAMED:
        assert (stream(streamed).forest is not None) == (streamed is StreamShape.COLUMNAR)


@pytest.mark.parametrize("asked", [(mt.max("v"),), ASKED])
def test_the_forest_of_columnar_state_is_the_one_that_workers_follow(asked: tuple[mt.Aggregate, ...]) -> None:
    plan = replace(stream(StreamShape.COLUMNAR), aggregates=asked)
    assert plan.forest is not None
    numbers = {window: number for number, window in enumerate(WINDOWS)}
    followed = forest(WINDOWS, len(asked) == 1)
    assert readers_of(plan.forest, numbers) == followed


def test_rows_out_of_a_stream_follow_its_output() -> None:
    append, update = stream(StreamShape.EXPAND), stream(StreamShape.EXPAND, output="update")
    assert update.rows_out > append.rows_out > 0
    assert append.rows_out == pytest.approx(batch("expand").groups[0].rows_out)


def test_a_plain_plan_that_is_hardly_dearer_says_so() -> None:
    plan = chosen(Work(FEW), WINDOWS[:1], "auto")
    assert plan.groups[0].shape is Shape.INDEPENDENT
    dear = replace(plan, alternatives=(("expand", 0.9 * plan.cost), ("independent", plan.cost)))
    assert "independent  ← chosen: what costs less saves too little" in str(dear)
    assert [told["chosen"] for told in dear.to_dict()["alternatives"]] == [False, True]


class Tags(HTMLParser):
    """The tags of a page, and what they refer to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}


def test_labels_are_no_markup() -> None:
    label = '<script>alert("x")</script>\n%%{init}%%'
    windows = (mt.tumbling("1 min", id=label.replace("\n", "")),)
    named = mt.sum("<img src=x>")
    physical = replace(batch("native", windows), notes=(f"column {label!r}", "<b>"))
    shown: list[Shown] = [
        replace(physical, groups=tuple(replace(group, aggregates=(named,)) for group in physical.groups)),
        replace(stream(StreamShape.COLUMNAR), windows=windows, aggregates=(named,), notes=("<b>",)),
        replace(rolling((36_001, 100)), frames=(label,), frame_rows=(), aggregates=(named,), notes=("<b>",)),
    ]
    for plan in shown:
        known = {"div", "style", "svg", "path", "g", "rect", "text", "br", "span", "i", "code"}
        assert Tags(plan.to_html()).tags <= known
        boxes = [line for line in plan.to_mermaid().splitlines() if not line.startswith("  %%")]
        assert not any(sign in line.replace("<br/>", "") for line in boxes for sign in ("<", "script>", "%%"))


def test_a_drawing_says_what_its_colours_and_figures_mean() -> None:
    drawn = mt.plan("20 minutes, 30 minutes, 40 minutes", mt.min("v")).to_html()
    assert "<code>6 × 2 = 12</code>: 6 instances in 2h × 2 instances of ⟨10m,10m⟩ that each reads = cost" in drawn
    assert "a factor window: " in drawn
    alone = mt.plan("20 minutes", mt.min("v")).to_html()
    assert "<code>1 × 20 = 20</code>: 1 instance in 20m × 20 events that each reads = cost" in alone
    assert "a factor window: " not in alone


def test_every_colour_has_its_like_on_dark_pages() -> None:
    style = mt.plan("20 minutes", mt.min("v")).to_html().partition("</style>")[0]
    light, *themes = (set(re.findall(r"--[a-z-]+(?=:)", rule)) for rule in re.findall(r"\.muntin { (--[^}]*)}", style))
    assert len(themes) == 3
    assert all(theme == light for theme in themes)
    assert set(re.findall(r"var\((--[a-z-]+)\)", style)) <= light


def test_a_chain_of_windows_deeper_than_the_stack_is_shown() -> None:
    windows = tuple(mt.tumbling(f"{n} s") for n in (1, 2))
    plan = batch("rows_kernel", windows)
    deep = mt.plan([mt.hopping(n, 1) for n in range(1, 1500)], "min", algorithm="shared")
    shown = replace(plan, groups=(replace(plan.groups[0], forest=deep),))
    assert len(shown.to_dict()["steps"]) == 2 + len(deep.nodes)
    assert shown.explain().count("⟨") > 1499
    assert shown.to_html().count("<rect") == 2 + len(deep.nodes)
    assert shown.to_json()
    assert shown.to_mermaid()
