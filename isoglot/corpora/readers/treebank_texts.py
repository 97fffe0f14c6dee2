"""The running text of the sentences of a treebank in CoNLL-U: what its `# sent_id` and `# text` lines say."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from isoglot.errors import IsoglotError

LINES_TO_KNOW_ONE_BY = 100
# The first columns are the number of a word, or of the words a form stands for, and the form.
WORD = re.compile(r"\d+(?:[-.]\d+)?\t[^\t]+(?:\t[^\t]*){8}")
COMMENT = re.compile(r"#\s*(sent_id|text)\s*=(.*)")


def is_treebank(lines: Sequence[str]) -> bool:
    """Whether the lines are CoNLL-U: among the first is one of a word."""
    return any(WORD.fullmatch(line) for line in islice(lines, LINES_TO_KNOW_ONE_BY))


def treebank_texts(lines: Sequence[str], *, path: Path) -> dict[str, str]:
    """Each sentence's text by its id."""
    texts: dict[str, str] = {}
    for number, comments in _comments(lines):
        for name in ("sent_id", "text"):
            if not comments.get(name):
                raise IsoglotError(f"{path}:{number}: the sentence that begins here has no `# {name} = ` line; add one")
        if comments["sent_id"] in texts:
            raise IsoglotError(f"{path}:{number}: a second sentence {comments['sent_id']!r}; ids should differ")
        texts[comments["sent_id"]] = comments["text"]
    return texts


def _comments(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The line that each sentence begins at, and what its comments say."""
    begun, comments = 0, dict[str, str]()
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip():
            begun = begun or number
            if comment := COMMENT.fullmatch(line):
                comments.setdefault(comment[1], comment[2].strip())
        elif begun:
            yield begun, comments
            begun, comments = 0, {}
