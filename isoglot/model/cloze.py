"""Masked-word prediction: the softmax tied to the token table, with a bias and no further layers."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from isoglot.files import write_whole
from isoglot.model.encoder import Encoder
from isoglot.model.per_language import PerLanguage
from isoglot.model.work_files import WriteTensors, write_tensors
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate

# B = windows, L = positions, D = width, M = masked positions, V = tokens of a table
WEIGHTS = "model.safetensors"
DESCRIPTION = "model.json"


class OutputBias(nn.Module):
    """The part of the softmax that is not the token table."""

    def __init__(self, table_size: int, width: int):
        super().__init__()
        # XLM's output layer is an nn.Linear, and this is the initial bias of one.
        self.bias = nn.Parameter(torch.empty(table_size).uniform_(-(width**-0.5), width**-0.5))


class ClozeModel(nn.Module):
    """An encoder with its softmax, shared or one for each language (section 4.3); a shared one may have two biases."""

    def __init__(self, shape: EncoderShape, *, table_sizes: Mapping[str, int], separate: Separate, pad_id: int):
        super().__init__()
        self.encoder = Encoder(shape, table_sizes=table_sizes, separate=separate, pad_id=pad_id)
        # Departure: own embeddings bring an own bias; the paper says only that the softmax is language-specific.
        sizes, languages = self.encoder.sizes_by_owner, list(table_sizes)
        self.output_bias = PerLanguage(
            lambda owner: OutputBias(sizes[owner], shape.width), languages, separate=separate.embeddings
        )
        if separate.output_bias:
            # Departure: the paper has no row with a bias for each language in a shared softmax. Both start as copies of
            # one, so that the model starts as the one whose languages share it.
            shared = self.output_bias.of(None)
            self.output_bias = PerLanguage(lambda _: deepcopy(shared), languages, separate=True)

    def logits(self, hidden_MD: Tensor, *, language: str | None = None) -> Tensor:
        table_VD = self.encoder.embeddings.of(language).token.weight
        return F.linear(hidden_MD, table_VD, self.output_bias.of(language).bias)

    def masked_logits(self, token_BL: Tensor, *, masked_M: Tensor, language: str | None = None) -> Tensor:
        """Scores at masked positions alone, flat indices into B x L: the softmax is most of a small model's work."""
        hidden_BLD = self.encoder(token_BL, language=language)
        return self.logits(hidden_BLD.flatten(0, 1).index_select(0, masked_M), language=language)


def write_model(
    model: ClozeModel, folder: Path, *, write: WriteTensors = write_tensors, in_halves: bool = False
) -> None:
    """Write weights and description into a folder; the weights as they are now, whenever they are written."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / DESCRIPTION, description_of(model))
    weights = model.state_dict()
    # Half the bytes of a file that only scores are read from. float16 keeps 11 bits of a weight, bfloat16 8.
    write({name: tensor.half() for name, tensor in weights.items()} if in_halves else weights, folder / WEIGHTS)


def description_of(model: ClozeModel) -> str:
    """The text that tells how to build the model its weights fit into."""
    encoder, separate = model.encoder, model.encoder.separate
    # Left out where it is shared, so that models of before it could be own keep their bytes.
    own_bias = {"output_bias": True} if separate.output_bias else {}
    description = {
        "shape": asdict(encoder.shape),
        "table_sizes": encoder.table_sizes,
        "separate": {"embeddings": separate.embeddings, "layers": sorted(separate.layers), **own_bias},
        "pad_id": encoder.pad_id,
    }
    return json.dumps(description, indent=2) + "\n"


def read_model(folder: Path) -> ClozeModel:
    """The model that `write_model` put there, in evaluation mode."""
    description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    shape, separate = description["shape"], description["separate"]
    model = ClozeModel(
        EncoderShape(**(shape | {"norm": NormPlacement(shape["norm"])})),
        table_sizes=description["table_sizes"],
        separate=Separate(**(separate | {"layers": frozenset(separate["layers"])})),
        pad_id=description["pad_id"],
    )
    model.load_state_dict(load_file(folder / WEIGHTS))
    return model.eval()
