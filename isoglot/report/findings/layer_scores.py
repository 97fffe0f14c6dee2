"""Scores by layer: lines over seeds, an index of all figures, and a row for each condition without a map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.training_log import OVER_UNIGRAM
from isoglot.report.findings.samples import CLOSE_POINTS, Sample
from isoglot.study.languages import PRIME, original

CENTRED_RETRIEVAL = "retrieval_p1"
RAW = "retrieval_p1_uncentred"
CENTRED = (
    "Centred: each language's mean vector is subtracted first, and no other map is used; raw: nothing is subtracted."
)
# Fewer have no bottom, middle and top.
FEWEST_STATES = 3
# With fewer a correlation means nothing: that of two points is always 1 or -1.
FEWEST_POINTS = 3
Pair = tuple[str, str]
"""Source and target language."""
Kind = tuple[str, str, str | None]
"""Metric, condition and variant."""
Summary = Callable[[Sequence[float]], float]
NO_LAYER = -1


@dataclass(frozen=True, kw_only=True)
class Line:
    """Scores of one kind of model by layer, or by update; some may be missing while a study runs."""

    label: str
    by_seed: Sequence[Mapping[int, float]]
    is_published: bool = False
    """Whether these are the paper's own numbers."""

    @classmethod
    def of(cls, label: str, values: Sequence[float | None], *, is_published: bool = False) -> Line:
        """One value for each layer, without seeds."""
        known = {layer: value for layer, value in enumerate(values) if value is not None}
        return cls(label=label, by_seed=(known,), is_published=is_published)

    def at(self, place: int) -> list[float]:
        """The values of all seeds that have one there."""
        return [values[place] for values in self.by_seed if place in values]

    def has_range(self, places: Iterable[int]) -> bool:
        """Whether it is a mean over seeds anywhere."""
        return any(len(self.at(place)) > 1 for place in places)

    @property
    def num_states(self) -> int:
        """Layers from 0 to the last that is there."""
        return 1 + max((layer for values in self.by_seed for layer in values), default=-1)

    @property
    def layers(self) -> tuple[float | None, ...]:
        """Means over the seeds that have the layer; None where none has."""
        return tuple(fmean(values) if (values := self.at(layer)) else None for layer in range(self.num_states))

    @property
    def best(self) -> list[float]:
        """The best layer's score for each seed."""
        return [max(values.values()) for values in self.by_seed]

    @property
    def means(self) -> list[float]:
        """The mean over layers for each seed."""
        return [fmean(values.values()) for values in self.by_seed]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A figure of one pair of languages, and of one task where it has tasks: scores of one language, the target."""

    languages: tuple[str, str]
    task: str | None
    num_states: int
    """Layers of the study's models, and the embeddings."""
    scores: Mapping[Kind, Mapping[int | None, Mapping[int, float]]]
    """By seed and layer; a metric without layers has its value at NO_LAYER."""
    close: float = CLOSE_POINTS
    """The noise between two of its scores."""

    @property
    def title(self) -> str:
        pair = pair_title(self.languages)
        return f"{task_named(self.task).title} {pair}" if self.task else pair

    def layers(self, kind: Kind) -> dict[int | None, list[float]]:
        """By seed, from layer 0 up."""
        # Of a seed without all layers, none can be called the best.
        return {
            seed: [by_layer[layer] for layer in sorted(by_layer)]
            for seed, by_layer in self.scores.get(kind, {}).items()
            if NO_LAYER in by_layer or len(by_layer) == self.num_states >= FEWEST_STATES
        }

    def sample(self, summary: Summary, kind: Kind) -> Sample | None:
        """One number for each seed, made of its layers; None where no seed has all of them."""
        # Layers of one model rise and fall together, so that their mean is no surer than one score.
        by_seed = {seed: summary(layers) for seed, layers in self.layers(kind).items()}
        return Sample.of(by_seed, close=self.close) if by_seed else None

    def best(self, kind: Kind) -> dict[int | None, float]:
        """The best layer's score for each seed."""
        return {seed: max(by_layer.values()) for seed, by_layer in self.scores.get(kind, {}).items()}

    def lines(self, kinds: Iterable[tuple[str, Kind]]) -> list[Line]:
        """A line with its label for each kind of model of which anything is measured."""
        return [
            Line(label=label, by_seed=tuple(self.scores[kind].values())) for label, kind in kinds if kind in self.scores
        ]

    def values(self, *, variant: str | None = None) -> dict[str, float]:
        """Means over models of all metrics that have no layer."""
        found: dict[str, list[float]] = {}
        for (metric, _, of_variant), by_seed in self.scores.items():
            if of_variant == variant:
                found.setdefault(metric, []).extend(each[NO_LAYER] for each in by_seed.values() if NO_LAYER in each)
        return {metric: fmean(values) for metric, values in found.items() if values}


