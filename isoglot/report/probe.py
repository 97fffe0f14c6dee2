"""A probe of any encoder for people and programs: a table, sentences, a page of figures, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from isoglot.errors import IsoglotError, MissingDataError, option
from isoglot.files import write_whole
from isoglot.pipeline.measurements import Measurement, write_csv
from isoglot.pipeline.model_names import is_own, named_reader
from isoglot.pipeline.probe_texts import NAMELESS, Pair, PairText, read_pair_text, study_text
from isoglot.pipeline.probing import ROUNDS, Prober
from isoglot.report.figures.layer_figures import RETRIEVAL
from isoglot.report.findings.layer_scores import pair_title
from isoglot.report.page.probe_sections import AFTER_MAP, KINDS, SIMILARITY, WORDS, ProbeScores, probe_sections
from isoglot.report.report_files import PROVENANCE
from isoglot.report.results import Numbers
from isoglot.report.writing import clear_report_errors, write_page
from isoglot.store import Store
from isoglot.study.searches import NewVectors
from isoglot.study.study import Study
from isoglot.study.study_file import data_folder

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.reader import Reader

CSV, JSON = "probe.csv", "probe.json"


def probe(
    model: str | Path,
    other: str | Path | None = None,
    *,
    languages: Sequence[str] = (),
    data: str | Path | None = None,
    parallel: tuple[str | Path, str | Path] | None = None,
    dictionary: str | Path | None = None,
    store: str | Path = "store",
    study: Study | None = None,
    new_vectors: NewVectors | str = NewVectors.CENTRED,
    anyway: bool = False,
    progress: Callable[[str, int], None] = lambda _name, _done: None,
) -> Probe:
    """Any encoder by the paper's Figures 4, 6 and 7: do sentences and words of two languages lie alike in it?

    `model` is a name as in `load_model`; with `other`, that one reads every language but the first. Each language is
    held against the first. Text is found in the folder `data` or named: `parallel` are two files that translate each
    other line by line, `dictionary` has two words a line. A model of a store has the text of its study. For a study
    that was made in Python, give it as `study`, and leave it out of the names. `new_vectors` says what is done to
    vectors before a map: "centred", "rotated" or "normalized".

    >>> found = ig.probe("demo:default", languages=["ela", "oru"], store="store")
    >>> found
    Probe('demo:default', ela-oru, ... numbers)
    >>> cka = [row["value"] for row in found.to_dicts() if (row["metric"], row["variant"]) == ("cka", None)]
    >>> len(cka)
    5
    """
    names = [str(model), str(model if other is None else other)]
    new_vectors = _known(new_vectors)
    pairs = _pairs(languages, has_files=parallel is not None)
    if parallel is not None and (isinstance(parallel, str) or len(parallel) != 2):
        raise IsoglotError(f"{option('parallel')}: give two files, one for each language, not {parallel!r}")
    if len(pairs) > 1 and (parallel or dictionary):
        problem = f"{option('parallel')} and {option('dictionary')} are of one pair, and there are {len(pairs)}"
        raise IsoglotError(f"{problem}; name two languages, or put the files into the folder of {option('data')}")
    place, folder = Store(Path(store)), data_folder(data)
    if folder is not None and not folder.is_dir():
        raise IsoglotError(f"{option('data')}: there is no folder {folder}")

    def text_of(pair: Pair) -> PairText:
        files = None if parallel is None else (Path(parallel[0]), Path(parallel[1]))
        try:
            words = None if dictionary is None else Path(dictionary)
            return read_pair_text(pair, data=folder, parallel=files, dictionary=words, anyway=anyway)
        except MissingDataError:
            if study is None and not is_own(names[0]):
                raise
            if dictionary is not None:
                needed = f"{option('dictionary')} goes with {option('parallel')} or {option('data')}"
                raise IsoglotError(f"{needed}: the sentences of a study have a dictionary of their own") from None
            return study_text(names[0], pair, store=place, data=folder, study=study)

    @cache
    def reader_of(name: str, *sides: str) -> Reader:
        language, partner = sides or (None, None)
        return named_reader(name, store=place, data=folder, study=study, language=language, partner=partner)

    def side(name: str, language: str, partner: str) -> Reader:
        # Models of Hugging Face read any language, so they are loaded once.
        return reader_of(name, language, partner) if (study or is_own(name)) and pairs else reader_of(name)

    # What can be refused at once comes before what is slow.
    texts = [text_of(pair) for pair in pairs or [NAMELESS]]
    label = names[0] if other is None else " and ".join(names)
    prober = Prober(name=label, new_vectors=new_vectors, progress=progress)
    measured: list[Measurement] = []
    notes = {}
    for text in texts:
        a, b = text.languages
        readers = side(names[0], a, b), side(names[1], b, a)
        numbers, notes[a, b] = prober.probed(readers, text)
        measured += numbers
    scores = ProbeScores(name=label, measurements=measured, notes=notes, new_vectors=new_vectors)
    return Probe(scores, origins={pair_title(text.languages): text.origin for text in texts})


def _known(new_vectors: NewVectors | str) -> NewVectors:
    try:
        return NewVectors(new_vectors)
    except ValueError:
        names = ", ".join(repr(each.value) for each in NewVectors)
        raise IsoglotError(f"{option('new-vectors')}: is {new_vectors!r}; give one of {names}") from None


def _pairs(languages: Sequence[str], *, has_files: bool) -> list[Pair]:
    """Each language with the first; none where two files say what to read."""
    is_enough = len(languages) > 1 or (has_files and not languages)
    if isinstance(languages, str) or not is_enough or len({*languages}) < len(languages):
        example = option("languages", "en,fr", python='languages=["en", "fr"]')
        raise IsoglotError(
            f"name two languages or more, each once, as in {example}: the rest is held against the first"
        )
    return [(languages[0], each) for each in languages[1:]]


class Probe(Numbers):
    """The numbers of a probe, with the fields of a study's: `variant` is null, or says which weights are random.

    >>> found = ig.probe("demo:default", languages=["ela", "oru"], store="store")
    >>> print(*found.readings())
    ela-oru: most alike at layer ...
    """

    def __init__(self, scores: ProbeScores, *, origins: Mapping[str, str]) -> None:
        self.scores, self.origins = scores, origins

    @property
    def measurements(self) -> Sequence[Measurement]:
        return self.scores.measurements

    @property
    def notes(self) -> list[str]:
        """Notes for reading the numbers, each once."""
        return [*dict.fromkeys(note for notes in self.scores.notes.values() for note in notes)]

    def __repr__(self) -> str:
        return f"Probe({self.scores.name!r}, {', '.join(self.origins)}, {len(self.measurements)} numbers)"

    def tables(self) -> Iterator[Table]:
        """The lines of each figure with their floors, by layer."""
        figures = [(kind, figure) for kind in KINDS for figure in self.scores.figures(kind)]
        for kind, figure in figures:
            (chart,) = figure.charts
            table = Table("", box=None, header_style="bold", pad_edge=False, title=f"{figure.title}, {chart.y_title}")
            table.title_justify = "left"
            for heading in chart.headings:
                table.add_column(heading, justify="right")
            for cells in chart.texts:
                table.add_row(*cells)
            for label, level in chart.references.items():
                table.add_row(label, *[""] * (len(chart.headings) - 1), f"{level:.{chart.decimals}f}")
            if kind is WORDS:
                # How many words were asked: of three, one right answer is 33%.
                table.caption, table.caption_justify = "\n".join(figure.notes), "left"
            yield table

    def readings(self) -> Iterator[str]:
        """Each pair of languages in two sentences."""
        for pair in self.scores.notes:
            similar, mapped = (self.scores.lines(kind, pair) for kind in (SIMILARITY, AFTER_MAP))
            facts, (trained, _, random) = self.scores.values(AFTER_MAP, pair), mapped.values()
            by_layer = (line.by_seed[0] for line in (similar["trained"], trained))
            alike, best = (max(values, key=values.__getitem__) for values in by_layer)
            cka, floor = (similar[label].at(alike)[0] for label in ("trained", "both random"))
            chance, length = (facts[f"{RETRIEVAL}_{by}"] for by in ("chance", "by_length"))
            yield (
                f"{pair_title(pair)}: most alike at layer {alike}, CKA {cka:.2f}, with random weights {floor:.2f}. "
                f"After a map {trained.best[0]:.1f}% of {facts['tests']:,.0f} test sentences find their translation at "
                f"layer {best}; with random weights {random.best[0]:.1f}% at best, by length {length:.1f}%, by chance "
                f"{chance:.1f}%."
            )

    def report(self, folder: str | Path) -> Path:
        """Write the page, its pictures, and all numbers as probe.csv and probe.json; the path of the page.

        >>> ig.probe("demo:default", languages=["ela", "oru"], store="store").report("my-probe").name
        'report.html'
        """
        place, pairs = Path(folder), ", ".join(self.origins)
        head = {"title": "Probe", "subtitle": f"{self.scores.name} on {pairs}", "facts": [*self.readings()]}
        title = f"{self.scores.name}: {pairs}"
        if (place / PROVENANCE).exists():
            raise IsoglotError(f"{place}: holds the report of a study; choose another folder for that of a probe")
        text = StringIO()
        write_csv(self.measurements, to=text)
        with clear_report_errors(place):
            page = write_page(place, title=title, head=head, sections=[*probe_sections(self.scores)])
            write_whole(place / JSON, self.json_text())
            write_whole(place / CSV, text.getvalue())
        return page

    def json_text(self) -> str:
        scores = self.scores
        facts = {"model": scores.name, "new_vectors": scores.new_vectors.value, "rounds": ROUNDS, "texts": self.origins}
        content = {**facts, "readings": [*self.readings()], "notes": self.notes, "numbers": self.to_dicts()}
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
