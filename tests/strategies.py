"""What Hypothesis draws: windows and window sets small enough to check by brute force."""

from hypothesis import strategies as st

from muntin.window import Window


@st.composite
def windows(draw: st.DrawFn, longest: int = 12, offsets: bool = False) -> Window:
    """Draw a window, of any range from its slide on."""
    slide = draw(st.integers(1, longest))
    return Window(draw(st.integers(slide, longest)), slide, draw(st.integers(0, slide - 1)) if offsets else 0)


def window_sets(most: int = 5, longest: int = 12, offsets: bool = False) -> st.SearchStrategy[list[Window]]:
    """Draw different windows."""
    drawn = windows(longest=longest, offsets=offsets)
    return st.lists(drawn, min_size=1, max_size=most, unique=True)
