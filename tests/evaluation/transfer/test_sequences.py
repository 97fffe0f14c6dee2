"""The ids that a model reads of an example, and which position stands for which word."""

import random
from collections.abc import Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import END, UNK, Vocabulary, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.bio_tags import TaggedSentence
from isoglot.evaluation.transfer.conllu import Tree
from isoglot.evaluation.transfer.sequences import Sequences, encoded, target_columns
from isoglot.evaluation.transfer.task import IGNORE, Windows
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.evaluation.transfer.tasks.nli import Inference
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.study.conditions import TableKind
from tests.evaluation.transfer.tiny_transfer import LETTERS, letter_encoding, vocabulary

WORDS = st.text(LETTERS, min_size=1, max_size=6)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=4)
ROOMS = st.integers(4, 16)


def ids(words: Sequence[str]) -> list[int]:
    """The tokens of words whose every letter is one."""
    known = vocabulary().ids("en")
    return [known[letter] for word in words for letter in (*word[:-1], word[-1] + "</w>")]


def size(words: Sequence[Sequence[int]]) -> int:
    return sum(map(len, words))


def tagged(*sentences: Sequence[str]) -> list[TaggedSentence]:
    return [TaggedSentence(words=tuple(words), tags=("O",) * len(words)) for words in sentences]


def trees(*sentences: Sequence[str], seed: int = 0) -> list[Tree]:
    """Any heads, which may be no tree."""
    draw = random.Random(seed)
    return [
        Tree(
            words=tuple(words),
            upos=("X",) * len(words),
            heads=tuple(draw.randint(0, len(words)) for _ in words),
            relations=tuple(draw.choice(["det", "nsubj", "root"]) for _ in words),
        )
        for words in sentences
    ]


def pair(premise: str, hypothesis: str) -> Inference:
    return Inference(premise=tuple(premise.split()), hypothesis=tuple(hypothesis.split()), label="neutral")


def tokens(sequences: Sequences, n: int) -> list[int]:
    start = sequences.start_N[n]
    return sequences.token_T[start : start + sequences.length_N[n]].tolist()


def test_a_sentence_has_an_end_symbol_on_either_side_and_first_subwords_stand_for_words() -> None:
    sequences = encoded(NER, tagged(["abc", "d", "ef"], ["g"]), encoding=letter_encoding(), most_tokens=20)
    assert sequences.token_T.tolist() == [END, *ids(["abc", "d", "ef"]), END, END, *ids(["g"]), END]
    assert sequences.point_T.tolist() == [bool(int(digit)) for digit in "01001100" + "010"]
    assert [sequences.places(n).tolist() for n in range(2)] == [[1, 4, 5], [1]]
    assert (sequences.start_N.tolist(), sequences.length_N.tolist()) == ([0, 8], [8, 3])
    assert sequences.num_in_parts == 0


def test_a_pair_is_one_sequence_and_its_first_position_stands_for_it() -> None:
    sequences = encoded(NLI, [pair("ab c", "d"), pair("e", "f")], encoding=letter_encoding(), most_tokens=20)
    assert tokens(sequences, 0) == [END, *ids(["ab", "c"]), END, *ids(["d"]), END]
    assert tokens(sequences, 1) == [END, *ids(["e"]), END, *ids(["f"]), END]
    assert [sequences.places(n).tolist() for n in range(2)] == [[0], [0]]
    target_CT = target_columns(NLI, [pair("ab c", "d"), pair("e", "f")], sequences, {"neutral": 7})
    assert target_CT.tolist() == [[7] + [IGNORE] * 6 + [7] + [IGNORE] * 4]


def test_words_are_cut_by_the_merges_and_numbered_by_the_table_of_the_language() -> None:
    own = build_vocabulary(
        TableKind.SEPARATE,
        counts={"en": Bpe(merges=()).subword_counts({"ab": 1}), "fr": Bpe(merges=()).subword_counts({"zab": 1})},
    )
    merged = Vocabulary(kind=TableKind.SEPARATE, tables={**own.tables, "fr": (*own.tables["fr"], "ab</w>")})
    bpe = Bpe(merges=(("a", "b</w>"),))
    for language, expected in (("en", [UNK]), ("fr", [len(own.tables["fr"])])):
        encoding = Encoding(language=language, bpe=bpe, vocabulary=merged)
        sequences = encoded(NER, tagged(["ab"]), encoding=encoding, most_tokens=9)
        assert tokens(sequences, 0) == [END, *expected, END]


def test_no_examples_are_an_error() -> None:
    with pytest.raises(IsoglotError, match="no examples"):
        encoded(NER, [], encoding=letter_encoding(), most_tokens=9)


