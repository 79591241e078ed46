"""The gate: self-play uses the best network so far, which a candidate replaces only by winning a match against it.

This is AlphaGo Zero's evaluator (Silver et al. 2017, Methods, "Evaluator").  AlphaZero has no gate; `train` has one
only if `gate` is set.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from alphago.arena.match import MatchStopped
from alphago.arena.sprt import Sprt
from alphago.env.game import GameEnv
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.nn.parts import strip_prefix
from alphago.system.stopwatch import MATCHES
from alphago.system.validation import check_ranges, setting, settings
from alphago.training.judge import Judge
from alphago.training.judges.candidate import Terms, log_match, play_candidate
from alphago.training.selfplay_run import SelfPlayRun

PREFIX = "best."  # prefix of the best network's tensors in a run's state


@settings
class Gate:
    """The conditions under which a candidate, the latest network, replaces the network that self-play uses."""

    win_rate: float = setting(
        "win rate that the candidate needs against the best network so far; a draw counts half (the paper: 0.55)",
        default=0.55,
        positive=True,
        most=1,
        shown="win rate at which self-play takes a new network",
    )
    games: int = setting(
        "games of a match, an even number: each opening is played with both colours (the paper: 400)",
        default=100,
        least=2,
    )
    every: int | None = setting(
        "games of self-play between two candidates; None for `ckp_freq`, the games between two checkpoints",
        default=None,
        least=1,
    )
    readouts: int | None = setting(
        "simulations per move; 0 compares the policies alone, None uses self-play's number", default=None, least=0
    )
    sprt: tuple[float, float] | None = setting(
        "two Elo differences (elo0, elo1) of a sequential test that replaces the win rate: the candidate is "
        "accepted if the test accepts elo1; the test may end the match early, and fails if undecided after `games`",
        default=None,
    )

    chooses = True

    def __post_init__(self) -> None:
        check_ranges(self, "a gate's ")
        if self.games % 2:
            raise ValueError(f"a gate's games must be an even number, got {self.games!r}")
        if self.sprt is not None:
            if not isinstance(self.sprt, (tuple, list)) or len(self.sprt) != 2:
                raise ValueError(f"a gate's sprt must be a pair of Elo differences or None, got {self.sprt!r}")
            Sprt(*self.sprt)  # raises unless it is an ordered pair of numbers
            object.__setattr__(self, "sprt", tuple(map(float, self.sprt)))

    @property
    def terms(self) -> Terms:
        """The terms of a candidate's match."""
        return Terms(self.win_rate, self.games, readouts=self.readouts, sprt=self.sprt)

    def make_judge(self, env: GameEnv, net: NeuralNet, folder: Path) -> "Gatekeeper":
        """Return the judge of a run that begins with `net`."""
        return Gatekeeper(self, net)


class Gatekeeper(Judge[SelfPlayRun]):
    """The judge that plays matches of candidates against a run's best network; it logs matches in evaluations.jsonl.

    gate: the conditions.  net: the run's first network.
    """

    name = "gate"
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

    def due(self, run: SelfPlayRun) -> bool:
        """Return whether the latest network should play a match against the best network now."""
        if run.learner.steps <= self.judged_steps:
            return False
        every = self.gate.every or run.settings.ckp_freq
        has_enough_games = run.games // every > self.judged_games // every
        is_at_the_end = run.is_over and not run.is_proved  # the network of a proof stays the run's network
        return is_at_the_end or has_enough_games

    @MATCHES
    def judge(self, run: SelfPlayRun, stop: threading.Event) -> bool:
        """Play a match of the latest network against the best network; if the latest passes, it becomes the best.

        Returns False if `stop` was set before the match was over.
        """
        standing = run.standing
        try:
            match = play_candidate(run, self.best, self.gate.terms, seed=self.candidates, stop=stop)
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

    def state(self) -> dict[str, Any]:
        """Return the gate's counters, which `restore` needs, as plain data."""
        return {name: getattr(self, name) for name in ("candidates", "judged_games", "judged_steps")}

    def restore(self, run: SelfPlayRun, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`.

        If `state` is None, the saved run had no gate, and the latest network becomes the best.
        """
        if state is None:
            self.begin(run.learner.net, run.games, run.learner.steps)
            return
        self.best.load_state_dict(strip_prefix(tensors, PREFIX))
        for name, value in state.items():
            setattr(self, name, value)
