"""The top of the page: what was asked, how large the models are, and how far the study is."""

from isoglot.cells import VOCABULARY
from isoglot.exhibits import cells
from isoglot.report.html.markup import Html, joined, tag
from isoglot.study import Study, Synthetic


def page_head(study: Study, *, num_pending: int, num_failed: int) -> Html:
    asked = " and ".join([", ".join(study.languages[:-1]), study.languages[-1]])
    title = tag("h1", study.name, tag("small", f"Cross-lingual structure in models of {asked}"))
    return joined([title, tag("p", _of_models(study), class_="facts"), _status(study, num_pending, num_failed)])


def _of_models(study: Study) -> str:
    if not {*study.exhibits} - {VOCABULARY}:
        return "Vocabularies alone: no model was asked for."
    scale = study.scale
    seeds = ("seed " if len(study.seeds) == 1 else "seeds ") + ", ".join(map(str, study.seeds))
    return (
        f"Scale {scale.name}: {scale.shape.layers} layers of width {scale.shape.width}, {scale.tokens:,} tokens a "
        f"model; {seeds}{'; the languages are made up' if isinstance(study.text, Synthetic) else ''}."
    )


def _status(study: Study, num_pending: int, num_failed: int) -> Html:
    """Nothing where all is there."""
    if not num_pending and not num_failed:
        return Html()
    num_cells = len(cells(study))
    done = num_cells - num_pending
    failed = f" {num_failed} failed." if num_failed else ""
    return tag(
        "p",
        tag("progress", value=str(done), max=str(num_cells), aria_label="Results that are there"),
        tag("span", f"{done:,} of {num_cells:,} results are there; the rest is pending.{failed} "),
        tag("a", "What is missing", href="#missing"),
        class_="status failed" if num_failed else "status",
    )
