"""How old a result is: how often the code changed after it was measured, up to when the report was written."""

from __future__ import annotations

from pathlib import Path

from muntin_bench.record import CODE, DIRTY, Row, git, load, save

REPORT = (":(top,exclude)benchmarks/muntin_bench/report", ":(top,exclude)src/muntin/bench/report")
"""What measures nothing: the report, where it is now and where it was."""
CHANGES = "changes.json"
"""The file beside the results with the counts, so that the page can be written again without git."""

AT_WRITING = "When this page was written"


def count_changes(results: Path) -> None:
    """Count the commits to the code since each result. A result of a commit that git does not know keeps its count."""
    head = git("rev-parse", "--short", "HEAD")
    if head is None:
        return
    commits = sorted({commit for path in results.glob("*.json") if (commit := _commit(path)) is not None})
    counts = read_changes(results)["commits"]
    for commit in commits:
        count = git("rev-list", "--count", f"{commit}..HEAD", "--", *CODE, *REPORT)
        counts |= {commit: int(count)} if count is not None else {}
    known = {commit: counts[commit] for commit in commits if commit in counts}
    save({"at": head, "commits": known}, results / CHANGES)


def read_changes(results: Path) -> Row:
    """Read the counts: at which commit they were made, and the later commits by the commit of a result."""
    path = results / CHANGES
    return load(path) if path.exists() else {"at": None, "commits": {}}


def tell_age(result: Row, changes: dict[str, int]) -> str:
    """Say at which commit a result was measured, and how many commits had followed when the report was written.

    >>> tell_age({"circumstances": {"commit": "1f03ff4"}}, {"1f03ff4": 275})
    '**Measured at commit 1f03ff4. When this page was written, 275 commits to the measured code had followed.**'
    """
    commit = result["circumstances"]["commit"]
    if commit is None:
        return "Measured at an unknown commit."
    clean = commit.removesuffix(DIRTY)
    measured = f"Measured at commit {clean}" + (" with uncommitted changes" if clean != commit else "")
    match changes.get(clean):
        case None:
            return f"{measured}."
        case 0:
            return f"{measured}. {AT_WRITING}, no commit to the measured code had followed."
        case later:
            commits = "commit" if later == 1 else "commits"
            return f"**{measured}. {AT_WRITING}, {later} {commits} to the measured code had followed.**"


def _commit(path: Path) -> str | None:
    """Read the commit of a result file; other files have none."""
    result = load(path)
    commit = result["circumstances"]["commit"] if "circumstances" in result else None
    return commit and str(commit).removesuffix(DIRTY)
