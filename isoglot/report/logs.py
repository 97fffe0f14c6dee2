"""What a report says of the making of its artifacts: where the logs are, and what a run remarked in the end."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from isoglot.pipeline.exhibits import cells
from isoglot.pretraining.run import HEALTH
from isoglot.store import Store, inputs_first
from isoglot.study.study import Study

LEFT = "left "
"""How a remark begins that takes an earlier one back."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """Of one artifact."""

    title: str
    address: str | None
    """From where the report is; none where that is no longer in its store."""
    remark: str | None
    """The last, where one still holds."""


def logs(study: Study, *, store: Store, folder: Path) -> list[Log]:
    """Of each artifact that has any, as a report in this folder leads to them."""
    stages = inputs_first(cell.stage for cell in cells(study)).values()
    found = ((stage.title, store.log_folder(stage)) for stage in stages)
    return [
        Log(title=title, address=f"{os.path.relpath(log, folder)}/", remark=last_remark(log))
        for title, log in found
        if log.is_dir()
    ]


def last_remark(log: Path) -> str | None:
    """Of the latest attempt, as what troubled an earlier one may be past."""
    try:
        lines = [json.loads(line) for line in (log / HEALTH).read_text(encoding="utf-8").splitlines()]
        remarks = [
            str(line["remark"]) for line in lines if "remark" in line and line["attempt"] == lines[-1]["attempt"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return remarks[-1] if remarks and not remarks[-1].startswith(LEFT) else None
