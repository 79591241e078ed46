"""Export networks for other programs, as ONNX or as raw weights with a manifest of the network's operations.

onnx     one file with named inputs and outputs, for any number of positions, and any board if the network is size-free
w32, w16 float32 or float16 numbers, little-endian, layer after layer, with the manifest in FILE.json

The manifest lists the network's operations by ONNX's names (see alphago.nn.graph), so that a short program can compute
any network; `examples/bots/` has one.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from alphago.env.game import GameEnv
from alphago.nn.graph import NetworkGraph, Tensor, run_graph
from alphago.nn.inference.cpu import ValueOutputs
from alphago.nn.inference.frozen_net import TRACING_LOCK, frozen_copy, frozen_parts
from alphago.nn.inference.fusion import fold_batch_norms
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.parts import class_path
from alphago.nn.random_positions import random_planes
from alphago.nn.threads import one_torch_thread
from alphago.nn.transformer import Rotation
from alphago.nn.translator import Translator, reshape
from alphago.nn.value import Forecast
from alphago.system.files import user_path, write_atomic
from alphago.system.optional import optional_import
from alphago.system.validation import check_int, checks_keywords

Computation = Callable[[np.ndarray], dict[str, np.ndarray]]  # planes [n, C, H, W] -> outputs by name
FORMATS = ("onnx", "w32", "w16")
OPSET, IR_VERSION = 17, 8  # versions of ONNX that runtimes since 2022 read
POSITIONS = 500  # positions on which an exported network is compared with the original
ROUNDING = 0.01  # largest difference that counts as rounding; in float32 differences are far smaller
MANIFEST_VERSION = 1
DOCUMENTATION = {
    "planes": "positions as the game's planes, float32, in the view of the player about to move",
    "logits": "logits of all actions, also of illegal ones, which must be left out before the softmax",
    "value": "value of the position for the player about to move, -1 to 1; 1 is a sure win",
    "score": "expected margin of the player about to move, in tens of points",
    "ownership": "owner of each point at the end, row by row, -1 to 1; 1 is the player about to move",
}


class Export(NamedTuple):
    """The files of an exported network, and how far its outputs are from those of the original network.

    The original network is computed by torch in float32.

    Attributes:
        files: the files written, with the weights first.
        bytes: their total size.
        positions: number of positions of random games on which the outputs were compared.
        differences: the largest difference of each output, by the output's name.
    """

    files: tuple[Path, ...]
    bytes: int
    positions: int
    differences: dict[str, float]

    def __repr__(self) -> str:
        names = " and ".join(map(str, self.files))
        largest = ", ".join(f"{difference:.2g} in {name}" for name, difference in self.differences.items())
        return f"{names}: {self.bytes:,} bytes; largest difference from torch on {self.positions} positions: {largest}"


@checks_keywords()
def export_model(
    net: NeuralNet | str | PathLike[str],
    path: str | PathLike[str],
    format: str | None = None,
    *,
    positions: int = POSITIONS,
) -> Export:
    """Write a network for other programs, after comparing the exported network with the original one.

    Args:
        net: the network, or its name, file or run folder.
        path: the file to write.
        format: "onnx", "w32" or "w16"; None for the suffix of `path`.
        positions: number of positions of random games on which outputs are compared; for a size-free network, this many
            on each of two boards.

    Raises:
        ValueError: for an unknown format, and for a module that cannot be translated or whose translation computes
            other outputs.
        ImportError: if the format needs packages that are not installed.
        OSError: if a file cannot be written.  After any other error no file has been written.
    """
    path = user_path(path)
    chosen = path.suffix.removeprefix(".") if format is None else format
    if chosen not in FORMATS:
        got = path.name if format is None else format
        raise ValueError(f"format must be onnx, w32 or w16, or the end of the file's name, got {got!r}")
    positions = check_int("positions", positions, 1)
    net = load_model(net) if isinstance(net, (str, PathLike)) else net
    graph = network_graph(net)
    if chosen == "onnx":
        files = {path: onnx_bytes(graph, net)}
        run_exported = onnx_run(files[path])
    else:
        files = raw_files(graph, net, path, chosen)
        run_exported = numpy_run(graph, np.float16 if chosen == "w16" else None)
    games = games_to_compare(net)
    differences: dict[str, float] = {}  # the largest on any board
    for env in games:
        for name, difference in compare(net, env, run_exported, positions).items():
            differences[name] = max(difference, differences.get(name, 0.0))
    if chosen != "w16" and max(differences.values()) > ROUNDING:  # float16 weights may differ by more
        raise ValueError(f"the exported network must compute what torch does, got differences of {differences}")
    for file, data in files.items():
        write_atomic(file, data)
    total = sum(len(data) for data in files.values())
    return Export(files=tuple(files), bytes=total, positions=positions * len(games), differences=differences)


# --- the network's operations ----------------------------------------------------------------------


def network_graph(net: NeuralNet) -> NetworkGraph:
    """Return a network's operations in float32, with batch norms folded into convolutions.

    For a size-free network the board's height and width remain symbolic, so that the operations fit any board, unless
    it has rotations (`alphago.nn.transformer`).

    Raises:
        ValueError: if a layer cannot be translated; the message names the part and the layer.
    """
    height, width = ("height", "width") if fits_any_board(net) else net.env.plane_shape
    graph = NetworkGraph(Tensor("planes", ("batch", net.env.planes, height, width)))
    frozen = frozen_parts(net.base_net, net.value, net.policy)
    with TRACING_LOCK, torch.no_grad(), one_torch_thread():
        (features,) = translate(graph, "base_net", frozen.base_net, graph.planes)
        (logits,) = translate(graph, "policy", frozen.policy, features)
        value, *forecast = translate(graph, "value", ValueOutputs(frozen.value), features)
    # If the number of actions differs from board to board, the name "actions" stands for it.
    actions = "actions" if fits_any_board(net) else net.env.action_space
    graph.outputs["logits"] = logits._replace(shape=("batch", actions))
    graph.outputs["value"] = reshape(graph, value, ("batch",))
    if forecast:
        score, ownership = forecast
        graph.outputs["score"] = reshape(graph, score, ("batch",))
        graph.outputs["ownership"] = ownership
    return graph


def fits_any_board(net: NeuralNet) -> bool:
    """Return whether a network's exported operations fit any board.

    The operations of a network with rotations fit one board only, since a rotation is exported as a table with a row
    for each point.
    """
    return net.size_free and not any(isinstance(module, Rotation) for module in net.modules())


def translate(graph: NetworkGraph, slot: str, module: nn.Module, inputs: Tensor) -> tuple[Tensor, ...]:
    """Append a part's operations to the graph and return the part's outputs, one or several.

    Args:
        slot: the part's slot, such as "policy".
        inputs: the part's input.

    Raises:
        ValueError: if the part cannot be translated.
    """
    part = module.head if isinstance(module, ValueOutputs) else module  # the user's own module, for the message
    try:
        folded = fold_batch_norms(module.eval())
        outputs = Translator(folded, graph, slot).run(inputs)
    except Exception as error:  # torch.fx may raise anything on a module that it cannot trace
        raise ValueError(f"{slot}: {class_path(type(part))} cannot be exported: {error}") from error
    return (outputs,) if isinstance(outputs, Tensor) else outputs  # a Tensor is a tuple too


# --- comparison with torch -------------------------------------------------------------------------


def games_to_compare(net: NeuralNet) -> list[GameEnv]:
    """Return the games for the comparison: the network's, and for a size-free network also one on another board."""
    # A step of 2 comes first, for games that are played on even boards only.
    for size in (net.env.N + 2, net.env.N - 2, net.env.N + 1) if fits_any_board(net) else ():
        with suppress(ValueError):  # the game may have no such board
            return [net.env, net.env.resized(size)]
    return [net.env]


