"""What both bots have in common: a network computed by numpy, and the search of `alphago`, one position at a time.

`pack.py` puts this file, a game and the weights into one program, which needs Python and numpy only.
"""

import base64
import json
import math
import time
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

LEAST = np.float32(1e-12)  # weight of a legal action, where the best has 1
C_PUCT, REDUCTION = 0.96, 0.2  # of `alphago.Puct`
FIRST_MS, LATER_MS = 900.0, 42.0  # time for a move: CodinGame allows 1000 ms, then 50
MARGIN_MS = 2.0  # of the time for a move, left for what comes after the search
MANY = 1_000_000  # simulations, more than there is time for


class Network:
    """A network as `alphago export` describes it: weights by name, and operations of ONNX to compute one position."""

    def __init__(self, packed: str) -> None:
        data = zlib.decompress(base64.b85decode(packed))
        length = int.from_bytes(data[:4], "little")
        self.facts = json.loads(data[4 : 4 + length])
        numbers = np.frombuffer(data[4 + length :], "<f2").astype(np.float32)
        self.values: dict[str, Any] = {
            name: np.array(value, np.int64 if isinstance(value, list) else np.float32)
            for name, value in self.facts["constants"].items()
        }
        begin = 0
        for name, shape in self.facts["layers"]:
            self.values[name] = numbers[begin : begin + math.prod(shape)].reshape(shape)
            begin += math.prod(shape)
        self.steps = [self.prepare(*step) for step in self.facts["steps"]]
        self.logits, self.value = self.facts["outputs"]

    def prepare(self, op: str, inputs: list[str], output: str, attributes: dict[str, Any]) -> tuple[Any, ...]:
        """Return a step as `run` computes it: function, names of its inputs, name of its output, and attributes.

        The kernel of a convolution or dense layer is rearranged to the matrix by which the function multiplies.
        """
        if op == "Conv":
            kernel = self.values[inputs[1]]
            bias = self.values[inputs[2]][:, None] if len(inputs) > 2 else np.float32(0)
            matrix = kernel.transpose(0, 2, 3, 1).reshape(len(kernel), -1)
            return (lambda x: convolve(x, matrix, bias, kernel.shape[2])), inputs[:1], output, {}
        if op == "Gemm":
            self.values[inputs[1]] = np.ascontiguousarray(self.values[inputs[1]].T)
        return OPERATIONS[op], inputs, output, attributes

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, float]:
        """Return logits [actions] and the mover's value for the planes of one position, float32 [1, C, H, W]."""
        values = self.values
        values["planes"] = planes
        for function, inputs, output, attributes in self.steps:
            values[output] = function(*[values[name] for name in inputs], **attributes)
        return values[self.logits][0], min(max(float(values[self.value].ravel()[0]), -1.0), 1.0)


def convolve(x: np.ndarray, matrix: np.ndarray, bias: np.ndarray, side: int) -> np.ndarray:
    """Return the convolution of x [1, C, H, W] with kernels of an odd side, laid out as [O, side * side * C]."""
    _, channels, height, width = x.shape
    if side == 1:
        return (matrix @ x.reshape(channels, -1) + bias).reshape(1, -1, height, width)
    padded = np.zeros((channels, height + side - 1, width + side - 1), np.float32)
    edge = side // 2
    padded[:, edge : edge + height, edge : edge + width] = x[0]
    columns = np.empty((side * side, channels, height, width), np.float32)
    for i in range(side * side):
        down, right = divmod(i, side)
        columns[i] = padded[:, down : down + height, right : right + width]
    return (matrix @ columns.reshape(side * side * channels, -1) + bias).reshape(1, -1, height, width)


def slice_axis(x: np.ndarray, begin: Any, end: Any, axis: Any, step: Any) -> np.ndarray:
    """Return the part of x from `begin` to `end` on axis 0 or 1; each is an array of one number, and `step` is 1."""
    return x[:, begin[0] : end[0]] if axis[0] == 1 else x[begin[0] : end[0]]


OPERATIONS: dict[str, Any] = {
    "Gemm": lambda x, kernel, bias=0, transB=1: x @ kernel + bias,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Relu": lambda x: np.maximum(x, 0),
    "Elu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))).astype(np.float32),
    "Tanh": np.tanh,
    "ReduceMean": lambda x, axes, keepdims: x.mean(axis=tuple(axes), keepdims=True),
    "ReduceMax": lambda x, axes, keepdims: x.max(axis=tuple(axes), keepdims=True),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Flatten": lambda x, axis: x.reshape(len(x), -1),
    "Reshape": lambda x, shape: x.reshape([x.shape[i] if side == 0 else side for i, side in enumerate(shape.tolist())]),
    "Slice": slice_axis,
    "Shape": lambda x, start, end: np.array(x.shape[start:end]),
    "Cast": lambda x, to: np.asarray(x, np.float32),
}


