"""A probe of any encoder for people and programs: a table, sentences, a page of figures, CSV and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from isoglot.errors import IsoglotError, MissingDataError
from isoglot.files import write_whole
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.model_names import is_own, named_reader
from isoglot.pipeline.probe_texts import Pair, PairText, read_pair_text, study_text
from isoglot.pipeline.probing import ROUNDS, ProbedPair, probed_pair
from isoglot.report.figures.layer_figures import CKA, LIKENESS, RETRIEVAL
from isoglot.report.figures.layer_series import Line, pair_title
from isoglot.report.page.probe_sections import AFTER_MAP, SIMILARITY, WITHOUT_MAP, WORDS, ProbeScores, probe_sections
from isoglot.report.results import Numbers
from isoglot.report.writing import write_page
from isoglot.store import Store
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.reader import Reader

CSV, JSON = "probe.csv", "probe.json"
COLUMNS_OF_TABLE = {
    "CKA": (SIMILARITY, "trained"),
    "CKA, random": (SIMILARITY, "both random"),
    "P@1 raw": (WITHOUT_MAP, "raw"),
    "P@1 centred": (WITHOUT_MAP, "centred"),
    "P@1 mapped": (AFTER_MAP, "trained"),
    "P@1 mapped, random": (AFTER_MAP, "both random"),
    "words {a} to {b}": (WORDS, "{a} to {b}"),
    "words {b} to {a}": (WORDS, "{b} to {a}"),
    "words, random": (WORDS, "random weights, {a} to {b}"),
}
COLUMNS = ("exhibit", "languages", "language", "metric", "variant", "layer", "value")


def probe(
    model: str | Path,
    other: str | Path | None = None,
    *,
    languages: Sequence[str] = (),
    data: str | Path | None = None,
    parallel: tuple[str | Path, str | Path] | None = None,
    dictionary: str | Path | None = None,
    store: str | Path = "store",
    new_vectors: NewVectors = NewVectors.CENTRED,
    anyway: bool = False,
    progress: Callable[[str, int], None] = lambda _name, _done: None,
) -> Probe:
    """Any encoder by the paper's Figures 4, 6 and 7: do sentences and words of two languages lie alike in it?

    `model` is a name as in `load_model`; with `other`, that one reads every language but the first. Each language is
    held against the first. Text is found in the folder `data` or named: `parallel` are two files that translate each
    other line by line, `dictionary` has two words a line. A model of a store has the text of its study.

    >>> found = ig.probe("demo:default", languages=["ela", "oru"], store="store")
    >>> found
    Probe('demo:default', ela-oru, ... numbers)
    >>> cka = [row["value"] for row in found.to_dicts() if (row["metric"], row["variant"]) == ("cka", None)]
    >>> len(cka)
    5
    """
    names = [str(model), str(model if other is None else other)]
    pairs = [(languages[0], each) for each in languages[1:]]
    if not pairs and parallel is None:
        raise IsoglotError("--languages: name two or more, as in en,fr; the others are held against the first")
    if len(pairs) > 1 and (parallel or dictionary):
        problem = f"--parallel and --dictionary are of one pair, and --languages has {len(pairs)}"
        raise IsoglotError(f"{problem}; name two languages, or put the files into the folder of --data")
    place, folder = Store(Path(store)), None if data is None else Path(data)

    def text_of(pair: Pair) -> PairText:
        files = None if parallel is None else (Path(parallel[0]), Path(parallel[1]))
        try:
            words = None if dictionary is None else Path(dictionary)
            return read_pair_text(pair, data=folder, parallel=files, dictionary=words, anyway=anyway)
        except MissingDataError:
            if not is_own(names[0]):
                raise
            return study_text(names[0], pair, store=place, data=folder)

    @cache
    def reader_of(name: str, *sides: str) -> Reader:
        language, partner = sides or (None, None)
        return named_reader(name, store=place, data=folder, language=language, partner=partner)

    def side(name: str, language: str, partner: str) -> Reader:
        # Models of Hugging Face read any language, so they are loaded once.
        return reader_of(name, language, partner) if is_own(name) and pairs else reader_of(name)

    # What can be refused at once comes before what is slow.
    texts = [text_of(pair) for pair in pairs or [("A", "B")]]
    label = names[0] if other is None else " and ".join(names)
    found = []
    for text in texts:
        a, b = text.languages
        readers = side(names[0], a, b), side(names[1], b, a)
        found.append(probed_pair(readers, text, name=label, new_vectors=new_vectors, progress=progress))
    return Probe(label, texts=texts, pairs=found, new_vectors=new_vectors)


class Probe(Numbers):
    """The numbers of a probe, with the fields of a study's: `variant` is null, or says which weights are random.

    >>> found = ig.probe("demo:monolingual", languages=["ela", "oru"], store="store")
    Traceback (most recent call last):
    isoglot.errors.IsoglotError: demo:monolingual: this model is not in ...store yet; make it with: isoglot run ...
    """

    def __init__(
        self, name: str, *, texts: Sequence[PairText], pairs: Sequence[ProbedPair], new_vectors: NewVectors
    ) -> None:
        self.name, self.texts, self.pairs, self.new_vectors = name, texts, pairs, new_vectors
        self.measurements: Sequence[Measurement] = [each for pair in pairs for each in pair.measurements]
        self.scores = ProbeScores(name=name, measurements=self.measurements)

    def __repr__(self) -> str:
        pairs = ", ".join(pair_title(text.languages) for text in self.texts)
        return f"Probe({self.name!r}, {pairs}, {len(self.measurements)} numbers)"

    def tables(self) -> Iterator[Table]:
        """One for each pair, with a row for each layer."""
        for text in self.texts:
            a, b = text.languages
            columns = {
                heading.format(a=a, b=b): (line, kind.unit == LIKENESS)
                for heading, (kind, label) in COLUMNS_OF_TABLE.items()
                if (line := self.scores.lines(kind, (a, b)).get(label.format(a=a, b=b)))
            }
            table = Table(box=None, header_style="bold", pad_edge=False)
            table.title, table.title_justify = f"{self.name}: {pair_title(text.languages)}", "left"
            table.add_column("Layer")
            for heading in columns:
                table.add_column(heading, justify="right")
            for layer in range(max(line.num_states for line, _ in columns.values())):
                cells = (f"{line.at(layer)[0]:.{3 if is_cka else 1}f}" for line, is_cka in columns.values())
                table.add_row(str(layer), *cells)
            yield table

    def readings(self) -> Iterator[str]:
        """Each pair in two sentences."""
        for text in self.texts:
            similar, mapped = (self.scores.lines(kind, text.languages) for kind in (SIMILARITY, AFTER_MAP))
            facts = self.scores.values(SIMILARITY, text.languages) | self.scores.values(AFTER_MAP, text.languages)
            (alike, cka), (best, precision) = (_best(lines["trained"]) for lines in (similar, mapped))
            floor_of_cka = similar["both random"].at(alike)[0]
            floor = mapped["both random"].best[0]
            yield (
                f"{pair_title(text.languages)}: most alike at layer {alike}, CKA {cka:.2f}; with random weights "
                f"{floor_of_cka:.2f}, by length alone {facts[f'{CKA}_by_length']:.2f}. After a map {precision:.1f}% of "
                f"{facts['tests']:,.0f} test sentences find their translation at layer {best}; with random weights "
                f"{floor:.1f}% at best, by length {facts[f'{RETRIEVAL}_by_length']:.1f}%, by chance "
                f"{facts[f'{RETRIEVAL}_chance']:.1f}%."
            )

    def report(self, folder: str | Path) -> Path:
        """Write the page, its pictures, and all numbers as probe.csv and probe.json; the path of the page.

        >>> ig.probe("demo:default", languages=["ela", "oru"], store="store").report("my-probe").name
        'report.html'
        """
        place = Path(folder)
        pairs = ", ".join(pair_title(text.languages) for text in self.texts)
        head = {"title": "Probe", "subtitle": f"{self.name} on {pairs}", "facts": [*self.readings()]}
        notes = {
            text.languages: [*(f"{warning}." for warning in pair.warnings), *pair.notes]
            for text, pair in zip(self.texts, self.pairs, strict=True)
        }
        sections = [*probe_sections(self.scores, notes, new_vectors=self.new_vectors.value)]
        page = write_page(place, title=f"{self.name}: {pairs}", head=head, sections=sections)
        write_whole(place / JSON, self.json_text())
        text, rows = StringIO(), (_row(each) | {"languages": pair_title(each.languages)} for each in self.measurements)
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *(row.values() for row in rows)])
        write_whole(place / CSV, text.getvalue())
        return page

    def json_text(self) -> str:
        content = {
            "model": self.name,
            "new_vectors": self.new_vectors.value,
            "rounds": ROUNDS,
            "texts": {pair_title(text.languages): text.origin for text in self.texts},
            "readings": [*self.readings()],
            "notes": {
                pair_title(text.languages): [*pair.warnings, *pair.notes]
                for text, pair in zip(self.texts, self.pairs, strict=True)
            },
            "numbers": [*map(_row, self.measurements)],
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _best(line: Line) -> tuple[int, float]:
    """The layer with the highest value, and the value."""
    return max(enumerate(value or 0.0 for value in line.layers), key=lambda each: each[1])


def _row(measured: Measurement) -> dict[str, Any]:
    return {name: getattr(measured, name) for name in COLUMNS}
