r"""Our word splitting as steps of the library tokenizers, so that an exported tokenizer reads raw text.

A step is a regular expression and the text that takes the place of its matches. That text cannot refer to a match, so
`(\d) %` -> `\1%` becomes `(?<=\d) %` -> `%`, and a word is set apart by matches of no width, which become spaces. What
stands before `\K` is no part of a match; unlike `(?<=...)` of no fixed length, it does not search the line again.
Matches of Moses take in the characters beside a mark, ours only look at them: in a chain such as a'b'c'd, Moses misses
every second mark.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from isoglot.corpora.splitters import moses
from isoglot.corpora.splitters.jieba_dictionary import FIRST_HAN, LAST_HAN
from isoglot.corpora.splitters.jieba_words import ALSO_IN_BLOCKS
from isoglot.corpora.splitters.marks import CONTROLS, PLAIN_MARKS, WORD
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting

if TYPE_CHECKING:
    from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    from tokenizers.normalizers import Normalizer

Step = tuple[str, str]
"""A regular expression of Oniguruma, which the library uses, and what is written for its matches."""
# A space before every line. The library would lose track of one that a match of no width writes there, and later panic.
START: Step = ("", " ")

# Where str.split parts words: what Oniguruma calls white space, and four separators that only Python counts.
WHITE_SPACE = r"\s\x1c-\x1f"
CUT_BEFOREHAND = (Splitter.JIEBA, Splitter.COMMAND)
"""Splitters of which the library can do a part at most: their users cut lines into words first."""


def word_normalizer(splitting: WordSplitting) -> "Normalizer":
    """Rewrite a line so that white space stands between its words."""
    from tokenizers import Regex, normalizers

    steps = [
        normalizers.Prepend(written) if (pattern, written) == START else normalizers.Replace(Regex(pattern), written)
        for pattern, written in _steps(splitting)
    ]
    return normalizers.Sequence([*steps, *([normalizers.Lowercase()] if splitting.lowercase else [])])


def _steps(splitting: WordSplitting) -> list[Step]:
    match splitting.splitter:
        case Splitter.MOSES | Splitter.MOSES_PERL_QUOTES:
            perl_quotes = splitting.splitter is Splitter.MOSES_PERL_QUOTES
            return _moses_steps(splitting.language, perl_quotes=perl_quotes)
        case Splitter.JIEBA:
            # The steps after the dictionary: outside of blocks each character is a word, which is then made plain.
            blocks = _characters([*map(chr, range(FIRST_HAN, LAST_HAN + 1)), *ALSO_IN_BLOCKS])
            return [START, _apart(f"[^{blocks}{WHITE_SPACE}]"), *_plain_steps(for_controls=" ")]
        case Splitter.CHARACTERS:
            word = re.sub(r"\\[uU]([0-9a-f]{4,8})", r"\\x{\1}", WORD.pattern).replace(r"\s", WHITE_SPACE)
            return [*_plain_steps(for_controls=""), (f"(?:{word})\\K", " ")]
        case Splitter.WHITESPACE | Splitter.COMMAND:
            return []


def _characters(characters: Iterable[str]) -> str:
    """The inside of a set, as ranges: "abcx" gives a-c and x by their numbers."""
    ranges: list[list[int]] = []
    for code in sorted({*map(ord, characters)}):
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges)


def _apart(symbol: str) -> Step:
    return f"(?={symbol})|(?<={symbol})", " "


def _plain_steps(*, for_controls: str) -> list[Step]:
    """Steps that do what `marks.plain` does."""
    marks = defaultdict[str, str](str)
    for code, plain in PLAIN_MARKS.items():
        marks[plain] += chr(code)
    controls = _characters(chr(code) for codes in CONTROLS for code in codes)
    return [*((f"[{_characters(of_one)}]", plain) for plain, of_one in marks.items()), (f"[{controls}]", for_controls)]


@cache
def _moses_steps(language: str, *, perl_quotes: bool) -> list[Step]:
    """The chain of `moses.split_lines`, rule by rule."""
    _, tokenizer = moses.sacremoses_rules(language)
    letters, numbers, lower_case = map(_characters, (tokenizer.IsAlpha, tokenizer.IsN, tokenizer.IsLower))
    kept = f"{_characters(tokenizer.IsAlnum)} .'`,\\-"
    rules = moses.normalizing_rules(language, perl_quotes=perl_quotes)
    return [
        *(step for pattern, template in rules for step in _looking(str(pattern), template)),
        # From here on a line has this space before it, to the end.
        START,
        (f"[{_moses_controls()}&&[^{kept}]]", ""),
        (rf"[{WHITE_SPACE}]", " "),
        _apart(f"[^{kept}]"),
        (r" +\z|(?<= ) +", ""),
        (r"(?<!\.)(?=\.\.)|(?<=\.\.)(?!\.)", " "),
        (f",(?![{numbers}])|(?<=.[^{numbers}]),", " , "),
        *_apostrophe_steps(tokenizer.lang, letters=letters, numbers=numbers),
        (_last_period(tokenizer, letters=letters, lower_case=lower_case), " ."),
        (r"\.'(?= *\z)", " . '"),
    ]


@cache
def _moses_controls() -> str:
    # Written out, as a category of Unicode grows with the editions that the libraries come with.
    every = "".join(map(chr, chain(range(0xD800), range(0xE000, 0x110000))))
    normalizer, _ = moses.sacremoses_rules("en")
    return _characters(set(every) - set(normalizer.remove_control_chars(every)))


_LOOKING = re.compile(r"(?:\(([^()]+)\))?((?:\\.|[^()\\])*)(?:\(([^()]+)\))?")


def _looking(pattern: str, template: str) -> list[Step]:
    """A rule of sacremoses, looking at the groups at its two ends instead of matching and repeating them."""
    # Two rules move a mark to the other side of others: it is written there, and then removed here.
    match pattern:
        case r'"([,.]+)':
            return [(r'"[,.]+\K', '"'), (r'"(?=[,.])', "")]
        case moses.SWAP:
            return [(r'(?<!\.)\.(?=\.*"[^<])', '".'), (r'(?<=\.)"(?=[^<])', "")]
        case moses.SWAP_AT_END:
            return [(r'(?<!\.)\.(?=\.*"(?!<))', '".'), (r'(?<=\.)"(?!<)', "")]
    parts = _LOOKING.fullmatch(pattern)
    literal = re.sub(r"\\g<\d>", "", template)
    if parts is None or "\\" in literal:
        problem = f"sacremoses has a rule that an export does not know, {pattern!r} to {template!r}"
        raise IsoglotError(f"{problem}; get the version that isoglot was tested with: pip install sacremoses==0.2.0")
    before, middle, after = parts.groups()
    looks_back, looks_on = f"(?<={before})" if before else "", f"(?={after})" if after else ""
    return [(looks_back + middle + looks_on, literal)]


def _apostrophe_steps(language: str, *, letters: str, numbers: str) -> list[Step]:
    if language not in ("en", "fr", "it"):
        return [("'", " ' ")]
    # The match of an apostrophe hides the next one where a single character is between them: in "rock'n'roll" the
    # second stays where it is, in " '5' " too. An apostrophe that opens or ends the line is no match.
    alone = f"(?<=.[^{letters}])(?<!.[^{letters}]'[^{letters}'])'(?=[^{letters}])"
    lone = f"{alone}|(?<=[{letters}])'(?=[^{letters}])"
    inside = f"(?<=[{letters}])(?<![{letters}]'[{letters}])'(?=[{letters}])"
    if language == "en":
        opening = f"(?<=.[^{letters}{numbers}])'(?=[{letters}])"
        return [(f"{lone}|{opening}", " ' "), (f"{inside}|(?<=[{numbers}])'(?=s)", " '")]
    return [(f"{lone}|(?<=.[^{letters}])'(?=[{letters}])", " ' "), (inside, "' ")]


def _last_period(tokenizer: "MosesTokenizer", *, letters: str, lower_case: str) -> str:
    """The last period of a word, which a space is before; not an abbreviation's, and not before one in lower case."""
    before_numbers = frozenset(tokenizer.NUMERIC_ONLY_PREFIXES)
    abbreviations = {word for word in tokenizer.NONBREAKING_PREFIXES if " " not in word} - before_numbers

    def any_of(words: Iterable[str]) -> str:
        return "|".join(re.escape(word) for word in sorted(words))

    candidate = r"[^ ]*[^ .]\.(?: |\z)"
    exceptions = [
        rf"(?=[^ ]*[{letters}])[^ ]*\.[^ ]*\.(?: |\z)",
        *([rf"(?:{any_of(abbreviations)})\.(?: |\z)"] if abbreviations else []),
        *([rf"(?:{any_of(before_numbers)})\. +[0-9]"] if before_numbers else []),
    ]
    return rf" (?={candidate})(?!{'|'.join(exceptions)})[^ ]+\K\.(?= |\z)(?! +[{lower_case}])"
