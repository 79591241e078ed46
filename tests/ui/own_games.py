"""Games of one's own, two of which describe their boards, on kernels and in plain Python; an engine that owns all."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from math import cos, pi, sin
from typing import Any

import numpy as np

from alphago import ConnectFourEnv, GameBatch, GameEnv, Position
from alphago.drawing.board_view import BoardView
from alphago.env.game_options import Option, to_option
from alphago.mcts.evaluator import HashEvaluator


class LeaningEnv(ConnectFourEnv):
    """Connect Four in a frame that leans, with red and yellow stones."""

    name, title = "leaning", "Leaning Four"

    @cached_property
    def board_view(self) -> BoardView:
        upright = super().board_view
        cells = tuple((x + 0.5 * (5.5 - y), y) for x, y in upright.cells)
        return replace(upright, size=(9.5, 6), cells=cells, sides=("Red", "Yellow"), colours=("#a01818", "#f4d03f"))


class Ring:
    """Stones on a ring of cells, and a bell that each may ring instead; Black wins with more on the even cells."""

    def __init__(self, cells: int, bells: int) -> None:
        self.cells, self.bells, self.to_play = np.zeros(cells, np.int8), bells, 1

    def play(self, action: int) -> None:
        if action < len(self.cells):
            self.cells[action] = self.to_play
        else:
            self.bells -= 1
        self.to_play = -self.to_play

    def legal_mask(self) -> np.ndarray:
        over = self.is_over()
        return np.array([not over and stone == 0 for stone in self.cells] + [not over and self.bells > 0])

    def is_over(self) -> bool:
        return bool(self.cells.all())

    def outcome(self) -> float:
        return float(np.sign(self.cells[::2].sum()) * self.to_play)

    def planes(self) -> np.ndarray:
        own = self.cells * self.to_play
        return np.stack([own == 1, own == -1, np.full(len(own), self.bells > 0)]).astype(np.float32)[:, None]

    def copy(self) -> "Ring":
        twin = Ring(len(self.cells), self.bells)
        twin.cells, twin.to_play = self.cells.copy(), self.to_play
        return twin


class RingEnv(GameEnv):
    """The game of Ring, on a board that is no grid; its last action has no cell."""

    name, title = "ring", "The Ring"
    planes = 3

    def __init__(self, cells: int = 6, bells: int = 2) -> None:
        self.N, self.bells = cells, bells
        self.plane_shape, self.action_space, self.max_moves = (1, cells), cells + 1, cells + bells

    @property
    def config(self) -> dict[str, Any]:
        return {"cells": self.N, "bells": self.bells}

    def new(self) -> Ring:
        return Ring(self.N, self.bells)

    def make_position(self, batch: GameBatch, setup: Mapping[str, Any]) -> "RingPosition":
        return RingPosition(self, batch, setup)

    def to_text(self, action: int) -> str:
        return "bell" if action == self.N else f"r{action + 1}"

    def from_text(self, text: str) -> int:
        return [self.to_text(action) for action in range(self.action_space)].index(text)

    @cached_property
    def board_view(self) -> BoardView:
        turns = [2 * pi * cell / self.N for cell in range(self.N)]
        cells = tuple((2 + 1.8 * sin(turn), 2 - 1.8 * cos(turn)) for turn in turns)
        places = (*((cell,) for cell in range(self.N)), ())
        lines = tuple((*one, *other) for one, other in zip(cells, cells[1:] + cells[:1], strict=True))
        look: dict[str, Any] = {"size": (4, 4), "margin": 0.8, "stars": (0,), "sides": ("First", "Second")}
        return BoardView(self.title, "lines", cells=cells, places=(places, places), lines=lines, **look)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        return (to_option("cells", self.N, title="Cells", least=4, most=8), to_option("bells", self.bells))


class RingPosition(Position):
    @property
    def contents(self) -> list[int]:
        return [int(stone) for stone in self.batch.states[0].cells]  # type: ignore[attr-defined]


class Nim:
    """Seven matches; who takes the last of them, one or two at a time, wins."""

    def __init__(self) -> None:
        self.left, self.to_play = 7, 1

    def play(self, action: int) -> None:
        self.left -= action + 1
        self.to_play = -self.to_play

    def is_over(self) -> bool:
        return self.left == 0

    def legal_mask(self) -> np.ndarray:
        return np.array([self.left >= 1, self.left >= 2])

    def outcome(self) -> float:
        return -1.0 if self.left == 0 else 0.0

    def planes(self) -> np.ndarray:
        return (np.arange(7) < self.left).astype(np.float32).reshape(1, 1, 7)

    def copy(self) -> "Nim":
        return copy.copy(self)


class NimEnv(GameEnv):
    name = "nim"
    N, planes, plane_shape, action_space, max_moves = 7, 1, (1, 7), 2, 7
    config: dict[str, Any] = {}

    def new(self) -> Nim:
        return Nim()


class OwnedByBlack(HashEvaluator):
    """An evaluator that expects every point to become Black's, and likes to pass."""

    makes_forecasts = True
    owners: Any = 1.0  # in Black's view, as are the next two
    score, value = 20.0, 0.0

    def evaluate(self, batch, slots, priors, values, forecasts=None, symmetries=(0,)) -> None:
        mask = batch.legal_mask(slots, np.empty(priors.shape, np.bool_))
        priors[:] = mask / mask.sum(axis=1, keepdims=True) * 0.01
        priors[:, -1] += 0.99
        movers = batch.to_play(slots, np.empty(len(slots), np.int8))
        values[:] = self.value * movers
        if forecasts is not None:
            forecasts[0][:] = self.score * movers
            forecasts[1][:] = self.owners * movers[:, None]
