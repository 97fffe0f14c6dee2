"""Text of one language, made up or read, cut into what is trained on and what is held out."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.artifacts import Amount, Stage, Work
from isoglot.conditions import Domain
from isoglot.corpora.streams import Split, cut_lines
from isoglot.languages import SyntheticLanguage, World
from isoglot.randomness import derived_seed
from isoglot.synthetic import draw_meanings, realise

LINES = "lines.txt"


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends."""
    # Neither splitlines nor read_text, which know more line ends than write_lines does.
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def write_lines(path: Path, lines: list[str]) -> None:
    """The same bytes on every platform."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


@dataclass(frozen=True, kw_only=True)
class SyntheticText(Stage):
    """Monolingual text of a made-up language; each language's meanings are drawn apart from every other's."""

    kind: ClassVar[str] = "text"
    world: World
    language: SyntheticLanguage
    domain: Domain
    sentences: int

    @property
    def title(self) -> str:
        return f"text of {self.language.name}, {self.domain.value} domain"

    def amount(self) -> Amount:
        return Amount(units=self.sentences, of="sentences")

    def make(self, work: Work) -> None:
        num_other = (
            self.sentences if self.domain is Domain.OTHER else round(self.sentences * self.language.other_topics)
        )
        lines: list[str] = []
        for domain, count in ((Domain.MAIN, self.sentences - num_other), (Domain.OTHER, num_other)):
            seed = derived_seed(self.world.seed, "text", self.language.name, domain.value)
            meanings = draw_meanings(self.world, count=count, seed=seed, domain=domain)
            lines += realise(meanings, self.language, world=self.world)
        write_lines(work.folder / LINES, lines)


@dataclass(frozen=True, kw_only=True)
class SplitText(Stage):
    """Shuffled lines for training, with dev and test lines held out before anything is learned from the text."""

    kind: ClassVar[str] = "split-text"
    language: str
    text: SyntheticText
    dev_lines: int
    test_lines: int

    @property
    def title(self) -> str:
        return f"training and held-out lines of {self.text.title.removeprefix('text of ')}"

    def make(self, work: Work) -> None:
        splits = cut_lines(
            read_lines(work.path(self.text) / LINES),
            dev_lines=self.dev_lines,
            test_lines=self.test_lines,
            seed=derived_seed("split", self.language),
        )
        for split, lines in splits.items():
            write_lines(work.folder / f"{split.value}.txt", lines)


def split_lines(folder: Path, split: Split) -> list[str]:
    """Lines of one part of a SplitText."""
    return read_lines(folder / f"{split.value}.txt")
