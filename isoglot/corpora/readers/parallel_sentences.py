"""Sentences and their translations, in the formats of the sets that representations are compared on (section 5).

One file for both languages:
- `sentence<TAB>sentence`, in the order of the languages;
- columns under a header of language codes, as xnli.15way.orig.tsv;
- the official xnli.dev.tsv and xnli.test.tsv, where each language has rows of its own, paired by pairID.

Two files, one for each language:
- a sentence a line, as Tatoeba;
- `premise<TAB>hypothesis<TAB>label`, the same pair in the same line of both;
- CoNLL-U with `# sent_id` and `# text`, as PUD, paired by sent_id.

Premises come first, each once, and then the hypotheses. A premise of XNLI stands in three pairs, and its 7,500 pairs
are the 10,000 sentences of xnli.15way.orig.tsv.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from isoglot.corpora.readers.inference_pairs import (
    InferencePair,
    inference_pairs,
    is_inference_row,
    is_official_header,
    official_pairs,
)
from isoglot.corpora.readers.language_codes import is_language_code, language_column, language_columns
from isoglot.corpora.readers.line_files import LineFile, tab_columns
from isoglot.errors import IsoglotError

LINES_TO_KNOW_ONE_BY = 100
# The first columns are the number of a word, or of the words a form stands for, and the form.
WORD = re.compile(r"\d+(?:[-.]\d+)?\t[^\t]+(?:\t[^\t]*){8}")
COMMENT = re.compile(r"#\s*(sent_id|text)\s*=(.*)")
SENTENCES, INFERENCE, TREEBANK = "a sentence a line", "premises, hypotheses and labels", "a treebank in CoNLL-U"

Languages = tuple[str, str]
Pairs = list[tuple[str, str]]
Text = tuple[Path, list[str]]  # a file and its lines
Side = TypeVar("Side")


class Parallel(NamedTuple):
    """Sentences with their translations."""

    pairs: Pairs
    num_unpaired: int
    """Sentences, or pairs of premise and hypothesis, that are left out because only their side has the id."""
    texts: Sequence[int]
    """The text that each pair is of, by number: a premise and its hypotheses speak of one thing."""


def read_parallel(paths: Sequence[Path | str], *, languages: Languages) -> Parallel:
    """Sentences of one file that has both languages, or of two files in the order of the languages; none is blank."""
    if languages[0] == languages[1]:
        raise IsoglotError(f"parallel sentences need two languages, not {languages[0]!r} twice")
    match [_text(Path(path)) for path in paths]:
        case [text]:
            found = _pairs_of_one(text, languages)
        case [source, target]:
            found = _pairs_of_two(source, target)
        case texts:
            raise IsoglotError(f"parallel sentences come in one file or in two, not in {len(texts)}")
    if not found.pairs:
        raise IsoglotError(f"{' and '.join(map(str, paths))}: no sentences; at least one pair is needed")
    return found


def _text(path: Path) -> Text:
    with LineFile(path) as file:
        lines = list(file)
    # Blank lines at the end are not taken for sentences that lack a partner.
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise IsoglotError(f"{path}: all lines are blank; it should hold sentences")
    return path, lines


def _pairs_of_one(text: Text, languages: Languages) -> Parallel:
    path, lines = text
    if is_official_header(lines[0]):
        pairs = [official_pairs(lines, path=path, language=language) for language in languages]
        both, unpaired = _by_id(*pairs, where=f"{path}: pairID")
        return _premises_and_hypotheses(both.values(), num_unpaired=unpaired)
    names = lines[0].split("\t")
    width = len(names)
    has_both = all(language_columns(names, language=language) for language in languages)
    is_header = width > 1 and (has_both or all(map(is_language_code, names)))
    if not is_header and width != 2:
        problem = f"{width} columns without names" if width > 1 else "no tab"
        formats = "two columns with a tab between, or a header of language codes, or is XNLI's own"
        raise IsoglotError(f"{path}:1: {problem} in the first line; one file of two languages has {formats}")
    try:
        places = [language_column(names, language=language) for language in languages] if is_header else [0, 1]
    except IsoglotError as error:
        raise IsoglotError(f"{path}:1: {error}") from None
    rows = []
    for number, line in enumerate(lines[is_header:], start=1 + is_header):
        if line.strip():
            fields = tab_columns(line, [width], where=f"{path}:{number}", expected=f"the first line has {width}")
            rows.append((number, fields[places[0]], fields[places[1]]))
    return _one_by_one(_line_pairs(rows, paths=(path, path)))


def _pairs_of_two(*texts: Text) -> Parallel:
    (source, source_lines), (target, target_lines) = texts
    kind, other = _kind(source_lines), _kind(target_lines)
    if kind != other:
        raise IsoglotError(f"{source} holds {kind} and {target} {other}; both should hold the same")
    if kind == TREEBANK:
        both, unpaired = _by_id(*map(_treebank_texts, texts), where=f"{source} and {target}: sent_id")
        return _one_by_one(list(both.values()), num_unpaired=unpaired)
    (shorter, few), (longer, many) = sorted(((path, len(lines)) for path, lines in texts), key=lambda each: each[1])
    if few != many:
        problem = f"no line of {shorter} goes with this one; they have {many} and {few} lines, and should have as many"
        raise IsoglotError(f"{longer}:{few + 1}: {problem}")
    if kind == SENTENCES:
        rows = zip(range(1, few + 1), source_lines, target_lines, strict=True)
        return _one_by_one(_line_pairs(rows, paths=(source, target)))
    sides = [inference_pairs(lines, path=path) for path, lines in texts]
    pairs, unpaired = _by_id(*sides, where=f"{source} and {target}: line number")
    for number, (a, b) in pairs.items():
        if a.label != b.label:
            labels = f"the label is {b.label}, but {a.label} in {source}"
            raise IsoglotError(f"{target}:{number}: {labels}; a pair should stand in the same line of both")
    return _premises_and_hypotheses(pairs.values(), num_unpaired=unpaired)


def _kind(lines: Sequence[str]) -> str:
    # A treebank has a line of a word among its first.
    if any(WORD.fullmatch(line) for line in lines[:LINES_TO_KNOW_ONE_BY]):
        return TREEBANK
    return INFERENCE if is_inference_row(lines[0]) else SENTENCES


def _treebank_texts(text: Text) -> dict[str, str]:
    """The text of each sentence by its id."""
    path, lines = text
    texts: dict[str, str] = {}
    start, comments = 0, dict[str, str]()
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip():
            start = start or number
            if comment := COMMENT.fullmatch(line):
                comments.setdefault(comment[1], comment[2].strip())
        elif start:
            for name in ("sent_id", "text"):
                if not comments.get(name):
                    raise IsoglotError(f"{path}:{start}: the sentence that begins here has no `# {name} = `; add it")
            if comments["sent_id"] in texts:
                raise IsoglotError(f"{path}:{start}: a second sentence {comments['sent_id']!r}; ids should differ")
            texts[comments["sent_id"]] = comments["text"]
            start, comments = 0, {}
    return texts


def _line_pairs(rows: Iterable[tuple[int, str, str]], *, paths: tuple[Path, Path]) -> Pairs:
    """Sentences with the number of their line, which may be blank on both sides."""
    pairs = []
    for number, *row in rows:
        source, target = map(str.strip, row)
        for path, sentence, order in ((paths[0], source, "first"), (paths[1], target, "second")):
            if not sentence and (source or target):
                problem = f"the {order} of the two sentences is blank; add it or drop the other"
                raise IsoglotError(f"{path}:{number}: {problem}")
            if "\t" in sentence:
                raise IsoglotError(f"{path}:{number}: a tab within the line; one sentence a line expected")
        if source:
            pairs.append((source, target))
    return pairs


def _one_by_one(pairs: Pairs, *, num_unpaired: int = 0) -> Parallel:
    return Parallel(pairs, num_unpaired, range(len(pairs)))


def _premises_and_hypotheses(both: Iterable[tuple[InferencePair, InferencePair]], *, num_unpaired: int) -> Parallel:
    both = list(both)
    text_of = {premise: text for text, premise in enumerate(dict.fromkeys((a.premise, b.premise) for a, b in both))}
    pairs = [*text_of, *((a.hypothesis, b.hypothesis) for a, b in both)]
    return Parallel(pairs, num_unpaired, [*text_of.values(), *(text_of[a.premise, b.premise] for a, b in both)])


def _by_id(
    source: Mapping[Any, Side], target: Mapping[Any, Side], *, where: str
) -> tuple[dict[Any, tuple[Side, Side]], int]:
    """The items of both sides in the order of the source, and how many only one side has."""
    both = {key: (side, target[key]) for key, side in source.items() if key in target}
    if not both:
        raise IsoglotError(f"{where}: the two languages have none in common; are these translations of each other?")
    return both, len(source) + len(target) - 2 * len(both)
