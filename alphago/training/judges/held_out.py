"""The judge of supervised learning: it tests networks on held-out games and keeps the network of best move accuracy."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from alphago.env.game import GameEnv
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix
from alphago.records.record import GameRecord
from alphago.system.stopwatch import EXAMINATION
from alphago.training.history import HELD_OUT
from alphago.training.judge import Judge
from alphago.training.judges.prediction import predict_all
from alphago.training.run import Run

NAME = "held-out games"
PREFIX = "held-out."  # prefix of the best network's tensors in a run's state


@dataclass(frozen=True)
class HeldOutGames:
    """The settings of a HeldOut, which tells what the fields are."""

    records: Sequence[GameRecord]
    checks: int
    chooses = True

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "HeldOut":
        return HeldOut(env, self.records, self.checks)


class HeldOut(Judge[Run]):
    """The judge that measures how well the network predicts held-out games; it logs tests in evaluations.jsonl.

    env: the game.  records: the held-out games.
    checks: number of tests, evenly spaced over the run; one more test, of the untrained network, comes first.
    """

    name = HELD_OUT
    saved = ("accuracy", "best_after", "judged", "judged_steps")

    def __init__(self, env: GameEnv, records: Sequence[GameRecord], checks: int) -> None:
        self.env, self.records, self.checks = env, list(records), checks
        self.accuracy = -1.0  # share of moves that the best network predicts; -1 before the first test
        self.best_after = 0  # games of the run when the best network was tested
        self.judged_steps = -1  # gradient steps at the last test
        self.judged = -1.0  # the run's progress, 0 .. 1, at the last test

    def due(self, run: Run) -> bool:
        """Return whether the latest network should be tested now."""
        if run.learner.steps == self.judged_steps:  # no new network
            return False
        # The run has `checks` equal parts; a test is due once the run has entered a new part.
        return run.is_over or int(run.progress * self.checks) > int(self.judged * self.checks)

    @EXAMINATION
    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Test the latest network, and keep a copy if it predicts more moves than every network tested before.

        Returns False if `stop` was set before the test was over.
        """
        standing = run.standing
        net = run.learner.net
        net_for_board = net if run.env == self.env else net.resized(self.env)
        with run.clock.stopped():
            evaluator = frozen_copy(net_for_board).evaluator(device=run.device, shared=False)
            found = predict_all(evaluator, self.env, self.records, stop)
        if found is None:
            return False
        measures = found.measures()
        improved = measures["accuracy"] > self.accuracy
        run.add_match({**standing, "judge": self.name, "opponent": NAME, **measures, "best": improved})
        run.note(f"{NAME} after {run.games} games: {found.sentence()}" + ("; the best so far" if improved else ""))
        if improved:
            self.best = frozen_copy(net)
            self.accuracy = measures["accuracy"]
            self.best_after = run.games
        self.judged = run.progress
        self.judged_steps = run.learner.steps
        return True

    def conclusion(self, longer: str) -> str:
        """Return a sentence on the best network, which becomes the run's result."""
        return f"the network of the run is the one after {self.best_after} games, with {self.accuracy:.1%} of the moves"

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the best network's weights by name, not copied."""
        return {} if self.best is None else self.best.state_dict(prefix=PREFIX)

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`; do nothing if `state` is None."""
        if weights := strip_prefix(tensors, PREFIX):
            self.best = frozen_copy(run.learner.net)
            self.best.load_state_dict(weights)
        super().restore(run, tensors, state)