def panels(measurements: Iterable[Measurement], exhibit: str, *, of_source: bool = False) -> list[Panel]:
    """One for each pair and task, in the order they came."""
    num_states = 1
    found: dict[tuple[str, str], dict[str | None, dict[Kind, dict[int | None, dict[int, float]]]]] = {}
    for each in measurements:
        num_states = max(num_states, 1 + (each.layer or 0))
        if each.exhibit == exhibit and each.language == each.languages[0 if of_source else 1]:
            by_kind = found.setdefault(each.languages, {}).setdefault(each.task, {})
            by_seed = by_kind.setdefault((each.metric, each.condition, each.variant), {})
            by_seed.setdefault(each.seed, {})[NO_LAYER if each.layer is None else each.layer] = each.value
    return [
        Panel(languages=languages, task=task, num_states=num_states, scores=scores)
        for languages, by_task in found.items()
        for task, scores in by_task.items()
    ]


@dataclass(frozen=True, kw_only=True)
class Row:
    """The scores of one condition: the best layer's, for each seed that has an untrained score as well."""

    condition: str
    best: Mapping[int | None, float]
    untrained_best: Mapping[int | None, float]
    raw_best: Sequence[float]
    """Without subtracting each language's mean; empty where that was not measured, as of words."""
    unlearned: Sequence[str]
    """Languages of which some seed's model knows no more than how frequent words are."""

    @property
    def gains(self) -> Sample:
        """The points that training added, for each seed."""
        return Sample.of({seed: best - self.untrained_best[seed] for seed, best in self.best.items()})

    @property
    def mean_untrained_best(self) -> float:
        return fmean(self.untrained_best.values())


def rows(measurements: Sequence[Measurement], *, metric: str) -> Iterator[tuple[Panel, list[Row]]]:
    """For each pair that has any, a row for each condition in the order they came."""
    marks = dict.fromkeys(
        (each.languages, each.condition, each.language)
        for each in measurements
        if (each.exhibit, each.metric) == (EMERGENCE, OVER_UNIGRAM)
    )
    for panel in panels(measurements, EMERGENCE):
        found = []
        for condition in dict.fromkeys(condition for of_metric, condition, _ in panel.scores if of_metric == metric):
            # Departure: the best layer is picked by the scores that are shown, the untrained model's too.
            best, untrained = (panel.best((metric, condition, kind)) for kind in (None, UNTRAINED))
            raw = panel.best((RAW, condition, None)) if metric == CENTRED_RETRIEVAL else {}
            if seeds := [seed for seed in best if seed in untrained]:
                found.append(
                    Row(
                        condition=condition,
                        best={seed: best[seed] for seed in seeds},
                        untrained_best={seed: untrained[seed] for seed in seeds},
                        raw_best=[raw[seed] for seed in seeds if seed in raw],
                        unlearned=[each for *where, each in marks if where == [panel.languages, condition]],
                    )
                )
        if found:
            yield panel, found


def pair_title(languages: Pair) -> str:
    """ "en-fr", or "en-en'" for a language and its second model."""
    return "-".join(map(shown, languages))


def shown(language: str) -> str:
    """ "en'" for en-prime."""
    return f"{original(language)}'" if language.endswith(PRIME) else language


def second_models(pairs: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A sentence that explains "en'", where it is one of these."""
    for prime in dict.fromkeys(language for pair in pairs for language in pair if language.endswith(PRIME)):
        yield (
            f"{shown(prime)} is {original(prime)} once more, as if it were another language (en' in the paper): the "
            "same text, with a model or embeddings of its own."
        )


def pearson(x: Sequence[float | None], y: Sequence[float | None]) -> float | None:
    """The correlation of two series where both have a value; None where it is not defined, or says nothing."""
    both = [(a, b) for a, b in zip(x, y, strict=False) if a is not None and b is not None]
    if len(both) < FEWEST_POINTS:
        return None
    xs, ys = zip(*both, strict=True)
    # The correlation with a constant is 0 / 0.
    is_constant = min(xs) == max(xs) or min(ys) == max(ys)
    return None if is_constant else correlation(xs, ys)
