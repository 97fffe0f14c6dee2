"""Word alignments from a program of the user's own: sentence pairs in, Pharaoh lines out."""

from collections.abc import Sequence

from isoglot.corpora.user_commands import UserCommand
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.word_alignment import Link, SentencePair, pharaoh_links

BETWEEN_SENTENCES = "|||"


def externally_aligned(pairs: Sequence[SentencePair], *, command: Sequence[str]) -> list[list[Link]]:
    """The links that the command finds, in order; a pair with a side without words has none and is not shown to it.

    The command reads all pairs from its standard input, a line "a b ||| c d" each, in UTF-8, and writes as many lines
    "0-0 1-2", source words first. Symmetrization is its own affair.
    """
    told = [pair for pair in pairs if pair[0] and pair[1]]
    answers = iter(_answers(told, command=command) if told else [])
    return [next(answers) if pair[0] and pair[1] else [] for pair in pairs]


def aligner_version(command: Sequence[str]) -> str:
    """What a command is known by."""
    return _aligner(command).version()


def _answers(pairs: Sequence[SentencePair], *, command: Sequence[str]) -> list[list[Link]]:
    aligner = _aligner(command)
    lines = aligner.answers([f"{_shown(source)} {BETWEEN_SENTENCES} {_shown(target)}" for source, target in pairs])
    return [
        _links(line, pair, at=f"{aligner.name}, line {number} of its output")
        for number, (line, pair) in enumerate(zip(lines, pairs, strict=True), start=1)
    ]


def _links(line: str, pair: SentencePair, *, at: str) -> list[Link]:
    try:
        links = pharaoh_links(line)
    except ValueError as error:
        raise IsoglotError(f"{at}: {error}; write links of source and target words, counted from 0") from error
    for source, target in links:
        if source >= len(pair[0]) or target >= len(pair[1]):
            raise IsoglotError(
                f"{at}: link {source}-{target} is out of range, as the sentences have {len(pair[0])} and "
                f"{len(pair[1])} words; count words from 0, source words first"
            )
    return sorted(set(links))


def _shown(words: Sequence[str]) -> str:
    """Words that the program will count as many of: none that is two to it, or the mark between sentences."""
    return " ".join("_".join(word.split()) or "_" if word != BETWEEN_SENTENCES else "|" for word in words)


def _aligner(command: Sequence[str]) -> UserCommand:
    if not command:
        raise IsoglotError("the aligner is an empty command; name a program and its arguments")
    return UserCommand(
        words=tuple(command),
        name=f"the aligner {command[0]!r}",
        task="each sentence pair must give one line of links",
    )
