"""Checkpoints from which interrupted training goes on bit for bit, and a thread that writes them meanwhile."""

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from itertools import accumulate
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.files import parsed_json, text_sum
from isoglot.model.work_files import CHECKPOINTS, WorkSums, WriteTensors, write_tensors

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LATEST, PREVIOUS = "latest.safetensors", "previous.safetensors"
STATE_KEY = "progression"  # the key of the training state in the metadata of the file
ALIGNMENT = 64

TrainState = TypeVar("TrainState", bound="DataclassInstance")
"""Everything that changes during training besides weights and moments."""


def _sealed(state: str, tensors: Mapping[str, Tensor]) -> str:
    """The training state with a checksum of the tensors, and one of both of these."""
    # In one text, since safetensors writes the keys of its metadata in an order that changes.
    content = [state, _tensor_sum(tensors)]
    return json.dumps([*content, text_sum(json.dumps(content))])


def _unsealed(metadata: Mapping[str, str]) -> tuple[dict[str, Any], str]:
    """The training state and the checksum of the tensors."""
    *content, seal = parsed_json(metadata[STATE_KEY])
    if seal != text_sum(json.dumps(content)):
        raise ValueError("its checksum has changed")
    state, tensors = content
    return dict(parsed_json(state)), tensors


def _tensor_sum(tensors: Mapping[str, Tensor]) -> str:
    content = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        content.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        content.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return content.hexdigest()


def stored_state(folder: Path) -> dict[str, Any]:
    """The training state in a folder's checkpoint; empty where there is no checkpoint, or none that can be read."""
    try:
        with safe_open(folder / CHECKPOINTS / LATEST, framework="np") as file:
            return _unsealed(file.metadata())[0]
    # It may be replaced or removed while it is read. Training that resumes from a damaged one reports it.
    except (OSError, SafetensorError, ValueError, KeyError, TypeError):
        return {}


def write_checkpoint(
    folder: Path,
    *,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    state: "DataclassInstance",
    write: WriteTensors | None = None,
) -> None:
    """Replace the folder's checkpoint, so that a kill leaves the old one or the new one; the old one is kept too."""
    # Frozen weights are left out, since a resumed run has them already.
    frozen = _frozen(model)
    tensors = {f"weights/{name}": tensor for name, tensor in model.state_dict().items() if name not in frozen}
    for name, parameter in model.named_parameters():
        for moment, tensor in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer/{moment}/{name}"] = tensor
    # One file holds everything: weights of one update beside the positions of another could never be noticed.
    (write or _write_sealed)(tensors, folder / LATEST, metadata={STATE_KEY: json.dumps(asdict(state))})


