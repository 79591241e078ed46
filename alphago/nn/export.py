"""Networks for other programs: ONNX, or raw weights with a manifest that says how to compute with them.

onnx     one file with named inputs and outputs, any number of positions, and any board if the network is size-free.
w32, w16 float32 or float16 numbers, little-endian, layer after layer; the manifest lies beside them (FILE.json).
npz      the same weights by name for numpy, with the manifest inside.

The manifest has the operations by ONNX's names (alphago.nn.graph), so that a program of forty lines can compute any
network: `examples/bots/` has one.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.graph import NetworkGraph, network_graph
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.threads import one_torch_thread
from alphago.system.files import write_atomic
from alphago.system.validation import check_int, checks_keywords

FORMATS = ("onnx", "w32", "w16", "npz")
OPSET, IR_VERSION = 17, 8  # what runtimes of 2022 read
POSITIONS = 500  # by which an exported network is compared with torch's
ROUNDING = 0.01  # differences in float32 are far below; above, the translation is wrong
MANIFEST_VERSION = 1
DOCUMENTATION = {
    "planes": "positions as the game's planes, float32, from the view of the player about to move",
    "logits": "of all actions, before the softmax, illegal ones included: leave these out, then take the softmax",
    "value": "of the game for the player about to move, -1 to 1, 1 a sure win",
    "score": "expected margin for the player about to move, in tens of points",
    "ownership": "of each point, row by row, -1 to 1: 1 the player's about to move",
}


class Export(NamedTuple):
    """A written network, and how it compares with the network in torch, in float32.

    files: what was written, the weights first.
    positions: how many positions of random games were compared.
    differences: by output, the largest difference.
    """

    files: tuple[Path, ...]
    bytes: int
    positions: int
    differences: dict[str, float]

    def __repr__(self) -> str:
        names = " and ".join(map(str, self.files))
        told = ", ".join(f"{difference:.2g} in {name}" for name, difference in self.differences.items())
        return f"{names}: {self.bytes:,} bytes; largest difference from torch on {self.positions} positions: {told}"


@checks_keywords()
def export_model(
    net: NeuralNet, path: str | PathLike[str], format: str | None = None, *, positions: int = POSITIONS
) -> Export:
    """Write a network for other programs, compare it with torch's, and return what was written.

    path: the file. format: "onnx", "w32", "w16" or "npz"; None for what the file's name ends with.
    positions: how many positions of random games are compared, of each of two boards if the network is size-free.

    Nothing is written if the network cannot be exported.  Raises ValueError for an unknown format, and for a module
    that has no translation or whose translation computes something else; ImportError where "onnx" needs packages that
    are not installed; OSError that names a file that cannot be written.
    """
    path = Path(path)
    chosen = path.suffix.removeprefix(".") if format is None else format
    if chosen not in FORMATS:
        wanted = "format must be onnx, w32, w16 or npz"
        raise ValueError(f"{wanted}, or the end of the file's name, got {path.name if format is None else format!r}")
    positions = check_int("positions", positions, 1)
    graph = network_graph(net)
    files = {path: onnx_bytes(graph, net)} if chosen == "onnx" else raw_files(graph, net, path, chosen)
    run = onnx_run(files[path]) if chosen == "onnx" else rounded_run(graph, np.float16 if chosen == "w16" else None)
    boards = check_boards(net)
    differences: dict[str, float] = {}
    for env in boards:
        for name, difference in compare(net.resized(env) if env is not net.env else net, env, run, positions).items():
            differences[name] = max(difference, differences.get(name, 0.0))
    if chosen != "w16" and max(differences.values()) > ROUNDING:
        raise ValueError(f"the exported network must compute what torch does, got differences of {differences}")
    for file, data in files.items():
        write_file(file, data)
    total = sum(len(data) for data in files.values())
    return Export(tuple(files), total, positions * len(boards), differences)


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; raise OSError that names it."""
    try:
        write_atomic(path, data)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


# --- comparison with torch -------------------------------------------------------------------------


def check_boards(net: NeuralNet) -> list[GameEnv]:
    """Return the games to compare on: the network's, and the same on another board if it is size-free."""
    if not net.size_free:
        return [net.env]
    for size in (net.env.N + 2, net.env.N - 2, net.env.N + 1):
        try:
            return [net.env, net.env.resized(size)]
        except ValueError:  # a game that has no such board
            continue
    return [net.env]


def compare(net: NeuralNet, env: GameEnv, run: Any, count: int) -> dict[str, float]:
    """Return the largest difference of each output, between torch in float32 and `run`, on positions of random games.

    run: from planes float32 [n, C, H, W] to the outputs by name.
    """
    planes = random_planes(env, count)
    twin = frozen_copy(net)
    with torch.no_grad(), one_torch_thread():
        logits, value, forecast = twin.forecast(torch.from_numpy(planes))
    expected = {"logits": logits, "value": value}
    if forecast is not None and forecast.score is not None and forecast.ownership is not None:
        expected |= {"score": forecast.score, "ownership": forecast.ownership}
    outputs = run(planes)
    return {name: float(np.abs(outputs[name] - tensor.numpy()).max()) for name, tensor in expected.items()}


