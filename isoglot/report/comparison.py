"""The result of `isoglot compare` for people and programs: a table, a sentence, a picture and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from isoglot.report.figures.charts import line_picture
from isoglot.report.figures.layer_series import Line, LineChart, LineFigure

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.comparison import Comparison, LayerComparison
    from isoglot.study.searches import NewVectors

NOTHING = "-"


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
        headings = ("CKA", "debiased CKA", "SVCCA", "ANC", "P@1 before", "P@1 centred", "P@1 after a map")
        for heading in headings:
            table.add_column(heading, justify="right")
        for layer in self.found.layers:
            similar = (layer.cka, layer.cka_debiased, layer.svcca, layer.neuron_correlation)
            retrieved = (layer.raw, layer.centred, layer.aligned)
            table.add_row(
                self._layer_label(layer),
                *(NOTHING if value is None else f"{value:.3f}" for value in similar),
                *(NOTHING if value is None else f"{value.mean:.1f}%" for value in retrieved),
            )
        return table

    def reading(self) -> str:
        """The table in one sentence."""
        found = self.found
        # With fewer lines than numbers in a vector, plain CKA is high for any two models.
        is_biased = found.num_lines < max(found.widths)
        alike = max(found.layers, key=lambda layer: layer.cka_debiased if is_biased else layer.cka)
        score = f"debiased CKA {alike.cka_debiased:.2f}" if is_biased else f"CKA {alike.cka:.2f}"
        best = max(found.layers, key=lambda layer: layer.aligned.mean)
        before = "" if best.raw is None else f" ({best.raw.mean:.1f}% before)"
        return (
            f"Most alike at {self._place(alike)} ({score}); after a map from B to A, {best.aligned.mean:.1f}% of "
            f"{found.num_tests:,} test sentences find their translation at {self._place(best)}{before}; "
            f"chance {found.chance:.1f}%."
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
        """SVG: similarity by layer, and retrieval before and after a map by layer."""
        layers = self.found.layers
        x_labels = [f"L{self._layer_label(layer).replace(' / ', '/')}" for layer in layers]
        similarity = LineChart(
            title="How alike",
            series=[
                Line.of("CKA", [layer.cka for layer in layers]),
                Line.of("debiased CKA", [layer.cka_debiased for layer in layers]),
            ],
            y_title="Similarity (1: alike up to rotation)",
            x_labels=x_labels,
            x_title=self._x_title,
            decimals=3,
            shown=(0.0, 1.0),
        )
        ways = (
            ("after a map", [layer.aligned for layer in layers]),
            ("centred", [layer.centred for layer in layers]),
            ("before", [layer.raw for layer in layers]),
        )
        retrieval = LineChart(
            title=f"Translations found, of {self.found.num_tests:,}",
            series=[
                Line.of(label, [None if value is None else value.mean for value in values])
                for label, values in ways
                if any(value is not None for value in values)
            ],
            y_title="Precision at 1 (%)",
            references={"chance": self.found.chance},
            x_labels=x_labels,
            x_title=self._x_title,
            decimals=1,
            shown=(0.0, 10.0),
        )
        figure = LineFigure(name="compare", title=" and ".join(self.models), charts=[similarity, retrieval])
        return line_picture(figure).svg()

    def json_text(self) -> str:
        """All that was found; what could not be measured is null."""
        found = self.found
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

    @property
    def _x_title(self) -> str:
        return "Layer" if self._has_one_depth else "Layer of A / of B"

    def _layer_label(self, layer: LayerComparison) -> str:
        return str(layer.layer_a) if self._has_one_depth else f"{layer.layer_a} / {layer.layer_b}"

    def _place(self, layer: LayerComparison) -> str:
        if self._has_one_depth:
            return f"layer {layer.layer_a}"
        return f"layer {layer.layer_a} of A and {layer.layer_b} of B"


def _layer_content(layer: LayerComparison) -> dict[str, Any]:
    names = ("layer_a", "layer_b", "cka", "cka_debiased", "svcca", "neuron_correlation")
    retrieved = {"raw": layer.raw, "centred": layer.centred, "aligned": layer.aligned}
    return {name: getattr(layer, name) for name in names} | {
        f"retrieval_{name}": found and {"a_to_b": found.a_to_b, "b_to_a": found.b_to_a, "mean": found.mean}
        for name, found in retrieved.items()
    }