def _write_sealed(tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    sealed = {name: _sealed(text, tensors) for name, text in (metadata or {}).items()}
    write_tensors(tensors, path, metadata=sealed, previous=path.with_name(PREVIOUS))


def read_checkpoint(
    folder: Path,
    *,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    fresh: TrainState,
    fault: Callable[[TrainState], str | None] = lambda _state: None,
) -> TrainState:
    """Restore model and optimizer and return the stored state; `fresh` where the folder holds no checkpoint.

    A checkpoint that is damaged is removed with a warning, and the one before it is taken, if that is sound. So is one
    in whose state `fault` finds something that is not as it was.
    """
    for name in (LATEST, PREVIOUS):
        path = folder / name
        has_another = name == LATEST and (folder / PREVIOUS).exists()
        otherwise = "from the checkpoint before" if has_another else "from the start"
        try:
            with safe_open(path, framework="pt") as tensors:
                content, expected = _unsealed(tensors.metadata())
                stored = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
            if expected != _tensor_sum(stored):
                raise ValueError("its checksum has changed")
            state = type(fresh)(**content)
            if (reason := fault(state)) is not None:
                raise ValueError(reason)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise IsoglotError(f"{path}: cannot be read ({error}); delete it to train {otherwise}") from error
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            warnings.warn(f"{path} cannot be used ({error}): training goes on {otherwise}", stacklevel=2)
            path.unlink(missing_ok=True)
            continue
        _restore(stored, model=model, optimizer=optimizer)
        return state
    return fresh


def _restore(stored: Mapping[str, Tensor], *, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    weights = {name.removeprefix("weights/"): tensor for name, tensor in stored.items() if name.startswith("weights/")}
    model.load_state_dict(_frozen(model) | weights)
    parameters = dict(model.named_parameters())
    for key, tensor in stored.items():
        if key.startswith("optimizer/"):
            _, moment, name = key.split("/", 2)
            optimizer.state[parameters[name]][moment] = tensor.to(parameters[name].device)


def _frozen(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if not parameter.requires_grad}


class BackgroundWriter:
    """Copies the tensors as they are now and returns, and a thread writes them later.

    Files with metadata are checkpoints; checksums of the others, which are models, go to `sums`.
    """

    # Files are written in the order of the calls, so no checkpoint is on disk before the models that it knows of. The
    # writer has memory for one file of each name, which it uses again: a call waits until the last file of that name is
    # on disk. Leaving the context flushes all files. Leaving it by an error finishes one file and drops the others.

    def __init__(self, sums: WorkSums | None = None) -> None:
        self._sums = sums
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="isoglot-writer")
        self._latest: dict[str, Future[None]] = {}
        self._memory: dict[str, Tensor] = {}
        self._error: BaseException | None = None

    def __call__(self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
        """Hand one file over; an error in writing any earlier file is raised here."""
        if path.name in self._latest:
            wait([self._latest[path.name]])
        self._raise_error()
        copies = self._copies(tensors, path.name)
        self._raise_error()  # again, since a file may have failed while the tensors were copied
        self._latest[path.name] = self._thread.submit(self._write, copies, path, metadata)

    def is_free(self, name: str) -> bool:
        """Whether a call for a file of this name would not wait."""
        return name not in self._latest or self._latest[name].done()

    def finish(self) -> None:
        wait(self._latest.values())
        self._raise_error()

    def __enter__(self) -> "BackgroundWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._thread.shutdown(cancel_futures=kind is not None)
        if kind is None:
            self._raise_error()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _write(self, tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None) -> None:
        if self._error is not None:
            return  # a later file may build on the one that is missing
        try:
            if metadata is None:
                write_tensors(tensors, path, sums=self._sums)
            else:
                _write_sealed(tensors, path, metadata=metadata)
        except BaseException as error:
            self._error = error
            if isinstance(error, OSError | SafetensorError):
                self._error = IsoglotError(
                    f"{path} could not be written ({error}): see that its disk has room and may be written to, "
                    "and run again; what was saved before is kept"
                )
                self._error.__cause__ = error

    @torch.no_grad()
    def _copies(self, tensors: Mapping[str, Tensor], file_name: str) -> dict[str, Tensor]:
        *starts, size = accumulate((ceil(each.nbytes / ALIGNMENT) * ALIGNMENT for each in tensors.values()), initial=0)
        devices = {tensor.device for tensor in tensors.values() if tensor.device.type == "cuda"}
        if file_name not in self._memory or self._memory[file_name].nbytes < size:
            self._memory.pop(file_name, None)  # frees it first, so that both are never held at once
            self._memory[file_name] = torch.empty(size, dtype=torch.uint8, pin_memory=bool(devices))
        memory, copies = self._memory[file_name], {}
        # One thread: where another program has a core, threads that share small copies mostly wait for each other.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            for (name, tensor), start in zip(tensors.items(), starts, strict=True):
                place = memory[start : start + tensor.nbytes]
                copies[name] = place.view(tensor.dtype).view(tensor.shape)
                copies[name].copy_(tensor, non_blocking=True)
        finally:
            torch.set_num_threads(threads)
        # The copy runs on the stream that trains, so no weight changes before it is copied. It is waited for here: a GB
        # takes tens of ms into pinned memory, and the thread then never calls CUDA, which could spoil a graph that is
        # being recorded.
        for device in devices:
            torch.cuda.current_stream(device).synchronize()
        return copies
