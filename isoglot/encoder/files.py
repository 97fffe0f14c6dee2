"""Models on disk: weights as safetensors, and what is needed to build the module around them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file

from isoglot.encoder.cloze import ClozeModel
from isoglot.errors import IsoglotError
from isoglot.files import WriteTensors, write_tensors
from isoglot.study.conditions import Separate
from isoglot.study.scales import EncoderShape, NormPlacement

WEIGHTS = "model.safetensors"
DESCRIPTION = "model.json"


def write_model(model: ClozeModel, folder: Path, *, write: WriteTensors = write_tensors) -> None:
    """Write weights and description into a folder; the weights as they are now, whenever they are written."""
    folder.mkdir(parents=True, exist_ok=True)
    encoder = model.encoder
    description = {
        "shape": asdict(encoder.shape),
        "table_sizes": encoder.table_sizes,
        "separate": {"embeddings": encoder.separate.embeddings, "layers": sorted(encoder.separate.layers)},
        "pad_id": encoder.pad_id,
    }
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    write(model.state_dict(), folder / WEIGHTS)


def read_model(folder: Path) -> ClozeModel:
    """The model that `write_model` put there, in evaluation mode."""
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        model = _described(description)
        model.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError, IsoglotError) as error:
        raise IsoglotError(f"{folder}: does not hold a readable model ({error}); delete it to make it anew") from error
    # torch's words are not passed on: there is a line of them for every weight.
    except RuntimeError as error:
        raise IsoglotError(f"{folder}: {WEIGHTS} does not fit {DESCRIPTION}; delete it to make it anew") from error
    return model.eval()


def _described(description: dict[str, Any]) -> ClozeModel:
    shape, separate = description["shape"], description["separate"]
    return ClozeModel(
        EncoderShape(**(shape | {"norm": NormPlacement(shape["norm"])})),
        table_sizes=description["table_sizes"],
        separate=Separate(embeddings=separate["embeddings"], layers=frozenset(separate["layers"])),
        pad_id=description["pad_id"],
    )
