"""Networks in files: find them, write and read them as safetensors with a description, and check their contents.

A file holds only data: tensors, and JSON texts in the header.  Reading it executes no code from it.
"""

import hashlib
import importlib.util
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as bytes_of_arrays
from safetensors.torch import load as tensors_from
from safetensors.torch import save as bytes_of_tensors
from torch import nn

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, game_reference
from alphago.env.go import GoEnv
from alphago.env.go_rules import KATAGO
from alphago.env.packaged_nets import NETWORKS, packaged_nets
from alphago.nn.katago.conversion import NetworkConverter
from alphago.nn.katago.stream import GZIP, KataGoFile
from alphago.nn.parts import SLOTS, fits_game, game_structure
from alphago.system.files import check_regular, explain_os_error, read_file, user_path, write_atomic
from alphago.system.validation import check_int, near_names, shortened, shown

FORMAT = "alphago-net"
FORMAT_VERSION = 1
MOST_BYTES = 2**31  # largest file
LARGEST_SIZE = 2**31  # largest number of planes or actions, and largest side of a board, in a description
KINDS = {  # of other files, by their first bytes
    b"PK": "it is a zip archive, such as a torch checkpoint",
    b"\x80": "it is a pickle, which could run code and is never read",
}
JSON_KEYS = ("env_config", "structure", "net", "extra")  # texts of the header that are JSON objects
REFERENCE = r"[\w./~-]{1,999}:[\w.]{1,99}"  # of a custom game, see `game_reference`; it is printed, never imported
LATEST = "weights.safetensors"  # the latest network in a run's folder
OF_KATAGO = "katago:"  # before the name of a file of KataGo's networks
KATRAIN = "katrain"  # a package that has such a file
TAUGHT_BY = "taught_by"  # the note in a network's file


class ModelError(ValueError):
    """The error raised for a model file that cannot be used; the message names the file and what is wrong with it."""


# --- finding ---------------------------------------------------------------------------------------


def model_file(path: str | PathLike[str]) -> Path:
    """Return the file of a network.

    Args:
        path: the name of a packaged network, such as "7x7" or "connect-four"; a run's folder, for its latest network; a
            file; or "katago:FILE" or "katago:katrain", see `katago_file`.

    Raises:
        ModelError: for a name such as "5x5" that no packaged network has, and for a text that cannot be a file's path.
        TypeError: if `path` is not a name or path.
    """
    hint = "; the game comes second" if isinstance(path, GameEnv) else ""  # for arguments in the wrong order
    if not isinstance(path, (str, PathLike)):
        raise TypeError(f"path must be a network's file, a run folder, or a name such as '7x7', got {path!r}{hint}")
    name = os.fspath(path)
    try:
        file = katago_file(name.removeprefix(OF_KATAGO)) if name.startswith(OF_KATAGO) else user_path(path)
    except ValueError as error:
        raise ModelError(str(error)) from error
    if isinstance(path, str) and not file.exists():
        names = packaged_nets()
        if path in names:
            return NETWORKS / f"{path}.safetensors"
        if re.fullmatch(r"[0-9]+x[0-9]+", path):
            raise ModelError(f"no network {path} comes with the package: there are {', '.join(names) or 'none'}")
    return file / LATEST if file.is_dir() and (file / LATEST).exists() else file


def katago_file(name: str) -> Path:
    """Return the file of a network of KataGo.

    Args:
        name: the file, or "katrain" for the network that comes with an installed package of this name.

    Raises:
        ModelError: if that package is not installed or has no network.
    """
    if name != KATRAIN:
        return user_path(name)
    spec = importlib.util.find_spec(KATRAIN)  # does not import it
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = sorted(file for folder in folders for file in Path(folder).glob("models/*.bin.gz"))
    if not files:
        raise ModelError(f"{OF_KATAGO}{KATRAIN} needs an installed {KATRAIN}: pip install --no-deps {KATRAIN}")
    return files[-1]  # the last one in order, so that the choice does not depend on the disk's order


