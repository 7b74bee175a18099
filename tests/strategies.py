"""What Hypothesis draws: windows and window sets small enough to check by brute force."""

from hypothesis import strategies as st

from muntin.window import Window


@st.composite
def windows(draw: st.DrawFn, longest: int = 12, multiples: bool = False, offsets: bool = False) -> Window:
    """Draw a window; with multiples its range is one of its slide."""
    slide = draw(st.integers(1, longest))
    ranges = st.integers(1, longest // slide).map(lambda k: k * slide) if multiples else st.integers(slide, longest)
    return Window(draw(ranges), slide, draw(st.integers(0, slide - 1)) if offsets else 0)


def window_sets(
    most: int = 5, longest: int = 12, multiples: bool = False, offsets: bool = False
) -> st.SearchStrategy[list[Window]]:
    """Draw different windows."""
    drawn = windows(longest=longest, multiples=multiples, offsets=offsets)
    return st.lists(drawn, min_size=1, max_size=most, unique=True)