def compare(net: NeuralNet, env: GameEnv, run_exported: Computation, count: int) -> dict[str, float]:
    """Return how far each output of the exported network is from torch's in float32: the largest difference, by name.

    Args:
        net: the original network.
        env: its game, or the same game on another board.
        run_exported: computes the exported network.
        count: number of positions of random games to compare.
    """
    planes = random_planes(env, count)
    original = frozen_copy(net if env is net.env else net.resized(env))
    with torch.no_grad(), one_torch_thread():
        logits, value, forecast = original.forecast(torch.from_numpy(planes))
    predicted = Forecast(value) if forecast is None else forecast  # the value, and what else the value head predicts
    expected = {"logits": logits, **predicted._asdict()}
    return {name: float(np.abs(out - expected[name].numpy()).max()) for name, out in run_exported(planes).items()}


def onnx_run(data: bytes) -> Computation:
    """Return a function that computes an ONNX model with onnxruntime: planes -> outputs by name.

    Args:
        data: the contents of the ONNX file.
    """
    runtime = package("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda planes: dict(zip(names, session.run(names, {"planes": planes}), strict=True))


def numpy_run(graph: NetworkGraph, dtype: type[np.floating] | None = None) -> Computation:
    """Return a function that computes a graph with numpy: planes -> outputs by name.

    Args:
        dtype: the dtype to which the weights are rounded first; None for no rounding.
    """
    weights = dict(graph.weights)
    if dtype is not None:
        for name, array in layer_weights(graph).items():
            weights[name] = array.astype(dtype).astype(array.dtype)  # rounded; the computation stays in float32
    return lambda planes: run_graph(graph, weights, planes)


# --- formats ---------------------------------------------------------------------------------------


def package(name: str) -> Any:
    """Import and return a package; raise ImportError, which names the extra `export`, if it is missing or broken."""
    return optional_import(name, f"ONNX needs {name}, which is not installed: pip install 'alphago[export]'")


def network_facts(net: NeuralNet) -> dict[str, object]:
    """Return facts about a network for an exported file, as plain data: game, sizes, inputs, and actions."""
    env = net.env
    height, width = env.plane_shape
    # Hex's swap is an action that is neither a point nor a pass; a game with a pass has no such action.
    only_points_and_pass = env.pass_action is not None or env.action_space <= height * width
    actions: str | list[str] = [env.to_text(action) for action in range(env.action_space)]
    if env.actions_are_points and only_points_and_pass:  # a rule says more than the list
        actions = "row * board side + column, row 0 at the top; then the pass"
    facts = {"game": env.name, "game_options": env.config, "network": net.config, "size_free": fits_any_board(net)}
    return facts | {"inputs": {"planes": DOCUMENTATION["planes"]}, "actions": actions}


def onnx_bytes(graph: NetworkGraph, net: NeuralNet) -> bytes:
    """Return the contents of an ONNX file with the network, checked by the package onnx."""
    onnx = package("onnx")
    helper = onnx.helper
    nodes = [helper.make_node(step.op, step.inputs, [step.output], **step.attributes) for step in graph.steps]
    # The steps' outputs have numbers as names; these nodes give the network's outputs their own names.
    nodes += [helper.make_node("Identity", [tensor.name], [name]) for name, tensor in graph.outputs.items()]
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in graph.weights.items()]
    planes, *outputs = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, tensor.shape, doc_string=DOCUMENTATION[name])
        for name, tensor in {"planes": graph.planes, **graph.outputs}.items()
    )
    network = helper.make_graph(nodes, "network", [planes], outputs, weights, doc_string=f"A network for {net.env}.")
    model = helper.make_model(
        network, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="alphago"
    )
    facts = network_facts(net).items()
    texts = {name: fact if isinstance(fact, str) else json.dumps(fact, default=str) for name, fact in facts}
    helper.set_model_props(model, texts)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def raw_files(graph: NetworkGraph, net: NeuralNet, path: Path, format: str) -> dict[Path, bytes]:
    """Return the contents of each file of the format "w32" or "w16", the file with the weights first.

    Args:
        graph: the operations of `net`.
        path: the file with the weights.
    """
    dtype = np.dtype("<f2" if format == "w16" else "<f4")  # little-endian float16 or float32
    layers, chunks = [], []
    offset = 0  # in numbers, from the start of the file
    for name, array in layer_weights(graph).items():
        if np.abs(array).max(initial=0) > np.finfo(dtype).max:
            raise ValueError(f"{name} must fit into {format}'s numbers, got {np.abs(array).max():g}: choose w32")
        layers.append({"name": name, "shape": list(array.shape), "offset": offset})
        chunks.append(array.astype(dtype).tobytes())
        offset += array.size
    weights = b"".join(chunks)
    # After the last layer, `offset` is the number of all numbers.
    facts = {"dtype": dtype.name, "byte_order": "little", "numbers": offset, "layers": layers}
    facts |= {"sha256": hashlib.sha256(weights).hexdigest()}
    text = json.dumps(manifest(graph, net, facts), indent=1) + "\n"
    return {path: weights, path.with_name(path.name + ".json"): text.encode()}


