"""The gate: self-play uses the best network so far, which a candidate replaces only by winning a match against it.

This is AlphaGo Zero's evaluator (Silver et al. 2017, Methods, "Evaluator").  AlphaZero has no gate; `train` has one
only if `gate` is set.
"""

import threading
from collections.abc import Mapping
from typing import Any

import torch

from alphago.arena.match import MatchStopped
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix
from alphago.system.stopwatch import MATCHES
from alphago.training.judge import Judge
from alphago.training.judges.candidate import log_match, play_candidate
from alphago.training.run import Run
from alphago.training.settings.judge_settings import Gate

PREFIX = "best."  # prefix of the best network's tensors in a run's state


class Gatekeeper(Judge[Run]):
    """The judge that plays matches of candidates against a run's best network; it logs matches in evaluations.jsonl.

    gate: the conditions.  net: the run's first network.
    """

    name = "gate"
    saved = ("candidates", "judged_games", "judged_steps")
    best: NeuralNet

    def __init__(self, gate: Gate, net: NeuralNet) -> None:
        self.gate = gate
        self.candidates = 0
        self.begin(net, games=0, steps=0)

    def begin(self, net: NeuralNet, games: int, steps: int) -> None:
        """Make `net` the best network; `games`, `steps`: self-play games and gradient steps of the run so far."""
        self.best = frozen_copy(net)
        self.judged_games = games  # games of self-play when the last candidate was judged
        self.judged_steps = steps  # gradient steps at that time; without further steps there is no new network

    def due(self, run: Run) -> bool:
        """Return whether the latest network should play a match against the best network now."""
        if run.learner.steps <= self.judged_steps:
            return False
        every = self.gate.every or run.settings.ckp_freq
        has_enough_games = run.games // every > self.judged_games // every
        is_at_the_end = run.is_over and not run.is_proved  # the network of a proof stays the run's network
        return is_at_the_end or has_enough_games

    @MATCHES
    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Play a match of the latest network against the best network; if the latest passes, it becomes the best.

        Returns False if `stop` was set before the match was over.
        """
        standing = run.standing
        try:
            match = play_candidate(run, self.best, self.gate, seed=self.candidates, stop=stop)
        except MatchStopped:
            return False
        row = {**standing, "judge": self.name, "opponent": "best so far", "accepted": match.accepted}
        log_match(run, match, row, name=self.name)
        self.candidates += 1
        if match.accepted:
            self.best = frozen_copy(run.learner.net)
        self.judged_games, self.judged_steps = run.games, run.learner.steps
        return True

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the best network's weights by name, not copied."""
        return self.best.state_dict(prefix=PREFIX)

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`.

        If `state` is None, the saved run had no gate, and the latest network becomes the best.
        """
        if state is None:
            self.begin(run.learner.net, run.games, run.learner.steps)
            return
        self.best.load_state_dict(strip_prefix(tensors, PREFIX))
        super().restore(run, tensors, state)