@given(sentences=SENTENCES, most_tokens=ROOMS, task=st.sampled_from([NER, PARSING]))
def test_windows(sentences: list[list[str]], most_tokens: int, task: type) -> None:
    examples = tagged(*sentences) if task is NER else trees(*sentences)
    sequences = encoded(task, examples, encoding=letter_encoding(), most_tokens=most_tokens)
    room = most_tokens - 2
    labelled = []
    for n, (example, window) in enumerate(zip(sequences.example_N.tolist(), sequences.window_N, strict=True)):
        cut = [word[:room] for word in sentences[example]]
        subwords = [ids([word])[:room] for word in sentences[example]]
        # No sequence is too long; it holds its words and nothing else, and a point for each at its first subword.
        assert sequences.length_N[n] <= most_tokens
        read = subwords[window.first : window.stop]
        assert tokens(sequences, n) == [END, *(token for each in read for token in each), END]
        assert sequences.places(n).tolist() == [1 + sum(map(len, read[:word])) for word in range(len(read))]
        assert window.first <= window.scored < window.stop
        labelled += [(example, word) for word in range(window.scored, window.stop)]
        # No window stops before it must.
        size = sum(map(len, read))
        assert window.stop == len(cut) or size + len(cut[window.stop]) > room
        # Context is as much as half of the room holds, if the first new word still has its place behind it.
        context = sum(map(len, cut[window.first : window.scored]))
        most = min(room // 2, room - len(cut[window.scored])) if task.windows is Windows.OVERLAPPING else 0
        assert context <= most
        if window.first > 0 and task.windows is Windows.OVERLAPPING:
            assert context + len(cut[window.first - 1]) > most
    assert labelled == [(example, word) for example, words in enumerate(sentences) for word in range(len(words))]
    in_parts = [example for example in range(len(sentences)) if sequences.example_N.tolist().count(example) > 1]
    assert sequences.num_in_parts == len(in_parts)


def test_overlapping_windows_by_hand() -> None:
    """Room for six: half of it is context, or less where the next word needs more than the other half."""
    words = ["a", "bbbb", "cccc", "d", "e", "f", "gggg"]
    sequences = encoded(NER, tagged(words), encoding=letter_encoding(), most_tokens=8)
    windows = [(window.first, window.scored, window.stop) for window in sequences.window_N]
    assert windows == [(0, 0, 2), (2, 2, 5), (3, 5, 6), (4, 6, 7)]
    assert tokens(sequences, 3) == [END, *ids(["e", "f", "gggg"]), END]
    tags = TaggedSentence(words=tuple(words), tags=("O", "B-A", "I-A", "O", "B-B", "O", "B-A"))
    target_CT = target_columns(NER, [tags], sequences, {"O": 0, "B-A": 1, "I-A": 2, "B-B": 3})
    x = IGNORE
    assert target_CT.tolist() == [
        [*(x, 0, 1, x, x, x, x), *(x, 2, x, x, x, 0, 3, x), *(x, x, x, 0, x), *(x, x, x, 1, x, x, x, x)]
    ]


@given(sentences=SENTENCES, most_tokens=ROOMS, seed=st.integers(0, 9))
def test_targets_of_parsing_in_parts(sentences: list[list[str]], most_tokens: int, seed: int) -> None:
    """Word by word: where is its head in the part that it is in?"""
    examples, relations = trees(*sentences, seed=seed), {"det": 0, "nsubj": 1, "root": 2}
    sequences = encoded(PARSING, examples, encoding=letter_encoding(), most_tokens=most_tokens)
    expected: list[list[int]] = [[], []]
    for n, (example, window) in enumerate(zip(sequences.example_N.tolist(), sequences.window_N, strict=True)):
        tree = examples[example]
        position = {}
        for word in range(window.first + 1, window.stop + 1):
            before = tree.words[window.first : word - 1]
            position[word] = 1 + sum(min(len(each), most_tokens - 2) for each in before)
        heads, kinds = [IGNORE] * sequences.length_N[n], [IGNORE] * sequences.length_N[n]
        for word, at in position.items():
            head = tree.heads[word - 1]
            if head == 0 or head in position:
                heads[at] = 0 if head == 0 else position[head]
                kinds[at] = relations[tree.relations[word - 1]]
        expected[0] += heads
        expected[1] += kinds
    assert target_columns(PARSING, examples, sequences, relations).tolist() == expected


@given(
    premise=st.lists(WORDS, min_size=1, max_size=9),
    hypothesis=st.lists(WORDS, min_size=1, max_size=9),
    most_tokens=ROOMS,
)
def test_pairs_are_cut_a_word_at_a_time_where_they_are_longer(
    premise: list[str], hypothesis: list[str], most_tokens: int
) -> None:
    example = pair(" ".join(premise), " ".join(hypothesis))
    sequences = encoded(NLI, [example], encoding=letter_encoding(), most_tokens=most_tokens)
    whole = [[ids([word]) for word in words] for words in (premise, hypothesis)]
    left, right, room = *map(list, whole), most_tokens - 3
    if size(left) + size(right) > room:
        left, right = ([word[: max(room // 2, 1)] for word in words] for words in (left, right))
    while size(left) + size(right) > room:
        (left if size(left) >= size(right) else right).pop()
    assert tokens(sequences, 0) == [END, *chain.from_iterable(left), END, *chain.from_iterable(right), END]
    assert sequences.num_in_parts == ([left, right] != whole)
    assert room < 2 or min(len(left), len(right)) > 0
    assert sequences.places(0).tolist() == [0]
    assert target_columns(NLI, [example], sequences, {"neutral": 1}).tolist() == [
        [1] + [IGNORE] * (len(sequences.token_T) - 1)
    ]