def layer_weights(graph: NetworkGraph) -> dict[str, np.ndarray]:
    """Return the weights of the layers by name, in order, without the constants that operations use."""
    # The name of a layer's weight is such as "policy.0.weight", that of a constant such as "c3".
    return {name: array for name, array in graph.weights.items() if "." in name}


def manifest(graph: NetworkGraph, net: NeuralNet, facts: Mapping[str, object]) -> dict[str, object]:
    """Return the manifest of exported weights, the contents of their JSON file, as plain data.

    Args:
        graph: the operations of `net`.
        facts: the manifest's entries about the file of weights.
    """
    layers = layer_weights(graph)
    constants = {name: decimals(array) for name, array in graph.weights.items() if name not in layers}
    outputs = {
        name: {"step": tensor.name, "shape": list(tensor.shape), "what": DOCUMENTATION[name]}
        for name, tensor in graph.outputs.items()
    }
    format = {"format": "alphago-weights", "version": MANIFEST_VERSION}
    return {**format, **network_facts(net), **facts, "outputs": outputs, "constants": constants, "steps": graph.steps}


def decimals(array: np.ndarray) -> object:
    """Return an array as nested lists of the shortest decimals that are its numbers: rotations are large tables."""
    return array.tolist() if array.dtype.kind == "i" else array.astype(str).astype(float).tolist()
