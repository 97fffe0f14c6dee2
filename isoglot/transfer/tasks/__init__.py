"""The tasks of section 3.2, one file each: a new file is a new task, known by the file's name."""

from importlib import import_module
from typing import Any

from isoglot.transfer.task import Task


def task_named(name: str) -> Task[Any]:
    """The TASK of a file here; a study has checked the name."""
    task: Task[Any] = import_module(f"{__name__}.{name}").TASK
    return task
