"""Stages, the store of their artifacts, plans and their execution; knows nothing of language or torch."""

from isoglot.artifacts.canonical import NOT_IDENTITY
from isoglot.artifacts.engine import Engine, InThisProcess
from isoglot.artifacts.executor import Observer, Outcome, run_plan
from isoglot.artifacts.explain import Difference, differences
from isoglot.artifacts.observers import Observers
from isoglot.artifacts.plan import PlannedStage, State, inputs_first, plan
from isoglot.artifacts.record import Record
from isoglot.artifacts.resources import Resources
from isoglot.artifacts.stage import Amount, Progress, Stage, Work
from isoglot.artifacts.store import Store

__all__ = [
    "NOT_IDENTITY",
    "Amount",
    "Difference",
    "Engine",
    "InThisProcess",
    "Observer",
    "Observers",
    "Outcome",
    "PlannedStage",
    "Progress",
    "Record",
    "Resources",
    "Stage",
    "State",
    "Store",
    "Work",
    "differences",
    "inputs_first",
    "plan",
    "run_plan",
]
