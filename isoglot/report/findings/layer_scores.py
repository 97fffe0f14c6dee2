"""Scores by layer: an index of all figures, and precision without a map as a row for each condition."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.training_log import OVER_UNIGRAM
from isoglot.report.figures.layer_series import pair_title
from isoglot.report.findings.verdicts import CLOSE_POINTS, Sample

CENTRED_RETRIEVAL = "retrieval_p1"
RAW = "retrieval_p1_uncentred"
CENTRED = (
    "Centred: each language's mean vector is subtracted first, and no other map is used; raw: nothing is subtracted."
)
# Fewer have no bottom, middle and top.
FEWEST_STATES = 3
Kind = tuple[str, str, str | None]
"""Metric, condition and variant."""
Summary = Callable[[Sequence[float]], float]
NO_LAYER = -1


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A figure of one pair of languages, and of one task where it has tasks: scores of the target language."""

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


def panels(measurements: Iterable[Measurement], exhibit: str) -> list[Panel]:
    """One for each pair and task, in the order they came."""
    num_states = 1
    found: dict[tuple[str, str], dict[str | None, dict[Kind, dict[int | None, dict[int, float]]]]] = {}
    for each in measurements:
        num_states = max(num_states, 1 + (each.layer or 0))
        if each.exhibit == exhibit and each.language == each.languages[1]:
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
    """The scores of one condition: the best layer's for each seed."""

    condition: str
    languages: tuple[str, str]
    best: tuple[float, ...]
    untrained_best: tuple[float, ...]
    raw_best: tuple[float, ...]
    """Without subtracting each language's mean; empty where that was not measured, as of words."""
    seeds: tuple[int | None, ...]
    unlearned: tuple[str, ...]
    """Languages of which some seed's model knows no more than how frequent words are."""

    @property
    def gains(self) -> Sample:
        """The points that training added, for each seed."""
        gained = (best - start for best, start in zip(self.best, self.untrained_best, strict=True))
        return Sample.of(dict(zip(self.seeds, gained, strict=True)))

    @property
    def mean_best(self) -> float:
        return fmean(self.best)

    @property
    def mean_untrained_best(self) -> float:
        return fmean(self.untrained_best)


def rows(measurements: Sequence[Measurement], *, metric: str) -> list[Row]:
    """One row for each condition and pair, in the order they came, over the seeds with an untrained score as well."""
    found = []
    marks = [each for each in measurements if (each.exhibit, each.metric) == (EMERGENCE, OVER_UNIGRAM)]
    for panel in panels(measurements, EMERGENCE):
        for condition in dict.fromkeys(condition for of_metric, condition, _ in panel.scores if of_metric == metric):
            trained, untrained = (panel.scores.get((metric, condition, kind), {}) for kind in (None, UNTRAINED))
            raw = panel.scores.get((RAW, condition, None), {}) if metric == CENTRED_RETRIEVAL else {}
            unlearned = (
                each.language for each in marks if (each.languages, each.condition) == (panel.languages, condition)
            )
            if seeds := [seed for seed in trained if seed in untrained]:
                found.append(
                    Row(
                        condition=condition,
                        languages=panel.languages,
                        # Departure: the best layer is picked by the scores that are shown, the untrained model's too.
                        best=tuple(max(trained[seed].values()) for seed in seeds),
                        untrained_best=tuple(max(untrained[seed].values()) for seed in seeds),
                        raw_best=tuple(max(raw[seed].values()) for seed in seeds if seed in raw),
                        seeds=tuple(seeds),
                        unlearned=tuple(dict.fromkeys(unlearned)),
                    )
                )
    return found
