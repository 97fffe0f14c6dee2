"""Text of one language, synthetic or read from files, and its words cut into training, dev and test lines."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.numbered_text import Cut, NumberedText, Split, write_numbered_text
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.errors import IsoglotError
from isoglot.machine import num_workers
from isoglot.pipeline.stages.job_sizes import for_text
from isoglot.pipeline.stages.source_files import SourceFile, total_bytes
from isoglot.randomness import derived_seed
from isoglot.store import Amount, Resources, Stage, Work
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.real_text import HubDataset
from isoglot.study.synthetic_languages import SyntheticLanguage, World

LINES = "lines.txt"
LINES_BETWEEN_REPORTS = 1000
HUB_GIGABYTES = 20.0  # a guess: the size of a data set on the hub is unknown before it is fetched


def read_lines(path: Path) -> list[str]:
    # Neither splitlines nor read_text, which know more line ends than write_lines does.
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same bytes on every platform."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


@dataclass(frozen=True, kw_only=True)
class ReadsText(Stage):
    """A stage whose job is to go through text, its own or that of its inputs."""

    def resources(self) -> Resources:
        return for_text(gigabytes(self))


@dataclass(frozen=True, kw_only=True)
class SyntheticText(Stage):
    """Monolingual text of a synthetic language; each language's meanings are drawn independently."""

    kind: ClassVar[str] = "text"
    leaves: ClassVar[tuple[str, ...]] = (LINES,)
    titled: ClassVar[str] = "text of {self.language.name}, {self.domain.value} domain"
    world: World
    language: SyntheticLanguage
    domain: Domain
    sentences: int

    def amount(self) -> Amount:
        return Amount(units=self.sentences, of="sentences")

    def make(self, work: Work) -> None:
        other_share = 1.0 if self.domain is Domain.OTHER else self.language.other_topics
        num_other = round(self.sentences * other_share)
        lines: list[str] = []
        for domain, count in ((Domain.MAIN, self.sentences - num_other), (Domain.OTHER, num_other)):
            seed = derived_seed(self.world.seed, "text", self.language.name, domain.value)
            meanings = draw_meanings(self.world, count=count, seed=seed, domain=domain)
            lines += realise(meanings, self.language, world=self.world)
        write_lines(work.folder / LINES, lines)


@dataclass(frozen=True, kw_only=True)
class FileText:
    """Text in the user's files. It is not a stage: an artifact would only be a copy."""

    files: tuple[SourceFile, ...]

    @property
    def title(self) -> str:
        return f"text of {', '.join(file.path.name for file in self.files)}"


@dataclass(frozen=True, kw_only=True)
class WikipediaText(ReadsText):
    """The paragraphs of a Wikipedia dump."""

    kind: ClassVar[str] = "wikipedia-text"
    leaves: ClassVar[tuple[str, ...]] = (LINES,)
    dumps: tuple[SourceFile, ...]

    @property
    def title(self) -> str:
        return f"text of {', '.join(dump.path.name for dump in self.dumps)}"

    def amount(self) -> Amount:
        return Amount(units=total_bytes(self.dumps), of="bytes")

    def make(self, work: Work) -> None:
        write_lines(work.folder / LINES, self._lines(work))

    def _lines(self, work: Work) -> Iterator[str]:
        from isoglot.corpora.wiki.dump import dump_lines

        total, before = total_bytes(self.dumps), 0
        for dump in self.dumps:

            def report(done: int, *, before: int = before) -> None:
                work.progress(before + done, total, "bytes")

            yield from dump_lines(dump.path, workers=num_workers(), progress=report)
            yield ""
            before += dump.num_bytes
            dump.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class HubText(ReadsText):
    """The text of a Hugging Face data set."""

    kind: ClassVar[str] = "hub-text"
    leaves: ClassVar[tuple[str, ...]] = (LINES,)
    titled: ClassVar[str] = "text of {self.dataset.dataset}"
    dataset: HubDataset

    def make(self, work: Work) -> None:
        from isoglot.corpora.readers.hub_text import dataset_lines

        if Path(self.dataset.dataset).exists():
            # Its files may change, and then the same name would be another text.
            name = self.dataset.dataset
            raise IsoglotError(f"{name} is a folder here, not a data set of the hub; name its files of text")
        write_lines(work.folder / LINES, dataset_lines(self.dataset))


AnyText = SyntheticText | FileText | WikipediaText | HubText


def gigabytes(reads: FileText | Stage) -> float:
    """The approximate size on disk of the text; zero if it is synthetic, and then always small."""
    match reads:
        case HubText():
            return HUB_GIGABYTES
        case FileText(files=files) | WikipediaText(dumps=files):
            return total_bytes(files) / 1e9
        case SplitText(text=text):
            return gigabytes(text)
        case _:
            # Other inputs were made from the same split texts: what they read is not read again.
            texts = [stage for stage in reads.inputs.values() if isinstance(stage, SplitText)]
            return sum(map(gigabytes, texts))


def text_lines(text: AnyText, work: Work) -> Iterator[str]:
    """The lines of a text; progress is reported to the stage that reads them."""
    paths = [file.path for file in text.files] if isinstance(text, FileText) else [work.path(text) / LINES]
    total, before = sum(path.stat().st_size for path in paths), 0
    for path in paths:
        with LineFile(path) as lines:
            for line in lines:
                if lines.number == 1 and line.startswith("<mediawiki"):
                    raise IsoglotError(
                        f"{path}:1: this is a Wikipedia dump, not text; give it a name that ends in .xml or .xml.bz2"
                    )
                if lines.number % LINES_BETWEEN_REPORTS == 0:
                    work.progress(before + lines.position, total, "bytes")
                yield line
        before += path.stat().st_size
    for file in text.files if isinstance(text, FileText) else ():
        file.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class SplitText(ReadsText):
    """Shuffled lines of words for training; dev and test lines are held out before anything is learned."""

    kind: ClassVar[str] = "split-text"
    leaves: ClassVar[tuple[str, ...]] = ("text.json", "types.txt", *(f"{split.value}.bin" for split in Split))
    language: str
    text: AnyText
    splitting: WordSplitting
    splitter_version: str  # another version of the library may find other words
    dev_lines: int
    test_lines: int
    most_words: int | None = None  # the limit for training lines
    no_larger_than: "SplitText | None" = None  # a text with at least as many training words

    @property
    def title(self) -> str:
        return f"words of {self.language}, {self.text.title.removeprefix('text of ')}"

    @property
    def is_of_other_domain(self) -> bool:
        return self.no_larger_than is not None

    def amount(self) -> Amount | None:
        if not isinstance(self.text, FileText):
            return None
        return Amount(units=total_bytes(self.text.files), of="bytes")

    def make(self, work: Work) -> None:
        limits = [self.most_words] if self.most_words is not None else []
        if self.no_larger_than is not None:
            # Departure: texts of one size have as many words, and one that has too few is taken whole.
            limits.append(NumberedText.read(work.path(self.no_larger_than)).num_words(Split.TRAIN))
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
            # Handing lines to another process takes longer than cutting them at white space.
            workers=1 if self.splitting.splitter is Splitter.WHITESPACE else num_workers(),
        )


def files_in(value: object) -> Iterator[SourceFile]:
    """The user's own files in the value of a stage's field."""
    match value:
        case SourceFile():
            yield value
        case FileText():
            yield from value.files
        case tuple():
            for member in value:
                yield from files_in(member)
