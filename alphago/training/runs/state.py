"""The state of a run as a safetensors file: its header has the plain data as JSON, and a digest of everything."""

import hashlib
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load as tensors_from

from alphago.nn.tensor_bytes import bytes_of
from alphago.system.files import read_file, set_aside, write_atomic
from alphago.system.npz import read_npz

FORMAT = "alphago-state"
FORMAT_VERSION = "6"
STATES = 2  # number of states kept on disk, since the newest may be damaged
MOST_BYTES = 2**33  # largest state that is read
FASTEST = 1  # level of zlib


class VersionError(ValueError):
    """The error raised for an undamaged state of another version."""


@dataclass
class State:
    """The complete state of a run between two moves or two gradient steps.

    tensors: tensors by name.  data: everything else, as plain data for JSON.
    notes: sentences about damaged files that were found when the state was read, for a report.
    """

    tensors: dict[str, torch.Tensor]
    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)


class StateFiles:
    """The newest states of a run, in numbered files such as state/000012.safetensors.

    The oldest state is removed only when the new one is written, so a complete state always exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def numbers(self) -> list[int]:
        """Return the numbers of the states on disk, ascending."""
        return sorted(int(path.stem) for path in self.folder.glob("*.safetensors") if path.stem.isdecimal())

    def path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.safetensors"

    def write(self, state: State) -> None:
        """Write `state` as the newest state; if that fails, raise OSError and keep the earlier states."""
        self.folder.mkdir(exist_ok=True)
        numbers = self.numbers()
        write_atomic(self.path(numbers[-1] + 1 if numbers else 1), to_bytes(state))
        kept_before = STATES - 1  # beside the state just written
        for path in filter(Path.is_file, map(self.path, numbers[:-kept_before])):
            path.unlink()

    def read(self) -> State:
        """Return the newest undamaged state.  Damaged states are set aside, and the result's `notes` name them.

        Raises ValueError if no state is undamaged, VersionError if the newest undamaged state is of another version.
        """
        notes = []
        for number in reversed(self.numbers()):
            path = self.path(number)
            try:
                state = state_from_bytes(read_file(path, MOST_BYTES))
            except VersionError as error:
                raise VersionError(f"{path} {error}") from error
            except ValueError as error:
                notes.append(set_aside(path, str(error)))
            else:
                state.notes = notes
                return state
        raise ValueError("; ".join([*notes, f"{self.folder} holds no state to go on from"]))


def to_bytes(state: State) -> bytes:
    """Return the contents of a safetensors file with a state."""
    # Tensors are copied, since safetensors refuses tensors that share memory or are not contiguous.
    tensors = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in state.tensors.items()
    }
    text = json.dumps(state.data)
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "data": text, "digest": digest(tensors, text)}
    return bytes_of(tensors, header)


def state_from_bytes(data: bytes) -> State:
    """Return the state in a file's contents.

    Raises ValueError if they are damaged, VersionError if they are of another version; the message, such as "is
    damaged", continues a sentence that begins with the file's name.
    """
    try:
        header_size = int.from_bytes(data[:8], "little")  # as in any safetensors file
        header = json.loads(data[8 : 8 + header_size])["__metadata__"]
        tensors = tensors_from(data)
        is_sound = header["digest"] == digest(tensors, header["data"])
        file_format, version = header["format"], header["format_version"]
    except Exception as error:  # damaged bytes can fail in any way
        raise ValueError(f"is damaged ({type(error).__name__})") from error
    if not is_sound:
        raise ValueError("is damaged (its digest differs)")
    if (file_format, version) != (FORMAT, FORMAT_VERSION):
        raise VersionError(f"is of another version (must be {FORMAT} {FORMAT_VERSION}, got {file_format} {version})")
    return State(tensors, json.loads(header["data"]))


def digest(tensors: Mapping[str, torch.Tensor], text: str) -> str:
    """Return a hash of the tensors' names, dtypes, shapes and values, and of `text`."""
    seal = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name]
        seal.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        if tensor.numel():
            seal.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return seal.hexdigest()


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> torch.Tensor:
    """Store named arrays in one compressed uint8 tensor [n], so that a state's many games take little space."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return torch.frombuffer(bytearray(zlib.compress(file.getbuffer(), level=FASTEST)), dtype=torch.uint8)


def unpack_arrays(data: torch.Tensor) -> dict[str, np.ndarray]:
    """Return the named arrays in a tensor of `pack_arrays`."""
    return read_npz(zlib.decompress(data.numpy().data))


def tensor_name(board: int) -> str:
    """Return the name, in a run's state, of the tensor with the games in progress on boards of size `board`."""
    return f"selfplay{board}.games"
