"""Sentences as ids, each subword tied to its word."""

from collections import Counter
from functools import partial
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import NO_WORD, encoded_sentences
from isoglot.corpora.vocabulary import END, UNK, build_vocabulary
from isoglot.study.conditions import TableKind

BPE = Bpe(merges=(("a", "b"), ("ab", "c</w>")))
SUBWORDS = Counter({"abc</w>": 5, "a": 4, "b</w>": 3, "b": 2, "c</w>": 1, "ab": 1, "c": 1, "a</w>": 1})
VOCABULARY = build_vocabulary(TableKind.UNION, counts={"fr": SUBWORDS})
encoded = partial(encoded_sentences, language="fr", bpe=BPE, vocabulary=VOCABULARY)


def test_sentences_by_hand() -> None:
    sentence, *others = encoded([["abc", "ba", "x"], [], ["a"]], language="fr", bpe=BPE, vocabulary=VOCABULARY)
    ids = VOCABULARY.ids("fr")
    assert sentence.words == ("abc", "ba", "x")
    assert sentence.ids == (END, ids["abc</w>"], ids["b"], ids["a</w>"], UNK, END)
    assert sentence.word_of == (NO_WORD, 0, 1, 1, 2, NO_WORD)
    # A line without words keeps its place.
    assert [(other.words, other.word_of) for other in others] == [((), (-1, -1)), (("a",), (-1, 0, -1))]


@given(st.lists(st.lists(st.text("abc", min_size=1, max_size=6), max_size=5), max_size=4))
def test_every_word_is_spelled_by_its_own_subwords(lines: list[list[str]]) -> None:
    sentences = encoded(lines)
    assert [list(sentence.words) for sentence in sentences] == lines
    table = VOCABULARY.tables["fr"]
    for sentence in sentences:
        assert (sentence.ids[0], sentence.ids[-1], sentence.word_of[0], sentence.word_of[-1]) == (END, END, -1, -1)
        spelled = [""] * len(sentence.words)
        for id, place in zip(sentence.ids[1:-1], sentence.word_of[1:-1], strict=True):
            spelled[place] += table[id]
        assert spelled == [word + "</w>" for word in sentence.words]
        assert list(sentence.word_of[1:-1]) == sorted(sentence.word_of[1:-1])


@given(st.lists(st.text("abc", min_size=1, max_size=9), max_size=8), st.integers(3, 12))
def test_pieces_hold_every_word_that_fits_once_and_in_order(words: list[str], most_tokens: int) -> None:
    (sentence,) = encoded([words])
    pieces = list(sentence.pieces(most_tokens=most_tokens))
    assert [word for piece in pieces for word in piece.words] == words
    for piece in pieces:
        assert len(piece.ids) == len(piece.word_of) <= most_tokens
        assert (piece.ids[0], piece.ids[-1], piece.word_of[0], piece.word_of[-1]) == (END, END, NO_WORD, NO_WORD)
        whole = encoded([piece.words])[0]
        # Only a word longer than a whole piece loses its end, and then it stands alone.
        assert piece == whole or (len(piece.words) == 1 and whole.ids[: most_tokens - 1] == piece.ids[:-1])
    # As few as there may be: no two neighbours would have fitted together.
    for left, right in pairwise(pieces):
        first_word = encoded([right.words[:1]])[0]
        assert len(left.ids) + len(first_word.ids) - 2 > most_tokens
