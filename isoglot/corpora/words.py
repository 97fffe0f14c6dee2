"""Lines of text as words, by the rules of their language."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import assert_never

from isoglot.corpora.user_commands import UserCommand
from isoglot.study.languages import Splitter, WordSplitting

# Splitters are imported when a line is split: planning a study needs none of them.


def split_lines(lines: Sequence[str], splitting: WordSplitting) -> list[list[str]]:
    """The words of each line; many lines at once are much faster than one."""
    from isoglot.corpora.splitters import jieba_words, marks, moses

    match splitting.splitter:
        case Splitter.WHITESPACE:
            words = [line.split() for line in lines]
        case Splitter.MOSES:
            words = moses.split_lines(lines, language=splitting.language)
        case Splitter.MOSES_PERL_QUOTES:
            words = moses.split_lines(lines, language=splitting.language, perl_quotes=True)
        case Splitter.JIEBA:
            words = jieba_words.split_lines(lines)
        case Splitter.CHARACTERS:
            words = marks.split_lines(lines)
        case Splitter.COMMAND:
            words = _command_words(lines, splitting.command)
        case _:
            assert_never(splitting.splitter)
    return [[word.lower() for word in line] for line in words] if splitting.lowercase else words


def _command_words(lines: Sequence[str], command: Sequence[str]) -> list[list[str]]:
    """The words that a command finds, with white space between them; it starts once, and blank lines are not given."""
    # White space within a line might be a line end to the program.
    texts = [" ".join(line.split()) for line in lines]
    given = [text for text in texts if text]
    answers = iter(_word_command(command).answers(given) if given else [])
    return [next(answers).split() if text else [] for text in texts]


def _word_command(command: Sequence[str]) -> UserCommand:
    return UserCommand(
        words=tuple(command),
        name=f"the command {command[0]!r} of the study's [words]",
        task="each line must give one line of words",
    )


def whole_words(words: Sequence[str], splitting: WordSplitting) -> tuple[str, ...]:
    """Words that other people found, as treebanks have them, with the marks and the case that the splitter writes."""
    from isoglot.corpora.splitters.marks import plain

    if splitting.splitter not in (Splitter.WHITESPACE, Splitter.COMMAND):
        words = [plain(word) or word for word in words]
    return tuple(word.lower() for word in words) if splitting.lowercase else tuple(words)


# A large study asks thousands of times, and each time the library's metadata would be read from the disk.
_version = cache(version)


def splitter_version(splitting: WordSplitting) -> str:
    """The library's version, or a digest of the program, which decide about words as the settings do."""
    match splitting.splitter:
        case Splitter.MOSES | Splitter.MOSES_PERL_QUOTES:
            return f"sacremoses {_version('sacremoses')}"
        case Splitter.JIEBA:
            return f"jieba {_version('jieba')}"
        case Splitter.COMMAND:
            return _word_command(splitting.command).version()
        case Splitter.WHITESPACE | Splitter.CHARACTERS:
            return "isoglot 1"
