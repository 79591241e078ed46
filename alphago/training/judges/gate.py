"""The gate: self-play uses the best network so far, which a candidate replaces only by winning a match against it.

This is AlphaGo Zero's evaluator (Silver et al. 2017, Methods, "Evaluator").  AlphaZero has no gate; `train` has one
only if `gate` is set.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from alphago.arena.match import MatchResult, MatchStopped, evaluate, wilson
from alphago.arena.openings import opening_length
from alphago.arena.sprt import Sprt, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.training.batches import apportion
from alphago.training.judges.criteria import Gate
from alphago.training.run import Run
from alphago.training.settings import TrainingSettings
from alphago.training.watch.metrics import MATCHES

AT_ONCE = 20  # games between two evaluations of the sequential test, and between two checks of `stop`
PREFIX = "best."  # prefix of the best network's tensors in a run's state


class Gatekeeper:
    """The judge that plays matches of candidates against a run's best network; it logs matches in evaluations.jsonl.

    gate: the conditions.  net: the run's first network.
    """

    name = "gate"
    ends_run = False
    decides = True
    lineup = None

    def __init__(self, gate: Gate, net: NeuralNet) -> None:
        self.gate = gate
        self.candidates = 0
        self.begin(net, 0, 0)

    def begin(self, net: NeuralNet, games: int, steps: int) -> None:
        """Make `net` the best network; `games`, `steps`: self-play games and gradient steps of the run so far."""
        self.best = frozen_copy(net)
        self.judged_games = games  # games of self-play when the last candidate was judged
        self.judged_steps = steps  # gradient steps at that time; the same number again means the same network

    def due(self, run: Run) -> bool:
        """Return whether the latest network should play a match against the best one now."""
        every = self.gate.every or run.settings.ckp_freq
        at_the_end = run.is_over and not run.is_proved
        return run.learner.steps > self.judged_steps and (at_the_end or run.games // every > self.judged_games // every)

    @MATCHES
    def judge(self, run: Run, stop: threading.Event) -> bool:
        """Play a match of the latest network against the best one; if the latest one passes, it becomes the best.

        Returns False if `stop` was set before the match was over.
        """
        began, standing = time.monotonic(), run.standing
        candidate = run.learner.net
        readouts = run.settings.readouts if self.gate.readouts is None else self.gate.readouts
        boards = [(board.env, board.share) for board in run.boards]
        match = Match((candidate, self.best), boards, readouts, self.gate, run.device, match_search(run.settings))
        try:
            while not match.is_over:
                match.play(self.candidates, stop)
        except MatchStopped:
            return False
        low, high = wilson(match.win_rate, len(match.outcomes))
        row = {
            **standing, "judge": self.name, "opponent": "best so far", "readouts": readouts,
            "played": len(match.outcomes), **match.counts(), "win_rate": match.win_rate, "low": low, "high": high,
            "accepted": match.accepted, **match.by_board(), "match_seconds": time.monotonic() - began,
        }  # fmt: skip
        run.folder.keep_match(self.name, run.games, match.results)
        run.add_match(row)
        verdict = "it is the best now" if match.accepted else "the best stays"
        run.note(
            f"candidate after {run.games} games: {match.win_rate:.1%} of {len(match.outcomes)} games against the "
            f"best so far (95 % interval {low:.1%} to {high:.1%}); {verdict}"
        )
        self.candidates += 1
        if match.accepted:
            self.best = frozen_copy(candidate)
        self.judged_games, self.judged_steps = run.games, run.learner.steps
        return True

    def conclusion(self, longer: str) -> str:
        """Return "", since matches are reported when they end."""
        return ""

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the best network's weights by name, not copied."""
        return {PREFIX + name: tensor for name, tensor in self.best.state_dict().items()}

    def state(self) -> dict[str, Any]:
        """Return the gate's counters, which `restore` needs, as plain data."""
        return {name: getattr(self, name) for name in ("candidates", "judged_games", "judged_steps")}

    def restore(self, run: Run, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any] | None) -> None:
        """Continue from the saved `tensors` and `state`.

        If `state` is None, the saved run had no gate, and the latest network becomes the best.
        """
        if state is None:
            self.begin(run.learner.net, run.games, run.learner.steps)
            return
        self.best.load_state_dict(
            {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
        )
        for name, value in state.items():
            setattr(self, name, value)


def match_search(settings: TrainingSettings) -> SearchSettings | str:
    """Return the search of a run's matches: self-play's if the run has one of its own, else "gumbel"; without noise."""
    return "gumbel" if settings.search is None else settings.search_for(AT_ONCE)


class Match:
    """A match of a candidate against the best network so far; each call of `play` plays at most AT_ONCE more games.

    players: the candidate and the best network.  boards: each board's game and its share of the match's games.
    readouts: simulations per move of both players.
    gate: the number of games, and the condition for accepting the candidate.
    device: where the networks are computed.
    search: the search of both players, as in `evaluate`.
    """

    def __init__(
        self,
        players: tuple[NeuralNet, NeuralNet],
        boards: Sequence[tuple[GameEnv, float]],
        readouts: int,
        gate: Gate,
        device: str,
        search: SearchSettings | str = "gumbel",
    ) -> None:
        self.device = device
        self.players = players
        self.boards = boards
        self.readouts = readouts
        self.gate = gate
        self.search = search
        self.results: list[tuple[GameEnv, MatchResult]] = []

    def play(self, seed: int, stop: threading.Event) -> None:
        """Play the next games: pairs of games with the same opening and colours swapped, divided among the boards.

        seed: the number of the match, from which the seeds of its games are made.
        Raises MatchStopped if `stop` is set.
        """
        pairs = min(AT_ONCE, self.gate.games - len(self.outcomes)) // 2
        part = len(self.results)
        for (env, _), count in zip(self.boards, apportion(pairs, [share for _, share in self.boards]), strict=True):
            if count:
                result = evaluate(
                    env, *self.players, 2 * count, self.readouts, search=self.search,
                    random_opening=opening_length(env), seed=1000 * seed + part, device=self.device, stop=stop,
                )  # fmt: skip
                self.results.append((env, result))
                part += 1

    @property
    def outcomes(self) -> np.ndarray:
        """The results so far from the candidate's view, 1, 0 or -1 [n]; games 2k and 2k + 1 share an opening."""
        return np.concatenate([np.zeros(0), *(result.outcomes for _, result in self.results)])

    @property
    def win_rate(self) -> float:
        return win_rate(self.outcomes)

    @property
    def verdict(self) -> str:
        """The sequential test's verdict so far, "accept", "reject" or "continue"; always "continue" without a test."""
        return Sprt(*self.gate.sprt).judge(pair_scores(self.outcomes)).state if self.gate.sprt else "continue"

    @property
    def is_over(self) -> bool:
        return len(self.outcomes) >= self.gate.games or self.verdict != "continue"

    @property
    def accepted(self) -> bool:
        """Whether the candidate replaces the best network; valid once the match is over."""
        return self.verdict == "accept" if self.gate.sprt else self.win_rate >= self.gate.win_rate

    def counts(self) -> dict[str, int]:
        """Return the number of distinct games and the candidate's numbers of wins, draws and losses, by name."""
        return {name: sum(getattr(result, name) for _, result in self.results)
                for name in ("distinct", "wins", "draws", "losses")}  # fmt: skip

    def by_board(self) -> dict[str, float]:
        """Return the candidate's win rate on each board, such as {"win_rate_7x7": 0.6}; {} if there is one board."""
        if len(self.boards) == 1:
            return {}
        names = dict.fromkeys(env.N for env, _ in self.results)
        return {
            f"win_rate_{n}x{n}": win_rate(np.concatenate([r.outcomes for env, r in self.results if n == env.N]))
            for n in names
        }


def win_rate(outcomes: np.ndarray) -> float:
    """Return the share of wins in `outcomes` (1, 0 or -1), counting a draw as half a win."""
    return float((np.sign(outcomes) + 1).mean() / 2)
