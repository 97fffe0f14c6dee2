"""Measurements as a study might yield them, made up by hand."""

from collections.abc import Mapping, Sequence

from isoglot.pipeline.cells import BASELINES, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.layer_scores import Row


def measured(
    condition: str,
    by_layer: Sequence[float],
    *,
    metric: str = "retrieval_p1",
    variant: str | None = None,
    exhibit: str = "emergence",
    seed: int = 0,
    languages: tuple[str, str] = ("ela", "oru"),
) -> list[Measurement]:
    """Scores of one model, from layer 0 up."""
    return [
        measurement(
            condition,
            value,
            metric=metric,
            variant=variant,
            exhibit=exhibit,
            layer=layer,
            seed=seed,
            languages=languages,
        )
        for layer, value in enumerate(by_layer)
    ]


def measurement(
    condition: str,
    value: float,
    *,
    metric: str,
    variant: str | None = None,
    exhibit: str = "emergence",
    layer: int | None = None,
    seed: int = 0,
    languages: tuple[str, str] = ("ela", "oru"),
) -> Measurement:
    return Measurement(
        study="mine",
        exhibit=exhibit,
        condition=condition,
        languages=languages,
        language=languages[1],
        task=None,
        metric=metric,
        variant=variant,
        layer=layer,
        seed=seed,
        value=value,
        stage="0" * 64,
    )


def transferred(
    condition: str,
    scores: Mapping[str, float],
    *,
    task: str = "ner",
    metric: str = "f1",
    seed: int = 0,
    variant: str | None = None,
    languages: tuple[str, str] = ("ela", "oru"),
) -> list[Measurement]:
    """One metric of one model's zero-shot transfer, by language; with a variant, of a baseline."""
    return [
        Measurement(
            study="mine",
            exhibit=BASELINES if variant else TABLE_1,
            condition=condition,
            languages=languages,
            language=language,
            task=task,
            metric=metric,
            variant=variant,
            layer=None,
            seed=seed,
            value=value,
            stage="0" * 64,
        )
        for language, value in scores.items()
    ]


def row(
    condition: str, *best: float, untrained: tuple[float, ...] = (), languages: tuple[str, str] = ("ela", "oru")
) -> Row:
    """What a condition scored with each seed, by default from nought before training."""
    return Row(
        condition=condition,
        languages=languages,
        layers=(0.0,),
        best=best,
        untrained_best=untrained or (0.0,) * len(best),
    )
