"""Figures 4 to 8 as cells: what models of one language each, and of both, have in common at every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from isoglot.evaluation.transfer.task import Recipe
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import MAPPED, UNTRAINED, Cell, Gap, Stages, filled
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.store import Stage
from isoglot.study.conditions import CONDITIONS, DEFAULT, MONOLINGUAL, Condition
from isoglot.study.languages import PRIME
from isoglot.study.real_text import task_names
from isoglot.study.study import Study

FIGURE_4 = "figure-4"
FIGURE_5 = "figure-5"
FIGURE_6 = "figure-6"
FIGURE_7 = "figure-7"
FIGURE_8 = "figure-8"
OF_PRIME = CONDITIONS["sep-emb"]  # the condition of the model that reads one language twice (section 5.2)
# The models whose every layer is read, and whether the target's states are mapped to the source's.
LAYERS_OF = {FIGURE_5: ((MONOLINGUAL, True), (DEFAULT, False)), FIGURE_8: ((DEFAULT, False), (DEFAULT, True))}
# One series of a figure, or a point of it: condition, what gives its stage, task and variant.
Series = tuple[Condition, Callable[[], Stage], str | None, str | None]


def figure_cells(study: Study) -> Iterator[Cell | Gap]:
    """The cells of every figure that the study asks for."""
    for exhibit in (FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8):
        if exhibit not in study.shown_exhibits:
            continue
        part = study.of_exhibit(exhibit)
        if exhibit in LAYERS_OF and not _word_tasks(part.tasks):
            reason = f"tasks has none that labels words; add one of {', '.join(_word_tasks(task_names()))}"
            for languages in part.pairs:
                yield Gap(exhibit=exhibit, condition=DEFAULT.name, languages=languages, reason=reason)
        source = part.languages[0]
        # Figure 7 also holds the source against its own second model (section 5.2).
        second = [(source, source + PRIME)] if exhibit == FIGURE_7 else []
        for seed in part.seeds:
            for languages in (*second, *part.pairs):
                for condition, make_stage, task, variant in _series(part, exhibit, languages, seed):
                    stages = partial(_of_variant, variant, make_stage)
                    yield from filled(
                        stages, exhibit=exhibit, condition=condition.name, languages=languages, seed=seed, task=task
                    )


def _of_variant(variant: str | None, make_stage: Callable[[], Stage]) -> Stages:
    return {variant: make_stage()}


def _word_tasks(tasks: Iterable[str]) -> list[str]:
    """NLI has no words that could be mapped one by one."""
    return [task for task in tasks if task_named(task).recipe is Recipe.WORDS]


def _series(study: Study, exhibit: str, languages: tuple[str, str], seed: int) -> Iterator[Series]:
    if exhibit == FIGURE_4:
        yield MONOLINGUAL, ModelPair.of(study, MONOLINGUAL, languages, seed=seed).word_level_alignment, None, None
    elif exhibit in LAYERS_OF:
        for condition, is_mapped in LAYERS_OF[exhibit]:
            pair = ModelPair.of(study, condition, languages, seed=seed)
            for task in _word_tasks(study.tasks):
                for layer in range(study.scale.shape.layers + 1):
                    make_stage = partial(pair.layer_transfer, task, layer=layer, is_mapped=is_mapped)
                    yield condition, make_stage, task, MAPPED if is_mapped else None
    else:
        # Models of both languages, of one each, and the source's with an untrained one of the target.
        conditions = (OF_PRIME,) if languages[1].endswith(PRIME) else study.conditions
        models = [(condition, None) for condition in conditions] + [(MONOLINGUAL, None), (MONOLINGUAL, UNTRAINED)]
        for condition, variant in models:
            pair = ModelPair.of(study, condition, languages, seed=seed, is_target_trained=variant is None)
            make_stage = pair.sentence_alignment if exhibit == FIGURE_6 else pair.similarity
            yield condition, make_stage, None, variant
