"""The tasks of section 3.2, one file each: a new file is a new task, known by the file's name."""

from functools import cache
from importlib import import_module
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.task import Task


@cache
def task_named(name: str) -> Task[Any]:
    """The TASK of a file here; a study has checked the name."""
    module = import_module(f"{__name__}.{name}")
    task = getattr(module, "TASK", None)
    if not isinstance(task, Task) or task.name != name:
        raise IsoglotError(f"{module.__file__}: should define TASK, a Task whose name is {name!r}")
    return task
