"""The tasks there are, and the files of labelled examples that a study on real languages names for them."""

from importlib.resources import files
from pathlib import Path

from isoglot.study.toml_tables import FileKey, checked, file_paths, refuse_unknown_keys

TASKS = files("isoglot") / "evaluation" / "transfer" / "tasks"
# Files that a language may bring to a task, and their use.
SPLITS = {
    "train": "labelled examples to fine-tune on",
    "dev": "labelled examples to choose models by",
    "test": "labelled examples to score by",
}
READS_FILES_OF = {"pos": "parsing"}  # where a task has no files of its own: treebanks name parts of speech as well


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
    by_owner = checked(value, dict, place=place)
    refuse_unknown_keys(by_owner, owners, place=place, problem="the languages and pairs of this study are")
    paths = {}
    for owner, of_owner in by_owner.items():
        at_owner = place.at(owner)
        for split in (table := checked(of_owner, dict, place=at_owner)):
            if owner in targets and split in ("train", "dev"):
                raise at_owner.at(split).error(
                    f"zero-shot transfer never reads it, as models are fine-tuned and chosen in {source!r} alone "
                    "(section 3.2); drop it"
                )
        refuse_unknown_keys(table, ("test",) if owner in targets else SPLITS, place=at_owner)
        for split, names in table.items():
            paths[f"{task}.{owner}.{split}"] = file_paths(names, data=data, place=at_owner.at(split))
    return paths
