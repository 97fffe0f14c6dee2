"""What a report says of the making of its artifacts: where the logs are, and what a run remarked in the end."""

import json
import os
from pathlib import Path

from isoglot.artifacts import Store, inputs_first
from isoglot.exhibits import cells
from isoglot.pretraining.run import HEALTH
from isoglot.study import Study

LEFT = "left "
"""How a remark begins that takes an earlier one back."""


def log_links(study: Study, *, store: Store, folder: Path) -> list[str]:
    """To the logs of each artifact, from a folder beside them, with the last remark where one still holds."""
    stages = inputs_first(cell.stage for cell in cells(study)).values()
    logs = [(stage.title, store.log_folder(stage)) for stage in stages]
    links = [(f"[{title}]({os.path.relpath(log, folder)}/)", last_remark(log)) for title, log in logs if log.is_dir()]
    return [f"{link}: {remark}" if remark else link for link, remark in links]


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
