"""isoglot: a laboratory for how cross-lingual structure emerges in pretrained language models.

The public names are those of `__all__`; docs/api.md has an example of each. Everything else may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from isoglot.errors import IsoglotError
    from isoglot.evaluation.geometry.arrays import Model, csls, linear_cka, procrustes, retrieval
    from isoglot.pipeline.model_names import load_model
    from isoglot.report.probe import Probe, probe
    from isoglot.report.results import Results, run
    from isoglot.study import conditions
    from isoglot.study.conditions import Condition
    from isoglot.study.separate import Separate
    from isoglot.study.study import Study

__all__ = ["Condition", "IsoglotError", "Model", "Probe", "Results", "Separate", "Study", "conditions"]
__all__ += ["csls", "linear_cka", "load_model", "probe", "procrustes", "retrieval", "run"]

_HOMES = {
    "Condition": "isoglot.study.conditions",
    "IsoglotError": "isoglot.errors",
    "Model": "isoglot.evaluation.geometry.arrays",
    "Probe": "isoglot.report.probe",
    "Results": "isoglot.report.results",
    "Separate": "isoglot.study.separate",
    "Study": "isoglot.study.study",
    "conditions": "isoglot.study.conditions",
    "csls": "isoglot.evaluation.geometry.arrays",
    "linear_cka": "isoglot.evaluation.geometry.arrays",
    "load_model": "isoglot.pipeline.model_names",
    "probe": "isoglot.report.probe",
    "procrustes": "isoglot.evaluation.geometry.arrays",
    "retrieval": "isoglot.evaluation.geometry.arrays",
    "run": "isoglot.report.results",
}


if not TYPE_CHECKING:
    # For types every name is imported above: a function of this name would let them take any misspelt one for Any.
    def __getattr__(name: str) -> Any:
        # Each name is imported when it is first used: torch takes seconds, and `isoglot --help` must answer at once.
        if name not in _HOMES:
            raise AttributeError(f"module 'isoglot' has no attribute {name!r}")
        home = import_module(_HOMES[name])
        globals()[name] = home if name == "conditions" else getattr(home, name)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
