"""What the plan of a set of queries contains: shares, the plans of their windows, and the queries that read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.plan.number import number
from muntin.plan.show import parts
from muntin.plan.show.outline import Box, Figure, Outline

if TYPE_CHECKING:
    from muntin.plan.sharing import Reader, Share, SharingPlan

WAYS = {
    "apart": "by itself",
    "conditions": "filters are conditions on what is lifted, and counts tell which instances a query has",
    "fragments": "rows are aggregated by slice, all keys and the filters they satisfy, and each query merges its own",
    "branches": "rows are sliced at the source for every filter and set of keys, and all slices are shuffled once",
}


def outline_of_sharing(plan: SharingPlan) -> Outline:
    """Say which queries are evaluated together, and how."""
    top = parts.input_box(plan.statistics)
    boxes = [box for share in plan.shares for box in _share(share, top)]
    queries = sum(len(share.queries) for share in plan.shares)
    shares = len(plan.shares)
    kind = "stream" if plan.streaming else "batch"
    line = f"{kind} plan of {queries} queries in {shares} share{'s'[: shares != 1]}, {parts.seconds(plan.cost)}"
    head = (Figure("plan", "sharing", (line,)), Figure("core_microseconds", round(plan.cost)), *_saved(plan))
    return Outline(
        head, (top, *boxes), (parts.weighed(plan.alternatives, plan.cost, reason=": the others save little"),)
    )


def _saved(plan: SharingPlan) -> tuple[Figure, ...]:
    """Tell what the queries would cost one by one."""
    if plan.alone is None or plan.cost <= 0:
        return ()
    line = f"one by one they would cost {parts.seconds(plan.alone)}: {plan.alone / plan.cost:.1f} times as much"
    return (Figure("alone_core_microseconds", round(plan.alone), (line,)),)


def _share(share: Share, top: Box) -> Iterator[Box]:
    """Yield a share, the plan of its windows, and its queries."""
    count = len(share.queries)
    title = f"{share.way}: {count} queries, {WAYS[share.way]}" if count > 1 else f"{share.way}: {share.queries[0].name}"
    figures = (
        Figure("way", share.way),
        Figure("queries", [query.name for query in share.queries]),
        *_counts(share),
        Figure("core_microseconds", round(share.cost), (parts.seconds(share.cost),)),
        Figure("reason", share.reason, (share.reason,) if share.reason else ()),
    )
    above = Box("share", title, top, figures=figures)
    yield above
    for plan in share.plans:
        inner = plan.outline().boxes
        moved = {inner[0]: above}
        for box in inner[1:]:
            moved[box] = replace(box, above=moved[box.above]) if box.above is not None else box
            yield moved[box]
    for query in share.queries:
        called = query.name if query.name.startswith("query ") else f"query {query.name}"
        yield Box("query", called, above, figures=tuple(_told(query)))


def _counts(share: Share) -> Iterator[Figure]:
    """Tell what the queries of a share have in common."""
    sets = [", ".join(keys) or "no key" for keys in share.keys]
    if len(share.queries) > 1:
        filters = f"{share.filters} filter{'s'[: share.filters != 1]}"
        yield Figure("keys", [list(keys) for keys in share.keys], (f"{filters}; keys: {'; '.join(sets)}",))
    if share.parts:
        line = f"{number(round(share.rows))} rows in, {parts.about(share.parts)} partials in common"
        yield Figure("parts", round(share.parts), (line,))


def _told(query: Reader) -> Iterator[Figure]:
    """Tell what a query asks."""
    by = f" by {', '.join(query.by)}" if query.by else ""
    yield Figure("asks", list(query.aggregates), (f"{', '.join(query.aggregates)}{by}",))
    yield Figure("windows", list(query.windows), (f"over {', '.join(query.windows)}",))
    yield Figure("where", query.where, (f"where {query.where}",) if query.where else ())
