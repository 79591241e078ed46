"""The boards that a stage plays side by side: each has its own games and memory, all have one network."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.memory import ReplayMemory, Sample, window
from alphago.training.runs.shards import Shards
from alphago.training.runs.unfinished import go_on_with, unfinished
from alphago.training.selfplay import SelfPlay
from alphago.training.settings import Stage, TrainingSettings
from alphago.training.shares import apportion


class Board:
    """One size of board in a run: its games, its memory, and how much of the run is its share."""

    def __init__(self, env: GameEnv, share: float, memory: ReplayMemory, selfplay: SelfPlay, needed: int) -> None:
        """needed: positions in memory before anybody learns from them."""
        self.env = env
        self.share = share
        self.memory = memory
        self.selfplay = selfplay
        self.needed = max(needed, 1)
        self.has_learned = self.may_learn  # whether what was in memory has been learned from
        self.records: list[GameRecord] = []  # of the iteration in progress, once it has come to learning

    @property
    def size(self) -> str:
        """As metrics name it."""
        return f"{self.env.N}x{self.env.N}"

    @property
    def may_learn(self) -> bool:
        """Whether there are positions enough to learn from."""
        return len(self.memory) >= self.needed

    def collect(self, capacity: int) -> tuple[int, int]:
        """Puts the games that are over into memory, which keeps so many positions.

        Returns how many positions came, and how many are to be learned from now on: those from before the start
        have not been sampled yet.
        """
        before = self.memory.added
        self.records = self.selfplay.take()
        self.memory.capacity = max(capacity, self.needed)
        self.memory.add(self.records)
        new = self.memory.added - before
        if not self.may_learn:
            return new, 0
        due = new if self.has_learned else self.memory.added
        self.has_learned = True
        return new, due

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """All that the board needs to go on, but for the games in memory: tensors by name, and plain data."""
        tensors, selfplay = unfinished(self.selfplay)
        memory = {"games": len(self.memory.entries), "capacity": self.memory.capacity, "added": self.memory.added}
        data = {
            "memory": memory,
            "has_learned": self.has_learned,
            "new_games": len(self.records),
            "selfplay": selfplay,
        }
        return {self.prefix + name: tensor for name, tensor in tensors.items()}, data

    def restore(
        self, records: list[GameRecord], evaluator: Evaluator, tensors: Mapping[str, torch.Tensor], data: Any
    ) -> None:
        """Goes on from what `state` gave, with the games that were in memory (oldest first)."""
        self.memory.restore(records, data["memory"]["capacity"], data["memory"]["added"])
        self.has_learned = data["has_learned"]
        self.records = records[max(0, len(records) - data["new_games"]) :]
        own = {n.removeprefix(self.prefix): tensor for n, tensor in tensors.items() if n.startswith(self.prefix)}
        go_on_with(self.selfplay, evaluator, own, data["selfplay"])

    @property
    def prefix(self) -> str:
        """Of the names of its tensors."""
        return f"selfplay{self.env.N}."


class Boards:
    """The boards of a stage, and what they do together."""

    def __init__(
        self,
        stage: Stage,
        settings: TrainingSettings,
        numbers: range,
        memories: Mapping[GameEnv, ReplayMemory],
        device: str = "cpu",
    ) -> None:
        """numbers: of the games that are left.  memories: of the boards before, with which the same ones go on.
        device: where games are played.

        A board's share is one of moves: of the games side by side.  Games of a larger board are longer, as its area,
        so that it gets fewer of them, and all boards come to their last game at about the same time.  Of B boards,
        board b has every B-th number from b on: no two games of a run have a random stream in common.
        """
        self.settings = settings
        how = settings.selfplay(device)
        assert how.games_in_flight is not None
        flights = apportion(how.games_in_flight, [share for _, share in stage.boards])
        counts = apportion(len(numbers), [share / env.N**2 for env, share in stage.boards])
        self.boards = []
        for place, (env, share) in enumerate(stage.boards):
            variant = env if settings.exact_rules else env.training_variant()
            memory = memories.get(env) or ReplayMemory(
                variant, search_share=settings.search_share, surprise_share=settings.surprise_share
            )
            first = numbers.start + place
            own = range(first, first + len(counts) * counts[place], len(counts))
            games = SelfPlay(variant, replace(how, games_in_flight=flights[place]), own, settings.seed, device)
            self.boards.append(Board(env, share, memory, games, round(share * settings.start_training_after)))
        self.device = device
        self.evaluators: list[NetEvaluator | DeviceEvaluator] = []

    @property
    def memories(self) -> dict[GameEnv, ReplayMemory]:
        """Of each board."""
        return {board.env: board.memory for board in self.boards}

    @property
    def added(self) -> int:
        """Positions ever added to the memories."""
        return sum(board.memory.added for board in self.boards)

    @property
    def begun(self) -> int:
        """A number greater than those of all games that have begun."""
        return max(board.selfplay.begun for board in self.boards)

    @property
    def moves(self) -> int:
        """Moves that this process has played on them."""
        return sum(board.selfplay.moves for board in self.boards)

    @property
    def readouts_done(self) -> int:
        """Simulations for these moves, and evaluations of roots."""
        return sum(board.selfplay.readouts_done for board in self.boards)

    def spent(self) -> dict[str, float]:
        """Seconds of all self-play's threads together since the last call, by kind of work."""
        spent: dict[str, float] = {}
        for board in self.boards:
            for group in board.selfplay.groups:
                for kind, seconds in group.watch.take().items():
                    spent[kind] = spent.get(kind, 0.0) + seconds
        return spent

    def main(self, goal: GameEnv) -> Board:
        """The board that a network is saved for: the goal's if it is there, else the largest."""
        return max(self.boards, key=lambda board: (board.env == goal, board.env.N))

    def publish(self, net: NeuralNet) -> None:
        """Lets the next iterations play with a snapshot of this network."""
        nets = [net.resized(board.env) for board in self.boards]
        for evaluator, new in zip(self.evaluators, nets, strict=False):
            if isinstance(evaluator, DeviceEvaluator):  # it keeps its buffers and graphs
                evaluator.load(new.base_net, new.value, new.policy)
        if not (self.evaluators and isinstance(self.evaluators[0], DeviceEvaluator)):
            dtype = self.settings.selfplay_dtype
            self.evaluators = [new.evaluator(dtype, self.device, exact=True) for new in nets]

    def begin(self, readouts: int, side_by_side: int) -> None:
        """The next calls of `go_on` play an iteration's moves in every game, so many side by side on all boards."""
        rooms = apportion(side_by_side, [board.share for board in self.boards])
        for board, evaluator, room in zip(self.boards, self.evaluators, rooms, strict=True):
            board.selfplay.begin(evaluator, self.settings.plies_per_iteration, readouts, room)

    def go_on(self, workers: Workers, stop: threading.Event, until: float) -> bool:
        """Plays on all boards, one after the other, as SelfPlay's `go_on`; False if moves are left."""
        return all(board.selfplay.go_on(workers, stop, until) for board in self.boards)

    @property
    def capacity(self) -> int:
        """Positions that the memories keep together at this point of the run."""
        return min(window(self.added), self.settings.memory_size)

    def learning(self) -> list[Board]:
        """The boards with positions enough to learn from."""
        return [board for board in self.boards if board.may_learn]

    def draw(self, generator: np.random.Generator) -> list[Sample]:
        """A batch: a part for each board that is learned, in proportion to their shares."""
        boards = self.learning()
        counts = apportion(self.settings.batch_size, [board.share for board in boards])
        return [board.memory.sample(count, generator) for board, count in zip(boards, counts, strict=True)]

    def state(self) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
        """What each board needs to go on: tensors by name, and plain data of one board after the other."""
        states = [board.state() for board in self.boards]
        return {name: tensor for tensors, _ in states for name, tensor in tensors.items()}, [data for _, data in states]

    def restore(self, shards: Shards, tensors: Mapping[str, torch.Tensor], data: Any) -> list[str]:
        """Goes on from what `state` gave, after `publish`; returns what had to be set aside."""
        notes: list[str] = []
        for board, evaluator, kept in zip(self.boards, self.evaluators, data, strict=True):
            records, lost = shards.latest(kept["memory"]["games"], board.env.N)
            board.restore(records, evaluator, tensors, kept)
            notes += lost
        return notes
