"""Words as XLM's tools/tokenize.sh finds them with the scripts of Moses: those of sacremoses, many lines at a time."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, reduce
from typing import TYPE_CHECKING

from isoglot.corpora.in_parallel import line_batches

if TYPE_CHECKING:
    from sacremoses import MosesPunctNormalizer, MosesTokenizer  # type: ignore[import-untyped]

Rule = tuple[str | re.Pattern[str], str]
"""A pattern and the template of its replacement, as sacremoses has them."""
Rewriting = Callable[[str], str]
"""Lines in, lines out, with a line end before each and after the last; no line knows of another."""

REMEMBERED = 1 << 14
# Longer ones are rare, and text could make the memory of them as large as it likes.
LONGEST_REMEMBERED = 5

_ATOM = re.compile(
    r"""(?:\\[ds]|\[[^]]*\])[*+]?           # any character of a set, or many
    |[()]
    |(?:\\\W|[^][\\(){}.*+?^$|])[*+]
    |\\(\W)|([^][\\(){}.*+?^$|])            # one that stands for itself
    """,
    re.VERBOSE,
)


def rewriting(rules: Iterable[Rule]) -> Rewriting:
    """Rules one after the other, each only where it can match at all."""
    steps = [_step(re.compile(pattern).pattern.replace(r"\r", "\r"), template) for pattern, template in rules]
    return lambda text: reduce(lambda changed, step: step(changed), steps, text)


def _step(pattern: str, template: str) -> Rewriting:
    if (pattern, template) == (" +", " "):
        spaces = re.compile("  +")
        return lambda text: spaces.sub(" ", text) if "  " in text else text
    trigger = _literal(pattern)
    # One character is found many times faster than two, and the highest is likely the rarest.
    rarest = max(trigger, default="")
    if re.sub(r"\\(\W)", r"\1", pattern) == trigger and "\\" not in template:
        return lambda text: text.replace(trigger, template) if rarest in text else text
    rewritten = _rewritten_line(pattern, template)
    return lambda text: _where(trigger, rewritten, text) if rarest in text else text


def _literal(pattern: str) -> str:
    r"""The longest string that every match holds: " %" for "(\d) %", "" for a pattern that is not understood."""
    pattern = pattern.replace("|$)", ")")
    atoms = list(_ATOM.finditer(pattern))
    if "".join(atom[0] for atom in atoms) != pattern:
        return ""
    return max("".join(atom[1] or atom[2] or "\n" for atom in atoms).split("\n"), key=len)


def _rewritten_line(pattern: str, template: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)
    if not pattern.startswith(r'(\.+)"'):
        return lambda line: compiled.sub(template, line)
    # A run of dots without what must follow is passed over whole: to try each of its dots takes minutes on a long one.
    passing = re.compile(pattern.replace('"', '(?:"', 1) + ")?")
    return lambda line: passing.sub(
        lambda match: match[0] if match.end() == match.end(1) else match.expand(template), line
    )


def _where(trigger: str, rewritten: Callable[[str], str], text: str) -> str:
    pieces = ["\n"]
    done = 1
    while done < len(text) and (place := text.find(trigger, done)) >= 0:
        start, end = text.rindex("\n", 0, place) + 1, text.index("\n", place)
        pieces += [text[done:start], rewritten(text[start:end]), "\n"]
        done = end + 1
    return "".join(pieces) + text[done:]


def local_rewriting(rules: Iterable[Rule], *, marks: str) -> Rewriting:
    """Rules that look one character to either side of a mark: tried once on each neighbourhood, then remembered.

    One match of the marks must hold all that stand so close together that a rule's match may take in two of them.
    """
    compiled = [(re.compile(pattern), template) for pattern, template in rules]

    def rewritten(neighbourhood: str) -> str:
        before, after = (character != "\n" for character in (neighbourhood[0], neighbourhood[-1]))
        text = neighbourhood.strip("\n")
        for pattern, template in compiled:
            text = pattern.sub(template, text)
        return text[before : len(text) - after]

    remembered = lru_cache(maxsize=REMEMBERED)(rewritten)

    def around(match: re.Match[str]) -> str:
        start, end = match.span()
        neighbourhood = match.string[start - 1 : end + 1]
        return remembered(neighbourhood) if len(neighbourhood) <= LONGEST_REMEMBERED else rewritten(neighbourhood)

    pattern_of_marks = re.compile(marks)
    return lambda text: pattern_of_marks.sub(around, text)


BATCH_CHARACTERS = 1 << 17


def split_lines(lines: Sequence[str], *, language: str, perl_quotes: bool = False) -> list[list[str]]:
    """The words of each line; a blank line has none."""
    steps = _chain(language, perl_quotes=perl_quotes)
    words: list[list[str]] = []
    # To every rule a line end within a line is like any other control character that is white space.
    for batch in line_batches((line.replace("\n", "\v") for line in lines), characters=BATCH_CHARACTERS):
        text = "\n" + "\n".join(batch) + "\n"
        for step in steps:
            text = step(text)
        words += map(str.split, text.split("\n")[1:-1])
    return words


@cache
def sacremoses_rules(language: str) -> tuple["MosesPunctNormalizer", "MosesTokenizer"]:
    """Objects that hold the rules of both scripts, the normalizer's as XLM uses it."""
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    # Departure: sacremoses stands for the Perl scripts. It drops control characters where they leave a space, swaps
    # quotes with commas in fewer languages, and lacks their rules for the colon, the middle dot and the last word.
    normalizer = MosesPunctNormalizer(
        lang=language,
        penn=True,  # what the script does when -penn is not given, as XLM does not
        perl_parity=True,  # without it, "fin.\xa0»\xa0Puis" has the word ".Puis"; the script keeps a space
        pre_replace_unicode_punct=True,
        post_remove_control_chars=True,
    )
    return normalizer, MosesTokenizer(lang=language)