def masked_softmax(logits: np.ndarray, legal: Sequence[int]) -> np.ndarray:
    """Return the probabilities of the legal actions, in their order, float32."""
    legal_logits = logits[list(legal)]
    weights = np.maximum(np.exp(legal_logits - legal_logits.max()), LEAST)
    return weights / weights.sum()


class Node:
    """A position of the tree.

    No node knows its parent: without cycles Python frees a tree at once, and not by a collection within a later move.

    Attributes:
        action, prior: the action that leads to the node, and its prior.
        game: the position; None until the node is evaluated.
        children: the actions tried so far, the latest first.
        waiting: untried actions with their priors, the best one last.
        mover: the side to move, 1 or -1.
        value: the node's own evaluation, in the mover's view.
        visits, total: the simulations through the node, and the sum of their values in the view of who moved to it.
    """

    __slots__ = ("action", "children", "game", "mover", "prior", "total", "value", "visits", "waiting")

    def __init__(self, action: int, prior: float) -> None:
        self.action, self.prior = action, prior
        self.game: Any = None
        self.children: list[Node] = []
        self.waiting: list[tuple[float, int]] = []
        self.mover, self.visits, self.value, self.total = 0, 0, 0.0, 0.0


class Search:
    """PUCT as `alphago` has it with one leaf a wave: the same numbers in the same order, so the same moves."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def best(self, game: Any, readouts: int, milliseconds: float = math.inf) -> tuple[int, int]:
        """Return the most visited action, of equals the lowest, and the number of simulations, at most `readouts`.

        With a limit of time, a single legal action is returned without simulations.
        """
        end = time.perf_counter() + (milliseconds - MARGIN_MS) / 1000
        self.root = root = Node(-1, 1.0)
        root.game = game
        self.evaluate([root])
        has_choice = len(root.waiting) > 1
        done = 0
        while done < readouts and (has_choice or milliseconds == math.inf):
            self.simulate(root)
            done += 1
            if time.perf_counter() > end:
                break
        if not root.children:
            return root.waiting[-1][1], done
        return min(root.children, key=lambda child: (-child.visits, child.action)).action, done

    def simulate(self, root: Node) -> None:
        """Follow the tree to a new node, evaluate it, and add its value to all nodes on the way."""
        node, path = root, [root]
        while node.waiting or node.children:
            parent, node = node, self.choose(node)
            path.append(node)
            if node.game is None:
                node.game = parent.game.after(node.action)
                return self.evaluate(path)
        back_up(path)  # a finished game, met again

    def choose(self, node: Node) -> Node:
        """Return the child to follow, a new one for an untried action (Silver et al. 2017, "Select").

        The node's own value counts as one more visit of each child.  Of equal scores the lowest action wins.
        """
        explore, own_value = C_PUCT * math.sqrt(node.visits), node.value
        tried_prior, best, best_score = 0.0, None, -math.inf
        for child in node.children:
            tried_prior += child.prior
            score = (child.total + own_value) / (child.visits + 1.0) + explore * child.prior / (1.0 + child.visits)
            if score > best_score or (score == best_score and best is not None and child.action < best.action):
                best, best_score = child, score
        if node.waiting:
            prior, action = node.waiting[-1]
            score = own_value - REDUCTION * math.sqrt(tried_prior) + explore * prior
            if best is None or score > best_score or (score == best_score and action < best.action):
                node.waiting.pop()
                best = Node(action, prior)
                node.children.insert(0, best)
        assert best is not None
        return best

    def evaluate(self, path: list[Node]) -> None:
        """Evaluate the last node of a path from the root, and back its value up."""
        node = path[-1]
        game = node.game
        node.mover = game.mover
        if game.over:
            node.value = game.outcome()
        elif (winning_move := game.winning_move()) is not None:
            node.value, node.waiting = 1.0, [(1.0, winning_move)]
        else:
            logits, node.value = self.network.run(game.planes())
            legal = game.legal()
            priors = masked_softmax(logits, legal).tolist()
            node.waiting = sorted(zip(priors, legal, strict=True), key=lambda pair: (pair[0], -pair[1]))
        back_up(path)


def back_up(path: list[Node]) -> None:
    """Add the value of a path's last node to all nodes of the path; sums are rounded to float32, as in the package."""
    leaf = path[-1]
    # The root stands for its own parent.
    for parent, node in zip([path[0], *path], path, strict=False):
        node.visits += 1
        node.total = float(np.float32(node.total + (leaf.value if parent.mover == leaf.mover else -leaf.value)))
