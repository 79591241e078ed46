"""Networks in files: finding them, writing and reading safetensors with a description, and checking what a file holds.

A file is data only: tensors, and JSON texts in the header.  Reading a file executes nothing from it.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as bytes_of
from torch import nn

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference, with_settings
from alphago.nn.parts import fits_game, game_structure
from alphago.system.files import write_atomic
from alphago.system.validation import shown

FORMAT = "alphago-net"
FORMAT_VERSION = 1
NOT_A_NETWORK = "not a network saved with NeuralNet.save"
JSON_KEYS = ("env_config", "structure", "net", "extra")  # each holds one JSON object
REFERENCE = r"[\w.]{1,99}:[\w.]{1,99}"  # the class of a game that is not the package's; printed, never imported
LATEST = "weights.safetensors"  # what a run folder calls its latest network
PACKAGED = Path(__file__).parents[1] / "nets"  # networks that come with the package, named after their board


class ModelError(ValueError):
    """The error of a model file that cannot be used; its message has the file, what it holds and what was expected."""


# --- finding ---------------------------------------------------------------------------------------


def packaged_nets() -> list[str]:
    """Return the names of the networks that come with the package, such as "7x7", small boards first."""
    return sorted((path.stem for path in PACKAGED.glob("*.safetensors")), key=lambda name: (len(name), name))


def model_file(path: str | PathLike[str]) -> Path:
    """Return the file of a network: for the name of a packaged network, a run folder (its latest network), or a file.

    Raises ModelError for a name such as "5x5" that no packaged network has.
    """
    if isinstance(path, str) and re.fullmatch(r"[0-9]+x[0-9]+", path) and not Path(path).exists():
        if path not in (names := packaged_nets()):
            raise ModelError(f"no network {path} comes with the package: there are {', '.join(names) or 'none'}")
        return PACKAGED / f"{path}.safetensors"
    path = Path(path)
    return path / LATEST if path.is_dir() and (path / LATEST).exists() else path


def saved_game(path: str | PathLike[str], board_size: int | None = None, komi: float | None = None) -> GameEnv:
    """Return the game that a saved network is for (`GameEnv.from_saved`), or the same game on another board.

    board_size: None for the saved one. komi: None for the saved komi, or on another board for that board's default.
    Raises ModelError for a network of a game that does not come with the package, ValueError for a board or a komi that
    the game does not have.
    """
    description = read_weights(path)[1]
    name = description["structure"].get("game")
    if name not in GAMES:
        raise ModelError(
            f"{path} holds a network for {description['env']}, which does not come with the package: pass the game as "
            f"env=…, or on the command line --game {description['reference']}"
        )
    try:
        env = GAMES[name].from_saved(description["env_config"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error
    if board_size not in (None, env.N):
        env = env.resized(board_size)
    return env if komi is None else with_settings(env, {"komi": komi})


# --- writing ---------------------------------------------------------------------------------------


def write_network(
    path: str | PathLike[str],
    tensors: Mapping[str, Any],
    env: GameEnv,
    config: Mapping[str, Any],
    extra: Mapping[str, str],
) -> None:
    """Write tensors and their description to one file; after an error the file is as before.

    config: see NeuralNet.config. extra: further texts.
    Raises OSError that names the file if it cannot be written, ValueError if a value of `tensors` is no tensor.
    """
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{name} must be a tensor to be saved, got a {type(tensor).__name__}")
    description = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "env": repr(env),
        "reference": game_reference(type(env)),
        "env_config": json.dumps(env.config, default=str),
        "structure": json.dumps(game_structure(env)),
        "net": json.dumps(config),
        "extra": json.dumps(dict(extra)),
    }
    # Copies: safetensors refuses tensors that share memory, as tied weights do.
    own = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    try:
        write_atomic(Path(path), bytes_of(own, description))
    except OSError as error:
        failure = type(error)(f"the network could not be saved as {path}: {error.strerror or error}")
        failure.errno = error.errno
        raise failure from error


def fingerprint(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a digest of the weights, equal only for bit-identical ones; their names do not count."""
    digest = hashlib.sha256()
    for tensor in tensors.values():
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


# --- reading ---------------------------------------------------------------------------------------


