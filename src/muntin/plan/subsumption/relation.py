"""Which window subsumes which: Definition 1 of the subsumption paper, with phases.

The paper evaluates every window at multiples of its slide, counted from one origin, and its definition looks at ranges
and slides only. Windows of Muntin may end anywhere, so we ask for the phases, too: every end of the window that
subsumes must be an end of the one that is subsumed. For windows that end on one origin this is the paper's definition.
"""

from __future__ import annotations

from collections.abc import Collection

from muntin.window import Length, Window


def is_subsumed(window: Window, by: Window) -> bool:
    """Tell whether a window is not longer than another, and ends whenever the other does: ⊑ of Definition 1.

    >>> is_subsumed(Window(8, 2), Window(24, 8)), is_subsumed(Window(24, 8), Window(32, 4))
    (True, False)
    >>> is_subsumed(Window(6, 2), Window(6, 4)), is_subsumed(Window(6, 2), Window(12, 4, offset=1))
    (True, False)
    """
    ends_apart = by.offset + by.range - window.offset - window.range
    return by.range >= window.range and by.slide % window.slide == 0 and ends_apart % window.slide == 0


def ending(range: Length, slide: Length, id: str | None = None) -> Window:
    """Make the paper's window ⟨ω,β⟩, which ends at multiples of its slide; ours begins there if it has no offset.

    The two are the same window where the range is a multiple of the slide.

    >>> ending(8, 3), list(ending(8, 3).instances(0, 16))
    (Window(8, 3, 1), [(1, 9), (4, 12), (7, 15)])
    >>> ending("1 hour", "5 minutes") == Window("1 hour", "5 minutes")
    True
    """
    window = Window(range, slide)
    end = type(window.range)(-window.range)
    return Window(window.range, window.slide, end, id)


def left_open(window: Window) -> Window:
    """Give the window whose instances [a, b) hold the whole times that those of a window hold when read as (a, b].

    The paper's state is (τ − ω, τ], ours is [τ − ω, τ). On whole times (τ − ω, τ] = [τ − ω + 1, τ + 1).

    >>> next(left_open(ending(6, 2)).containing(12))
    (7, 13)
    """
    one_later = type(window.offset)(window.offset + 1)
    return Window(window.range, window.slide, one_later, window.id)


def multiples_of(slides: Collection[int]) -> dict[int, list[int]]:
    """Give, for each of some different slides, those that are multiples of it; tries whatever is less to try.

    >>> multiples_of({2, 3, 4, 6})[2], multiples_of({3, 300, 3000})[3]
    ([2, 4, 6], [3, 300, 3000])
    """
    known, longest = sorted(slides), max(slides)
    return {
        slide: [multiple for multiple in range(slide, longest + 1, slide) if multiple in slides]
        if longest // slide < len(known)
        else [other for other in known if other % slide == 0]
        for slide in known
    }
