"""Stages, the store of their artifacts, plans and their execution; knows nothing of language or torch."""

from isoglot.store.canonical import NOT_IDENTITY
from isoglot.store.engine import Engine, InThisProcess
from isoglot.store.executor import Observer, Observers, Outcome, run_plan
from isoglot.store.explain import Difference, differences
from isoglot.store.plan import PlannedStage, State, inputs_first, plan
from isoglot.store.record import Record
from isoglot.store.stage import Amount, Progress, Resources, Stage, Work
from isoglot.store.store import Store

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
