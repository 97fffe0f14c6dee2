"""The top of the page: what was study, how large the models are, and how far the study is."""

from isoglot.pipeline.cells import VOCABULARY
from isoglot.report.page.markup import Html, joined, tag
from isoglot.report.state import State
from isoglot.study.study import Study, Synthetic


def page_head(study: Study, state: State) -> Html:
    languages = " and ".join([", ".join(study.languages[:-1]), study.languages[-1]])
    title = tag("h1", study.name, tag("small", f"Cross-lingual structure in models of {languages}"))
    return joined([title, tag("p", _of_models(study), class_="facts"), _status(state)])


def _of_models(study: Study) -> str:
    if not {*study.exhibits} - {VOCABULARY}:
        return "Vocabularies alone: no model was asked for."
    scale = study.scale
    seeds = ("seed " if len(study.seeds) == 1 else "seeds ") + ", ".join(map(str, study.seeds))
    if fewer := [
        exhibit for exhibit, only in study.only.items() if not all(only.keeps("seeds", seed) for seed in study.seeds)
    ]:
        seeds += f" (not all of them for {', '.join(fewer)})"
    return (
        f"Scale {scale.name}: {scale.shape.layers} layers of width {scale.shape.width}, {scale.tokens:,} tokens a "
        f"model; {seeds}{'; the languages are made up' if isinstance(study.text, Synthetic) else ''}."
    )


def _status(state: State) -> Html:
    """Nothing where all is there."""
    if not state.cells_lacking and not state.failures:
        return Html()
    done = state.cells - state.cells_lacking
    failed = f" {len(state.failures)} failed." if state.failures else ""
    return tag(
        "p",
        tag("progress", value=str(done), max=str(state.cells), aria_label="Results that are there"),
        tag("span", f"{done:,} of {state.cells:,} results are there; the rest is pending.{failed} "),
        tag("a", "What is missing", href="#missing"),
        class_="status failed" if state.failures else "status",
    )
