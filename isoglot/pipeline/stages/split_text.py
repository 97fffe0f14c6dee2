"""A text as words, cut into what is trained on and what is held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from isoglot.corpora.numbered_text import Cut, NumberedText, Split, write_numbered_text
from isoglot.machine import num_workers
from isoglot.pipeline.stages.job_sizes import for_text
from isoglot.pipeline.stages.text import AnyText, FileText, gigabytes, text_lines
from isoglot.randomness import derived_seed
from isoglot.store import Amount, Resources, Stage, Work
from isoglot.study.languages import Splitter, WordSplitting


@dataclass(frozen=True, kw_only=True)
class SplitText(Stage):
    """Shuffled lines of words for training, with dev and test lines held out before anything is learned from them."""

    kind: ClassVar[str] = "split-text"
    language: str
    text: AnyText
    splitting: WordSplitting
    splitter_version: str
    """So that words found by another version of a library are other words."""
    dev_lines: int
    test_lines: int
    most_words: int | None = None
    """To train on."""
    no_larger_than: SplitText | None = None
    """A text that has at least as many words to train on."""

    @property
    def title(self) -> str:
        return f"words of {self.language}, {self.text.title.removeprefix('text of ')}"

    @property
    def is_of_other_domain(self) -> bool:
        return self.no_larger_than is not None

    def amount(self) -> Amount | None:
        if not isinstance(self.text, FileText):
            return None
        return Amount(units=sum(file.num_bytes for file in self.text.files), of="bytes")

    def resources(self) -> Resources:
        return for_split_texts(self)

    def make(self, work: Work) -> None:
        limits = [self.most_words] if self.most_words is not None else []
        if self.no_larger_than is not None:
            # Departure: texts of one size have as many words, and one that has too few is taken whole.
            limits.append(NumberedText.read(work.path(self.no_larger_than)).num_words(Split.TRAIN))
        # To hand lines to another process takes longer than to cut them at white space.
        workers = 1 if self.splitting.splitter is Splitter.WHITESPACE else num_workers()
        write_numbered_text(
            work.folder,
            text_lines(self.text, work),
            splitting=self.splitting,
            cut=Cut(
                dev_lines=self.dev_lines,
                test_lines=self.test_lines,
                seed=derived_seed("split", self.language),
                most_words=min(limits, default=None),
            ),
            workers=workers,
        )


def for_split_texts(*texts: SplitText) -> Resources:
    """To go through the words of these."""
    return for_text(sum(gigabytes(text.text) for text in texts))
