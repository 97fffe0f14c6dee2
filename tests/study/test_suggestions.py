from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import suggestion


@given(word=st.sampled_from(("conditions", "languages", "exhibits", "seeds", "synthetic")), data=st.data())
def test_one_missing_letter_is_understood(word: str, data: st.DataObject) -> None:
    gap = data.draw(st.integers(0, len(word) - 1))
    known = ("conditions", "languages", "exhibits", "seeds", "synthetic")
    assert suggestion(word[:gap] + word[gap + 1 :], known) == f"; did you mean {word!r}?"


def test_no_suggestion_is_better_than_a_far_one() -> None:
    assert suggestion("temperature", ("seeds", "scale")) == ""