SWAP, SWAP_AT_END = r'(\.+)"(\s*[^<])', r'(\.+)"(\s*[^<]|$)'
"""In German, French and Spanish: the period after the quote. The second finds one that ends the line as well."""


def normalizing_rules(language: str, *, perl_quotes: bool) -> list[Rule]:
    """With the Perl script's quotes, a last one is swapped too: the script sees the line end after it."""
    normalizer, _ = sacremoses_rules(language)
    rules = [*normalizer.REPLACE_UNICODE_PUNCTUATION, *normalizer.substitutions]
    written = ((re.compile(pattern).pattern, template) for pattern, template in rules)
    return [(SWAP_AT_END if perl_quotes and pattern == SWAP else pattern, template) for pattern, template in written]


@cache
def _chain(language: str, *, perl_quotes: bool) -> tuple[Rewriting, ...]:
    normalizer, tokenizer = sacremoses_rules(language)
    return (
        rewriting(normalizing_rules(language, perl_quotes=perl_quotes)),
        _symbols_apart(tokenizer.IsAlnum, printing=normalizer.remove_control_chars),
        lambda text: re.sub("  +", " ", text).replace("\n ", "\n").replace(" \n", "\n"),
        lambda text: " ".join(re.split(r"(\.\.+)", text)) if ".." in text else text,
        local_rewriting([getattr(tokenizer, f"COMMA_SEPARATE_{number}") for number in (1, 2, 3)], marks=",,*"),
        _apostrophes_apart(tokenizer),
        _periods_apart(tokenizer),
        lambda text: re.sub(r"\.'(?= *\n)", " . '", text) if ".'" in text else text,
        # sacremoses writes a run of dots as such a word for a while, and takes one in the text for its own.
        lambda text: tokenizer.restore_multidots(text) if "DOTMULTI" in text else text,
    )


def _symbols_apart(alphanumeric: str, *, printing: Callable[[str], str]) -> Rewriting:
    """Control characters gone, white space as spaces, and every other character that no word holds set apart."""
    symbol = re.compile(f"([^{re.escape(alphanumeric)} \n.'`,-])")

    @lru_cache(maxsize=REMEMBERED)
    def apart(character: str) -> str:
        if not printing(character):
            return ""
        return " " if character.isspace() else f" {character} "

    def rewritten(text: str) -> str:
        pieces = symbol.split(text)
        pieces[1::2] = map(apart, pieces[1::2])
        return "".join(pieces)

    return rewritten


def _apostrophes_apart(tokenizer: "MosesTokenizer") -> Rewriting:
    # With what stands between two of them: "rock'n'roll" has its second hidden by a match of the first.
    marks = "'(?:[^\n]?')*"
    if tokenizer.lang == "en":
        return local_rewriting(tokenizer.ENGLISH_SPECIFIC_APOSTROPHE, marks=marks)
    if tokenizer.lang in ("fr", "it"):
        return local_rewriting(tokenizer.FR_IT_SPECIFIC_APOSTROPHE, marks=marks)
    return rewriting([tokenizer.NON_SPECIFIC_APOSTROPHE])


def _periods_apart(tokenizer: "MosesTokenizer") -> Rewriting:
    """A word's last period set apart, but not an abbreviation's and not before a word in lower case."""
    before_numbers = frozenset(tokenizer.NUMERIC_ONLY_PREFIXES)
    abbreviations = frozenset(tokenizer.NONBREAKING_PREFIXES) - before_numbers
    letters, lower_case = frozenset(tokenizer.IsAlpha), frozenset(tokenizer.IsLower)

    def period(match: re.Match[str]) -> str:
        text, place, following = match.string, match.start(), match[1]
        word = text[text.rfind(" ", 0, place) + 1 : place]
        stays = (
            following in lower_case
            or word in abbreviations
            or (following in "0123456789" and word in before_numbers)
            or ("." in word and not letters.isdisjoint(word))
        )
        return "." if stays else " ."

    last = re.compile(r"\.(?<=[^ .]\.)(?= +(.))", re.DOTALL)
    return lambda text: last.sub(period, text.replace("\n", " \n "))
