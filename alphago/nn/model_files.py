"""Weights in a file: safetensors with a description, written whole or not at all.

A file is data only: tensors, and JSON texts in the header.  Reading one executes nothing.
"""

import hashlib
import json
import pathlib
from collections.abc import Mapping
from os import PathLike
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as bytes_of

from alphago.system.files import write_atomic

FORMAT = "alphago-net"
FORMAT_VERSION = 1
WANTED = "wanted a network saved with NeuralNet.save"
JSON_KEYS = ("env_config", "structure", "net", "extra")  # each holds one JSON object


class ModelError(ValueError):
    """A model file that cannot be used; the text is a sentence that says what came and what was wanted."""


def write_weights(path: str | PathLike[str], tensors: Mapping[str, Any], description: Mapping[str, str]) -> None:
    """Writes tensors and texts: to a temporary name beside `path`, flushed to disk, then renamed.

    Raises OSError with a sentence, and leaves what was at `path`, if that fails; ValueError if
    something in `tensors` is no tensor.
    """
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{name} is a {type(tensor).__name__}: only tensors can be saved")
    # Copies: safetensors refuses tensors that share memory, as tied weights do.
    own = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    data = bytes_of(own, dict(description))
    path = pathlib.Path(path)
    try:
        write_atomic(path, data)
    except OSError as error:
        told = type(error)(f"the network could not be saved as {path}: {error.strerror or error}")
        told.errno = error.errno
        raise told from error


def fingerprint(tensors: Mapping[str, torch.Tensor]) -> str:
    """A text that is another one for other weights, to the last bit; names do not count."""
    digest = hashlib.sha256()
    for tensor in tensors.values():
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def notes_of(description: Mapping[str, Any]) -> dict[str, str]:
    """The texts that a file holds beside its weights."""
    return {name: str(text) for name, text in description["extra"].items()}


def read_weights(path: str | PathLike[str]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and description (`env` as text; `env_config`, `structure`, `net`, `extra` dicts).

    Raises ModelError with a sentence.
    """
    try:
        data = pathlib.Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ModelError(f"{path} is a folder, {WANTED}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    texts = read_header(path, data)
    try:
        tensors = tensors_from(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return tensors, describe(path, texts)


def read_header(path: str | PathLike[str], data: bytes) -> Mapping[str, Any]:
    """The texts in a safetensors file's header, which is a length and then JSON."""
    if not data:
        raise ModelError(f"{path} is empty, {WANTED}")
    if data.startswith(b"PK"):
        raise ModelError(f"{path} is a zip archive or a torch checkpoint, {WANTED}")
    if data.startswith(b"\x80") and not data[8:9] == b"{":
        raise ModelError(f"{path} is a pickle, which is never read because it could run code, {WANTED}")
    end = 8 + int.from_bytes(data[:8], "little")
    if len(data) > 8 and data[8:9] != b"{":
        raise ModelError(f"{path} is no safetensors file, {WANTED}")
    if len(data) < max(end, 9):
        raise ModelError(f"{path} is cut off: {len(data):,} bytes are not even its header")
    try:
        header = json.loads(data[8:end])
        texts = header.pop("__metadata__", {})
        largest = max((entry["data_offsets"][1] for entry in header.values()), default=0)
        if not isinstance(texts, dict) or not isinstance(largest, int):
            raise ValueError("no table of tensors")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path} is no safetensors file or a damaged one: {error}") from error
    if len(data) < end + largest:
        raise ModelError(f"{path} is cut off: {len(data):,} bytes of {end + largest:,}")
    return texts


def describe(path: str | PathLike[str], texts: Mapping[str, Any]) -> dict[str, Any]:
    """The description, with its JSON read; ModelError if it is not ours."""
    if texts.get("format") != FORMAT:
        raise ModelError(f"{path} is another program's safetensors file, {WANTED}")
    version = texts.get("format_version")
    if version != str(FORMAT_VERSION):
        raise ModelError(f"{path} has format version {version}, this package reads version {FORMAT_VERSION}")
    description: dict[str, Any] = {}
    try:
        description["env"] = str(texts["env"])
        for key in JSON_KEYS:
            description[key] = json.loads(texts[key])
            if not isinstance(description[key], dict):
                raise ValueError(f"{key} is no table")
        if not isinstance(description["net"]["custom"], dict):
            raise ValueError("custom is no table")
        if not isinstance(description["net"].setdefault("parts", {}), dict):
            raise ValueError("parts is no table")
        for key in ("preset", "tower_height", "channels", "size_free"):
            description["net"].setdefault(key, None)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error
    return description