def saved_game(path: str | PathLike[str], board_size: int | None = None) -> GameEnv:
    """Return the game of a saved network, or the same game on another board, with that board's default komi.

    Args:
        path: the network's file.
        board_size: None for the saved size.

    Raises:
        ModelError: if the game does not come with the package.
        ValueError: if the game lacks this board.
    """
    description = read_description(path)
    name = description["structure"].get("game")
    if name not in GAMES:
        raise ModelError(
            f"{path} holds a network for {description['env']}, which does not come with the package: give the game, in "
            f"Python to load_model as env=…, on the command line as --game {description['reference']}"
        )
    try:
        env = GAMES[name].from_saved(description["env_config"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelError(f"{path} has a damaged description: {shortened(error)}") from error
    return env if board_size in (None, env.N) else env.resized(board_size)


# --- writing ---------------------------------------------------------------------------------------


def write_network(path: str | PathLike[str], net: Any, extra: Mapping[str, str]) -> None:
    """Write a network's tensors and description to a file; after an error the file is unchanged.

    Args:
        net: the NeuralNet.
        extra: further texts by name.

    Raises:
        OSError: with the file's name, if the file cannot be written.
        ValueError: if a value in the network's state is not a tensor, or not finite.
    """
    tensors, env = net.state_dict(), net.env
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{name} must be a tensor to be saved, got a {type(tensor).__name__}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"{name} must be finite numbers to be saved, got NaN or infinite ones")
    description = {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "env": repr(env),
        "reference": game_reference(type(env)),
        "env_config": json.dumps(env.config, default=str),
        "structure": json.dumps(game_structure(env)),
        "net": json.dumps(net.config),
        "extra": json.dumps(dict(extra)),
    }
    with explain_os_error(f"the network could not be saved as {path}"):
        write_atomic(user_path(path), sealed_bytes(tensors, description))


def sealed_bytes(tensors: Mapping[str, torch.Tensor], texts: Mapping[str, str]) -> bytes:
    """Return the contents of a safetensors file with tensors, texts by name in its header, and the file's digest."""
    # Tensors are copied, since safetensors refuses tensors that share memory, as tied weights do.
    copies = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    return tensors_to_bytes(copies, {**texts, "digest": content_digest(copies, texts)})


def tensors_to_bytes(tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> bytes:
    """Return the contents of a safetensors file.

    `safetensors.torch.save` is used only for dtypes that NumPy does not have.  It makes a ctypes type for each new size
    of a tensor, and Python keeps these types, so the memory of a process that saves tensors of many sizes would grow.

    Args:
        tensors: by name; contiguous, on the CPU, no two of them in the same memory.
        header: texts by name.
    """
    try:
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError:
        return bytes_of_tensors(dict(tensors), dict(header))
    return bytes_of_arrays(arrays, dict(header))


def content_digest(tensors: Mapping[str, torch.Tensor], texts: Mapping[str, object]) -> str:
    """Return a hash of the contents of a network's file.

    Args:
        texts: the texts in the file's header.  An entry "digest", this hash itself, is left out.
    """
    digest = hashlib.sha256(json.dumps({**texts, "digest": None}, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} {fingerprint({name: tensor})}".encode())
    return digest.hexdigest()


def fingerprint(tensors: Mapping[str, torch.Tensor]) -> str:
    """Return a hash of the tensors' values, bit for bit; the names of the tensors are ignored."""
    digest = hashlib.sha256()
    for tensor in tensors.values():
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


# --- reading ---------------------------------------------------------------------------------------


def read_weights(path: str | PathLike[str]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the description (see `read_description`) in a file.

    Raises:
        ModelError: if the file cannot be read or is damaged, which the digest in its header tells.
    """
    if is_katago(path):
        return read_katago(path)
    with explain_errors(path):
        tensors, texts = read_sealed(read_file(Path(path), MOST_BYTES))
    description = parse_description(path, texts)
    digest = content_digest(tensors, texts)
    if texts.get("digest", digest) != digest:  # old files have none
        raise ModelError(f"{path} is damaged: its contents are not those that were saved, by their digest")
    return tensors, description


def read_description(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the description of a network in a file; raise ModelError if it cannot be read.

    The description has texts `env` (the game) and `reference` (the game's class), and dictionaries `env_config` (the
    game's options), `structure` (see `game_structure`), `net` (`NeuralNet.config`) and `extra` (further texts).
    """
    if is_katago(path):
        return read_katago(path, header_only=True)[1]  # the description; [0] would be the tensors, here none
    with explain_errors(path), safe_open(path, "pt") as file:
        texts = file.metadata() or {}
    return parse_description(path, texts)


def is_katago(path: str | PathLike[str]) -> bool:
    """Return whether a file is a gzip stream, as KataGo's networks are."""
    return begins_with(path, GZIP)


def begins_with(path: str | PathLike[str], mark: bytes) -> bool:
    """Return whether a file begins with the bytes `mark`; False for pipes, folders and files that cannot be read."""
    with suppress(OSError):
        if Path(path).is_file():  # nothing is read from a pipe
            with open(path, "rb") as file:
                return file.read(len(mark)) == mark
    return False


def read_katago(path: str | PathLike[str], header_only: bool = False) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the description (see `read_description`) of a network in KataGo's format.

    Args:
        header_only: whether to read only the header.  Then there are no tensors, and no parts in the description.

    Raises:
        ModelError: if the file is damaged, or of a network that cannot be read.
    """
    size = os.stat(path).st_size
    with explain_errors(path), open(path, "rb") as file:
        if size > MOST_BYTES:
            raise ValueError(f"a file must have at most {MOST_BYTES:,} bytes, got {size:,}")
        network = NetworkConverter(KataGoFile(file, size))
        if not header_only:
            network.read()
    env = GoEnv(9, planes=KATAGO)  # the game unless the user gives another one: the network plays on any board
    net = {"preset": None, "tower_height": None, "channels": None, "size_free": True}
    taught = f"KataGo (its network {network.name}, version {network.version}, with its licence)"
    return network.weights, {
        "env": repr(env),
        "reference": env.name,
        "env_config": env.config,
        "structure": game_structure(env),
        "net": {**net, "parts": network.parts, "custom": {}},
        "extra": {TAUGHT_BY: taught},
    }


def read_sealed(data: bytes) -> tuple[dict[str, torch.Tensor], Mapping[str, Any]]:
    """Return the tensors, and the texts in the header, from the contents of a safetensors file.

    The entry "digest" of the texts is not compared with the contents.  Damaged data raise exceptions of
    safetensors or JSON.
    """
    tensors = tensors_from(data)
    header = data[8 : 8 + int.from_bytes(data[:8], "little")]  # the first 8 bytes are its length
    return tensors, json.loads(header).get("__metadata__") or {}


@contextmanager
def explain_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Replace errors of reading a network's file in the `with` block by a ModelError, which names the file."""
    try:
        check_regular(Path(path))  # opening a pipe may never end
        yield
    except FileNotFoundError:
        raise ModelError(f"there is no file {path}{meant_instead(str(path))}") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    except MemoryError:
        raise ModelError(f"{path} does not fit into the memory") from None
    except (SafetensorError, ValueError, zlib.error) as error:
        kind = next((kind for mark, kind in KINDS.items() if begins_with(path, mark)), shortened(error))
        raise ModelError(f"{path} is no network, or a damaged one: {kind}") from error


def meant_instead(name: str) -> str:
    """Return the end of the message about a missing file `name`: the networks that may be meant, or ""."""
    base, at, options = name.rpartition("@")  # a player of matches is called NETWORK@OPTIONS
    if at and (base in packaged_nets() or Path(base).exists()):
        return f": {base} is a network, with {at}{options} it is a player of matches"
    if "/" in name or "." in name:  # a path, and no name
        return ""
    if near := near_names(name, packaged_nets()):
        return f": did you mean {near[0]}?"
    return f", and the networks that load_model knows by name are {', '.join(packaged_nets()) or 'none'}"


def parse_description(path: str | PathLike[str], texts: Mapping[str, Any]) -> dict[str, object]:
    """Return the description (see `read_description`) from the texts in a file's header.

    Raises:
        ModelError: if NeuralNet.save did not write them.
    """
    if texts.get("format") != FORMAT:
        raise ModelError(f"{path} is another program's safetensors file")
    version = texts.get("format_version")
    if version != str(FORMAT_VERSION):
        raise ModelError(f"{path} must have format version {FORMAT_VERSION}, got {shortened(version)}")
    description: dict[str, Any] = {}
    try:
        description["env"] = shortened(texts["env"])
        reference = str(texts.get("reference"))
        # `saved_game` tells the user to pass the reference as --game; a placeholder replaces a text that is no class.
        description["reference"] = reference if re.fullmatch(REFERENCE, reference) else "FILE.py:CLASS"
        for key in JSON_KEYS:
            description[key] = json.loads(texts[key])
            check_table(key, description[key])
        check_structure(description["structure"])
        net = description["net"]
        for key in ("custom", "parts"):
            check_table(key, net[key])
        for slot in net["parts"]:
            if slot not in SLOTS:
                raise ValueError(f"a part must be {' or '.join(SLOTS)}, got {shortened(slot)}")
        for key in ("preset", "tower_height", "channels", "size_free"):
            net.setdefault(key, None)  # old files lack some of them
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} has a damaged description: {shortened(error)}") from error
    return description


def check_structure(structure: Mapping[str, object]) -> None:
    """Raise ValueError unless the contents of `structure` have the form that `game_structure` returns."""
    if not isinstance(structure["game"], str):
        raise ValueError(f"game must be a name, got {shortened(structure['game'])}")
    sides = structure["plane_shape"]
    if not isinstance(sides, list) or len(sides) != 2:
        raise ValueError(f"plane_shape must be height and width, got {shortened(sides)}")
    for name in ("planes", "action_space"):
        check_int(name, structure[name], 1, LARGEST_SIZE)
    for side in sides:
        check_int("a side of plane_shape", side, 1, LARGEST_SIZE)


def check_table(name: str, value: object) -> None:
    """Raise ValueError unless `value` is a dictionary; name: the value's name in the message."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table, got {shortened(value)}")


def read_notes(description: Mapping[str, Any]) -> dict[str, str]:
    """Return the further texts that were saved with a network, by name, from its file's description."""
    return {name: str(text) for name, text in description["extra"].items()}


# --- does a file hold the network that it describes, and can this one play a game? -----------------


def check_game_fits(path: str | PathLike[str], description: Mapping[str, Any], env: GameEnv) -> None:
    """Raise ModelError unless the network in the file `path`, with this description, can play the game `env`."""
    saved, structure = description["structure"], game_structure(env)
    if not fits_game(saved, env, bool(description["net"]["size_free"])):
        different = [key for key in structure if saved.get(key) != structure[key]]
        detail = ", ".join(f"{key} must be {structure[key]}, got {shortened(saved.get(key))}" for key in different)
        raise ModelError(f"{path} holds a network for {description['env']}, not for {env}: {detail}")


def check_modules(
    path: str | PathLike[str], config: Mapping[str, Any], modules: Mapping[str, nn.Module | None]
) -> None:
    """Check that a module was passed for each slot with a custom module, and none for a slot with the default part.

    For a slot with a registered part, which the file describes, a module may be passed or not.

    Args:
        config: `NeuralNet.config`, from the file `path`.
        modules: the modules passed to `load_model`, by slot.

    Raises:
        ModelError: if a module is missing, or must not be passed.
    """
    parts, custom = config["parts"], config["custom"]
    for slot, module in modules.items():
        if slot in custom and module is None:
            raise ModelError(f"{path} was saved with its own {slot}, a {shortened(custom[slot])}: pass one as {slot}=…")
        is_default = slot not in custom and slot not in parts
        if is_default and module is not None:
            raise ModelError(f"{path} has the default {slot}, but {type(module).__name__} was passed for it")


def check_tensors(
    path: str | PathLike[str], tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]
) -> None:
    """Raise ModelError unless the tensors of the file `path` are finite and match `expected`.

    Args:
        expected: the network's state dict, which determines names, shapes, and whether numbers are floating-point.
    """
    for name in expected:
        if name not in tensors:
            raise ModelError(f"{path} lacks the weight {name}, which the network has")
    for name, tensor in tensors.items():
        right = expected.get(name)
        if right is None:
            raise ModelError(f"{path} holds a weight {shortened(name)}, which the network does not have")
        if tensor.shape != right.shape:
            got = shown(list(tensor.shape))
            raise ModelError(f"{path}: weight {name} must have shape {list(right.shape)}, got {got}")
        if tensor.is_floating_point() != right.is_floating_point():
            raise ModelError(f"{path}: weight {name} must be {right.dtype}, got {tensor.dtype}")
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelError(f"{path}: weight {name} holds NaN or infinite numbers")
