"""Stages, the store of their artifacts, plans and their execution; knows nothing of language or torch."""

from isoglot.store.canonical import NOT_IDENTITY, NOT_IDENTITY_AT_DEFAULT
from isoglot.store.engine import Engine, InThisProcess, Observer
from isoglot.store.executor import Outcome, run_plan
from isoglot.store.explain import Difference, differences
from isoglot.store.plan import PlannedStage, State, inputs_first, plan
from isoglot.store.record import Record
from isoglot.store.stage import Amount, Progress, Resources, Stage, Work
from isoglot.store.store import Store

__all__ = ["NOT_IDENTITY", "Amount", "Progress", "Record", "Resources", "Stage", "Store", "Work"]
__all__ += ["NOT_IDENTITY_AT_DEFAULT", "Difference", "PlannedStage", "State", "differences", "inputs_first", "plan"]
__all__ += ["Engine", "InThisProcess", "Observer", "Outcome", "run_plan"]
