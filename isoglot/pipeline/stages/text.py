"""Text of one language, made up or read, one sentence or paragraph a line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.errors import IsoglotError
from isoglot.machine import num_workers
from isoglot.pipeline.stages.job_sizes import for_text
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.randomness import derived_seed
from isoglot.store import Amount, Resources, Stage, Work
from isoglot.study.conditions import Domain
from isoglot.study.real_text import HubDataset
from isoglot.study.synthetic_languages import SyntheticLanguage, World

LINES = "lines.txt"
LINES_BETWEEN_REPORTS = 1000
HUB_GIGABYTES = 20.0
"""A guess: what a data set of the hub has in it is not known before it is fetched."""


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends."""
    # Neither splitlines nor read_text, which know more line ends than write_lines does.
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def write_lines(path: Path, lines: Iterator[str] | list[str]) -> None:
    """The same bytes on every platform."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


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
class FileText:
    """Text in files of the user's; no artifact, as a copy would be of no use."""

    files: tuple[SourceFile, ...]

    @property
    def title(self) -> str:
        return f"text of {', '.join(file.path.name for file in self.files)}"


@dataclass(frozen=True, kw_only=True)
class WikipediaText(Stage):
    """The paragraphs of a Wikipedia dump."""

    kind: ClassVar[str] = "wikipedia-text"
    dumps: tuple[SourceFile, ...]

    @property
    def title(self) -> str:
        return f"text of {', '.join(dump.path.name for dump in self.dumps)}"

    def amount(self) -> Amount:
        return Amount(units=sum(dump.num_bytes for dump in self.dumps), of="bytes")

    def resources(self) -> Resources:
        return for_text(gigabytes(self))

    def make(self, work: Work) -> None:
        write_lines(work.folder / LINES, self._lines(work))

    def _lines(self, work: Work) -> Iterator[str]:
        from isoglot.corpora.wiki.dump import dump_lines

        total, before = self.amount().units, 0
        for dump in self.dumps:

            def report(done: int, _: int, *, before: int = before) -> None:
                work.progress(before + done, total, "bytes")

            yield from dump_lines(dump.path, workers=num_workers(), progress=report)
            yield ""
            before += dump.num_bytes
            dump.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class HubText(Stage):
    """The text of a Hugging Face data set."""

    kind: ClassVar[str] = "hub-text"
    dataset: HubDataset

    @property
    def title(self) -> str:
        return f"text of {self.dataset.dataset}"

    def resources(self) -> Resources:
        return for_text(gigabytes(self))

    def make(self, work: Work) -> None:
        from isoglot.corpora.readers.hub_text import dataset_lines

        if Path(self.dataset.dataset).exists():
            # Its files may change, and then the same name would be another text.
            raise IsoglotError(
                f"{self.dataset.dataset} is a folder here, not a data set of the hub; name its files of text"
            )
        write_lines(work.folder / LINES, dataset_lines(self.dataset))


AnyText = SyntheticText | FileText | WikipediaText | HubText


def gigabytes(text: AnyText) -> float:
    """About how large it is, as it lies on the disk; nought for a made-up one, which is always small."""
    match text:
        case SyntheticText():
            return 0.0
        case HubText():
            return HUB_GIGABYTES
        case FileText(files=files) | WikipediaText(dumps=files):
            return sum(file.num_bytes for file in files) / 1e9


def text_lines(text: AnyText, work: Work) -> Iterator[str]:
    """The lines of a text, with progress told to the stage that reads them and has the text among its inputs."""
    if not isinstance(text, FileText):
        path = work.path(text) / LINES
        yield from _lines(path, work, before=0, total=path.stat().st_size)
        return
    total, before = sum(file.num_bytes for file in text.files), 0
    for file in text.files:
        yield from _lines(file.path, work, before=before, total=total)
        file.check_unchanged()
        before += file.num_bytes


def _lines(path: Path, work: Work, *, before: int, total: int) -> Iterator[str]:
    with LineFile(path) as lines:
        for line in lines:
            if lines.number == 1 and line.startswith("<mediawiki"):
                raise IsoglotError(
                    f"{path}:1: this is a Wikipedia dump, not text; give it a name that ends in .xml or .xml.bz2"
                )
            if lines.number % LINES_BETWEEN_REPORTS == 0:
                work.progress(before + lines.position, total, "bytes")
            yield line
