"""The tasks there are, and the files of labelled examples that a study on real languages names for them."""

from importlib.resources import files
from pathlib import Path

from isoglot.errors import suggestion
from isoglot.study.toml_tables import FileKey, checked, file_paths, quoted, refuse_unknown_keys

TASKS = files("isoglot") / "evaluation" / "transfer" / "tasks"
SPLITS = {
    "train": "labelled examples to fine-tune on",
    "dev": "labelled examples to choose models by",
    "test": "labelled examples to score by",
}
"""Files that a language may bring to a task, and their use."""
OF_TARGETS = ("test",)
READS_FILES_OF = {"pos": "parsing"}
"""Where a task has no files of its own: treebanks name parts of speech as well."""


def task_names() -> tuple[str, ...]:
    """A task is a file of its own; none is imported, as tasks stand above studies."""
    names = (entry.name for entry in TASKS.iterdir())
    return tuple(
        sorted(name.removesuffix(".py") for name in names if name.endswith(".py") and not name.startswith("_"))
    )


def task_file_keys(task: str, *, language: str, split: str, pair: tuple[str, str]) -> list[str]:
    """Keys of [resources] under which the files of a task may stand: the first that is given counts.

    The source language may have other files in a pair than elsewhere: `["ner.en-zh.dev", "ner.en.dev"]`.
    """
    owners = ["-".join(pair), language] if language == pair[0] else [language]
    tasks = [task, READS_FILES_OF[task]] if task in READS_FILES_OF else [task]
    return [f"{each}.{owner}.{split}" for each in tasks for owner in owners]


def parse_task_files(
    task: str, value: object, *, languages: tuple[str, ...], data: Path, place: FileKey
) -> dict[str, tuple[Path, ...]]:
    """One task's table of [resources], which is at `place`, by key: "ner.fr.test"."""
    source, *targets = languages
    owners = (*languages, *(f"{source}-{target}" for target in targets))
    found = {}
    for owner, of_owner in checked(value, dict, place=place).items():
        at_owner = place.at(owner)
        if owner not in owners:
            raise at_owner.error(
                f"the languages and pairs of this study are {quoted(owners)}{suggestion(owner, owners)}"
            )
        table = checked(of_owner, dict, place=at_owner)
        if owner in targets:
            _refuse_what_is_never_read(table, source=source, place=at_owner)
        refuse_unknown_keys(table, OF_TARGETS if owner in targets else SPLITS, place=at_owner)
        for split, names in table.items():
            found[f"{task}.{owner}.{split}"] = file_paths(names, data=data, place=at_owner.at(split))
    return found


def _refuse_what_is_never_read(table: dict[str, object], *, source: str, place: FileKey) -> None:
    for split in table:
        if split in SPLITS and split not in OF_TARGETS:
            raise place.at(split).error(
                f"zero-shot transfer never reads it, as models are fine-tuned and chosen in {source!r} alone (section "
                "3.2); drop it"
            )
