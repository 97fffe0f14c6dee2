"""Models by name, as `isoglot compare` and `isoglot export` take them: study:condition:language."""

import shlex
from pathlib import Path

from isoglot.artifacts import Store
from isoglot.conditions import MONOLINGUAL, Condition
from isoglot.errors import IsoglotError
from isoglot.languages import PRIME
from isoglot.stages.model_graph import ModelGraph
from isoglot.stages.model_pairs import Side
from isoglot.study import Study, read_study

FORM = (
    'as in "demo:default:oru" or "demo:monolingual:oru:1": a study, a condition, a language, perhaps a pair or a seed'
)
UNTRAINED = "untrained"


def named_side(name: str, *, store: Store, data: Path | None = None, language: str | None = None) -> Side:
    """A language as a model of the store reads it; the language may stand in the name or beside it."""
    study_name, *words = name.split(":")
    if not words:
        raise IsoglotError(f"{name!r} names no model; write it {FORM}")
    study = read_study(study_name, data=data)
    condition, *choices = words
    if language is not None:
        choices = [language, *(choice for choice in choices if choice != language)]
    side = _side(name, study=study, condition=condition, choices=choices)
    if not store.has(side.encoder):
        raise IsoglotError(
            f"{name}: this model is not in {store.root} yet; make it with: {_making(study_name, side, store, data)}"
        )
    return side


def _making(study: str, side: Side, store: Store, data: Path | None) -> str:
    """The command; an exhibit that shows a model is part of it, as the study's own may not."""
    words = ["isoglot", "run", study, "--store", str(store.root), *(["--data", str(data)] if data else [])]
    words += ["--exhibits", "figure-7" if len(side.graph.languages) == 1 else "emergence"]
    return shlex.join([*words, "--seeds", str(side.graph.seed)])


def _side(name: str, *, study: Study, condition: str, choices: list[str]) -> Side:
    conditions = {each.name: each for each in (*study.conditions, MONOLINGUAL)}
    if condition not in conditions:
        raise IsoglotError(f"{name}: {condition!r} is none of {study.name}'s models: {', '.join(conditions)}")
    pairs = {"-".join(pair): pair for pair in study.pairs}
    languages = [choice for choice in choices if choice in (*study.languages, study.languages[0] + PRIME)]
    named_pairs = [choice for choice in choices if choice in pairs]
    seeds = [choice for choice in choices if choice.isdecimal()]
    unknown = [choice for choice in choices if choice not in (*languages, *named_pairs, *seeds, UNTRAINED)]
    if unknown:
        raise IsoglotError(
            f"{name}: {unknown[0]!r} is no language, pair or seed of {study.name} "
            f"({', '.join((*study.languages, *pairs))}); write a model {FORM}"
        )
    if len(languages) != 1 or len(seeds) > 1 or len(named_pairs) > 1:
        raise IsoglotError(f"{name}: say one language, {' or '.join(study.languages)}; write a model {FORM}")
    graph = ModelGraph(
        study=study,
        condition=conditions[condition],
        languages=_languages(name, study, conditions[condition], languages[0], [pairs[each] for each in named_pairs]),
        seed=int(seeds[0]) if seeds else study.seeds[0],
    )
    return Side(
        graph=graph,
        encoder=graph.untrained if UNTRAINED in choices else graph.pretrained,
        language=languages[0],
    )


def _languages(
    name: str, study: Study, condition: Condition, language: str, pairs: list[tuple[str, str]]
) -> tuple[str, ...]:
    """Of the model that is meant: the language alone, or the pair it belongs to."""
    if condition is MONOLINGUAL:
        return (language,)
    if language.endswith(PRIME):
        return (study.languages[0], language)
    fitting = [pair for pair in pairs or study.pairs if language in pair]
    if len(fitting) != 1:
        known = ", ".join("-".join(pair) for pair in study.pairs)
        raise IsoglotError(f"{name}: several models read {language!r}; say which pair: {known}")
    return fitting[0]
