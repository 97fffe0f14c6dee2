"""The result of `isoglot compare` for people and programs: a table, a sentence, a picture and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.table import Table

from isoglot.report.figures.layer_series import Line, LineChart, LineFigure
from isoglot.report.figures.line_charts import line_picture

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.comparison import Comparison, LayerComparison
    from isoglot.study.searches import NewVectors

# Fields of a compared layer, and what people call them; some are None where the models' widths differ.
SIMILARITIES = {"cka": "CKA", "cka_debiased": "debiased CKA", "svcca": "SVCCA", "neuron_correlation": "ANC"}
RETRIEVALS = {"raw": "before", "centred": "centred", "aligned": "after a map"}


@dataclass(frozen=True, kw_only=True)
class NamedComparison:
    """A comparison, with what the user called all that went into it."""

    found: Comparison
    models: tuple[str, str]
    files: tuple[str, str]
    new_vectors: NewVectors
    rounds: int
    reading_notes: tuple[str, ...] = ()
    """Notes of the readers of the files."""

    def table(self) -> Table:
        """A row for each layer; precision is the mean of both directions."""
        table = Table(box=None, header_style="bold", pad_edge=False, title=f"A {self.models[0]}, B {self.models[1]}")
        table.title_justify = "left"
        table.add_column("Layer")
        for heading in (*SIMILARITIES.values(), *(f"P@1 {title}" for title in RETRIEVALS.values())):
            table.add_column(heading, justify="right")
        for layer in self.found.layers:
            similar = ["-" if (value := getattr(layer, name)) is None else f"{value:.3f}" for name in SIMILARITIES]
            retrieved = ["-" if (value := _precision(layer, name)) is None else f"{value:.1f}%" for name in RETRIEVALS]
            table.add_row(self._layer_label(layer), *similar, *retrieved)
        return table

    def reading(self) -> str:
        """The table in one sentence."""
        found = self.found
        # With fewer lines than numbers in a vector, plain CKA is high for any two models.
        measure = "cka_debiased" if found.num_lines < max(found.widths) else "cka"
        alike = max(found.layers, key=lambda layer: float(getattr(layer, measure)))
        best = max(found.layers, key=lambda layer: layer.aligned.mean)
        before = "" if best.raw is None else f" ({best.raw.mean:.1f}% before)"
        return (
            f"Most alike at {self._place(alike)} ({SIMILARITIES[measure]} {getattr(alike, measure):.2f}); after a map "
            f"from B to A, {best.aligned.mean:.1f}% of {found.num_tests:,} test sentences find their translation at "
            f"{self._place(best)}{before}; chance {found.chance:.1f}%."
        )

    def notes(self) -> Iterator[str]:
        """Notes for reading the numbers."""
        found = self.found
        yield (
            f"{found.num_lines:,} lines; each layer's map is fitted on {found.num_fitted:,} of them and tested on "
            f"{found.num_tests:,} others. Precision at 1 by cosine, mean of both directions; new vectors are "
            f"{self.new_vectors.value}."
        )
        a, b = found.tokens_per_word
        yield f"Tokens for each word between spaces: A {a:.1f}, B {b:.1f}; many if a file is not of a model's language."
        for name, num_cut, most_tokens in zip("AB", found.num_cut, found.most_tokens, strict=True):
            if num_cut:
                yield f"{num_cut:,} lines are longer than the {most_tokens:,} tokens that {name} reads, and were cut."
        yield from self.reading_notes
        yield from found.notes

    def picture(self) -> str:
        """SVG: similarity and retrieval by layer."""
        layers = self.found.layers
        x_labels = [f"L{self._layer_label(layer).replace(' / ', '/')}" for layer in layers]
        x_title = "Layer" if self._has_one_depth else "Layer of A / of B"
        chart = partial(LineChart, x_labels=x_labels, x_title=x_title)
        similarity = chart(
            title="How alike",
            series=[
                Line.of(SIMILARITIES[name], [getattr(layer, name) for layer in layers])
                for name in ("cka", "cka_debiased")
            ],
            y_title="Similarity (1: alike up to rotation)",
            decimals=3,
            shown=(0.0, 1.0),
        )
        lines = [
            Line.of(title, [_precision(layer, name) for layer in layers])
            for name, title in reversed(RETRIEVALS.items())
        ]
        retrieval = chart(
            title=f"Translations found, of {self.found.num_tests:,}",
            series=[line for line in lines if line.num_states],
            y_title="Precision at 1 (%)",
            references={"chance": self.found.chance},
            decimals=1,
            shown=(0.0, 10.0),
        )
        figure = LineFigure(name="compare", title=" and ".join(self.models), charts=[similarity, retrieval])
        return line_picture(figure).svg()

    def json_text(self) -> str:
        found = self.found
        # What could not be measured is null.
        content = {
            "models": dict(zip("ab", self.models, strict=True)),
            "files": dict(zip("ab", self.files, strict=True)),
            "new_vectors": self.new_vectors.value,
            "rounds": self.rounds,
            "lines": found.num_lines,
            "fitted_lines": found.num_fitted,
            "test_lines": found.num_tests,
            "chance_percent": found.chance,
            "cut_lines": dict(zip("ab", found.num_cut, strict=True)),
            "widths": dict(zip("ab", found.widths, strict=True)),
            "layers": [_layer_content(layer) for layer in found.layers],
            "notes": [*self.reading_notes, *found.notes],
            "reading": self.reading(),
        }
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    @property
    def _has_one_depth(self) -> bool:
        return self.found.num_states[0] == self.found.num_states[1]

    def _layer_label(self, layer: LayerComparison) -> str:
        return str(layer.layer_a) if self._has_one_depth else f"{layer.layer_a} / {layer.layer_b}"

    def _place(self, layer: LayerComparison) -> str:
        return f"layer {layer.layer_a}" + ("" if self._has_one_depth else f" of A and {layer.layer_b} of B")


def _precision(layer: LayerComparison, name: str) -> float | None:
    found = getattr(layer, name)
    return None if found is None else float(found.mean)


def _layer_content(layer: LayerComparison) -> dict[str, Any]:
    retrieved = {f"retrieval_{name}": getattr(layer, name) for name in RETRIEVALS}
    return {name: getattr(layer, name) for name in ("layer_a", "layer_b", *SIMILARITIES)} | {
        name: found and {"a_to_b": found.a_to_b, "b_to_a": found.b_to_a, "mean": found.mean}
        for name, found in retrieved.items()
    }