def random_planes(env: GameEnv, count: int, seed: int = 1) -> np.ndarray:
    """Return the planes of positions of random games, float32 [count, planes, height, width], the same every time."""
    random, batch = np.random.default_rng(seed), env.new_batch(count)
    slots = np.arange(count)
    lengths = random.integers(0, max(1, min(env.max_moves, 2 * env.N * env.N)), count)
    for ply in range(int(lengths.max(initial=0))):
        going = slots[lengths > ply]
        legal = batch.legal_mask(going, np.empty((len(going), env.action_space), np.bool_))
        going, legal = going[legal.any(axis=1)], legal[legal.any(axis=1)]
        chance = random.random(legal.shape) * legal
        batch.play(going, chance.argmax(axis=1).astype(np.int32))
    return batch.planes(slots, np.empty((count, env.planes, *env.plane_shape), np.float32))


def onnx_run(data: bytes) -> Any:
    """Return what computes an ONNX model by onnxruntime: from planes to the outputs by name."""
    runtime = package("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda planes: dict(zip(names, session.run(names, {"planes": planes}), strict=True))


def rounded_run(graph: NetworkGraph, dtype: Any) -> Any:
    """Return what computes a graph by numpy, with weights as they are after they were written in `dtype`."""
    from alphago.nn.graph_run import run_graph

    weights = graph.weights
    if dtype is not None:
        weights = {name: array.astype(dtype).astype(array.dtype) if "." in name else array
                   for name, array in weights.items()}  # fmt: skip
    return lambda planes: run_graph(graph, weights, planes)


# --- formats ---------------------------------------------------------------------------------------


def package(name: str) -> Any:
    """Return a package of the extra `export`; raise ImportError that says how to install it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"ONNX needs {name}, which is not installed: pip install 'alphago[export]'") from None


def about(net: NeuralNet) -> dict[str, Any]:
    """Return what an exported file says of its network, as plain data."""
    env = net.env
    return {
        "game": env.name, "game_options": env.config, "network": net.config, "size_free": net.size_free,
        "inputs": {"planes": DOCUMENTATION["planes"]},
        "actions": "row * board side + column, row 0 at the top; then the pass" if env.actions_are_points
        else [env.to_text(action) for action in range(env.action_space)],
    }  # fmt: skip


def onnx_bytes(graph: NetworkGraph, net: NeuralNet) -> bytes:
    """Return a network as an ONNX file, checked by the package onnx."""
    onnx = package("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    nodes = [helper.make_node(step.op, step.inputs, [step.output], **step.attributes) for step in graph.steps]
    nodes += [helper.make_node("Identity", [tensor.name], [name]) for name, tensor in graph.outputs.items()]
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in graph.weights.items()]
    values = [
        helper.make_tensor_value_info(name, kinds.FLOAT, tensor.shape, doc_string=DOCUMENTATION[name])
        for name, tensor in {"planes": graph.planes, **graph.outputs}.items()
    ]
    made = helper.make_graph(nodes, "network", values[:1], values[1:], weights, doc_string=f"A network for {net.env}.")
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="alphago"
    )
    texts = {
        name: fact if isinstance(fact, str) else json.dumps(fact, default=str) for name, fact in about(net).items()
    }
    helper.set_model_props(model, texts)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def raw_files(graph: NetworkGraph, net: NeuralNet, path: Path, format: str) -> dict[Path, bytes]:
    """Return the contents of the files with raw weights, the weights first."""
    if format == "npz":
        data = io.BytesIO()
        texts = np.frombuffer(json.dumps(manifest(graph, net, {})).encode(), np.uint8)
        arrays: Mapping[str, Any] = {**graph.weights, "manifest": texts}
        np.savez(data, **arrays)
        return {path: data.getvalue()}
    dtype = np.dtype("<f2" if format == "w16" else "<f4")
    layers, offset, parts = [], 0, []
    for name, array in layer_weights(graph).items():
        if np.abs(array).max(initial=0) > np.finfo(dtype).max:
            raise ValueError(f"{name} must fit into {format}'s numbers, got {np.abs(array).max():g}: choose w32")
        layers.append({"name": name, "shape": list(array.shape), "offset": offset})
        parts.append(array.astype(dtype).tobytes())
        offset += array.size
    weights = b"".join(parts)
    facts = {"dtype": dtype.name, "byte_order": "little", "numbers": offset, "layers": layers,
             "sha256": hashlib.sha256(weights).hexdigest()}  # fmt: skip
    text = json.dumps(manifest(graph, net, facts), indent=1) + "\n"
    return {path: weights, path.with_name(path.name + ".json"): text.encode()}


def layer_weights(graph: NetworkGraph) -> dict[str, np.ndarray]:
    """Return the weights of layers, in order, without the constants of operations."""
    return {name: array for name, array in graph.weights.items() if "." in name}


def manifest(graph: NetworkGraph, net: NeuralNet, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a program needs to compute with raw weights, as plain data."""
    constants = {name: array.tolist() for name, array in graph.weights.items() if "." not in name}
    return {
        "format": "alphago-weights", "version": MANIFEST_VERSION, **about(net), **facts,
        "outputs": {name: {"step": tensor.name, "shape": list(tensor.shape), "what": DOCUMENTATION[name]}
                    for name, tensor in graph.outputs.items()},
        "constants": constants,
        "steps": [[step.op, step.inputs, step.output, step.attributes] for step in graph.steps],
    }  # fmt: skip