def read_weights(path: str | PathLike[str]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the description of a file; raise ModelError if it cannot be read.

    The description has `env` as text, and `env_config`, `structure`, `net` and `extra` as dictionaries.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ModelError(f"{path} is a folder, {NOT_A_NETWORK}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    texts = read_header(path, data)
    try:
        tensors = tensors_from(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(f"{path} is damaged: {error}") from error
    return tensors, parse_description(path, texts)


def read_header(path: str | PathLike[str], data: bytes) -> Mapping[str, Any]:
    """Return the texts in the header of a safetensors file's bytes; raise ModelError for other or incomplete files."""
    if not data:
        raise ModelError(f"{path} is empty, {NOT_A_NETWORK}")
    if data.startswith(b"PK"):
        raise ModelError(f"{path} is a zip archive or a torch checkpoint, {NOT_A_NETWORK}")
    if data.startswith(b"\x80") and not data[8:9] == b"{":
        raise ModelError(f"{path} is a pickle, which could run code and is never read, {NOT_A_NETWORK}")
    end = 8 + int.from_bytes(data[:8], "little")
    if len(data) > 8 and data[8:9] != b"{":
        raise ModelError(f"{path} is no safetensors file, {NOT_A_NETWORK}")
    if len(data) < max(end, 9):
        raise ModelError(f"{path} is cut off: its {len(data):,} bytes do not hold the whole header")
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


def parse_description(path: str | PathLike[str], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description with its JSON parsed; raise ModelError if NeuralNet.save did not write it."""
    if texts.get("format") != FORMAT:
        raise ModelError(f"{path} is another program's safetensors file, {NOT_A_NETWORK}")
    version = texts.get("format_version")
    if version != str(FORMAT_VERSION):
        raise ModelError(f"{path} must have format version {FORMAT_VERSION}, got {shown(version)}")
    description: dict[str, Any] = {}
    try:
        description["env"] = str(texts["env"])
        reference = str(texts.get("reference"))
        description["reference"] = reference if re.fullmatch(REFERENCE, reference) else "MODULE:CLASS"
        for key in JSON_KEYS:
            description[key] = table(key, json.loads(texts[key]))
        net = description["net"]
        table("custom", net["custom"])
        table("parts", net.setdefault("parts", {}))
        for key in ("preset", "tower_height", "channels", "size_free"):
            net.setdefault(key, None)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} has a damaged description: {error}") from error
    return description


def table(name: str, value: Any) -> dict[str, Any]:
    """Return `value` if it is a JSON object; raise ValueError, naming it `name`, for any other value."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table, got {value!r}")
    return value


def notes_of(description: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that a file holds beside its weights (`extra` of `write_network`)."""
    return {name: str(text) for name, text in description["extra"].items()}


# --- checking --------------------------------------------------------------------------------------


def check_game_fits(path: str | PathLike[str], description: Mapping[str, Any], env: GameEnv) -> None:
    """Raise ModelError unless the file's network can play this game."""
    saved, structure = description["structure"], game_structure(env)
    if not fits_game(saved, env, bool(description["net"]["size_free"])):
        different = [key for key in structure if saved.get(key) != structure[key]]
        detail = ", ".join(f"{key} must be {structure[key]}, got {saved.get(key)}" for key in different)
        raise ModelError(f"{path} holds a network for {description['env']}, not for {env}: {detail}")


def check_modules(
    path: str | PathLike[str], config: Mapping[str, Any], modules: Mapping[str, nn.Module | None]
) -> None:
    """Raise ModelError for a custom slot of the file without a module, or a default slot with one."""
    parts, custom = config["parts"], config["custom"]
    for slot, module in modules.items():
        if slot in custom and module is None:
            what = f"a custom {slot} module of class {custom[slot]}, which is not in the file"
            raise ModelError(f"{path} was saved with {what}: pass an instance as {slot}=…")
        if slot not in custom and slot not in parts and module is not None:
            raise ModelError(f"{path} has the default {slot}, but {type(module).__name__} was passed for it")


def check_tower_size(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], tower_height: Any, channels: Any
) -> None:
    """Raise ModelError if the file has too few weights for a tower of that size; called before memory is allocated."""
    sizes = (tower_height, channels)
    numbers = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes)
    held = sum(tensor.numel() for name, tensor in tensors.items() if name.startswith("base_net."))
    if not numbers or tower_height * 2 * 9 * channels**2 + 9 * channels > held:
        size = f"{tower_height} blocks x {channels} channels"
        raise ModelError(f"{path} describes {size}, but holds only {held:,} weights for them")


def check_tensors(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> None:
    """Raise ModelError unless the tensors have the expected names, shapes and dtypes, and only finite numbers."""
    for name in expected:
        if name not in tensors:
            raise ModelError(f"{path} lacks the weight {name}, which the network has")
    for name, tensor in tensors.items():
        own = expected.get(name)
        if own is None:
            raise ModelError(f"{path} holds a weight {name}, which the network does not have")
        if tensor.shape != own.shape:
            raise ModelError(f"{path}: weight {name} must have shape {list(own.shape)}, got {list(tensor.shape)}")
        if tensor.is_floating_point() != own.is_floating_point():
            raise ModelError(f"{path}: weight {name} must be {own.dtype}, got {tensor.dtype}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: weight {name} holds NaN or infinite numbers")
