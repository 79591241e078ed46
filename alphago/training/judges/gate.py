"""The gate: self-play by the best network so far, which a candidate replaces only when it wins against it.

AlphaGo Zero's evaluator (Silver et al. 2017, Methods, "Evaluator"); AlphaZero has none, and neither has `train`
unless it is asked for.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from alphago.arena.match import MatchResult, MatchStopped, evaluate, wilson
from alphago.arena.sprt import Sprt, pair_scores
from alphago.env.game import GameEnv
from alphago.nn.inference.frozen import frozen_copy
from alphago.nn.net import NeuralNet
from alphago.system.validation import as_plain_numbers, checks_keywords, is_finite, is_int
from alphago.training.history import EVALUATIONS, append_row
from alphago.training.shares import apportion

AT_ONCE = 20  # games between two looks at a sequential test, and at whether to stop
OPENING = 2  # plies on random points at the start of each pair of games
PREFIX = "best."  # of the tensors' names


@checks_keywords()
@dataclass(frozen=True)
class Gate:
    """When a candidate, the averaged network that learns, becomes the one that plays.

    win_rate: what it has to reach against the best so far, a draw counting half (the paper: 0.55).
    games: of a match, an even number: each opening is played with both colours (the paper: 400).
    every: games of self-play between two candidates; None for as many as between two checkpoints (`ckp_freq`).
    readouts: simulations a move; 0 compares the policies alone, None takes as many as self-play.
    sprt: two Elo differences instead of the win rate: the candidate has to pass the sequential test of the second
        against the first (see Sprt), which may end the match early; undecided after `games`, it does not.
    """

    win_rate: float = 0.55
    games: int = 100
    every: int | None = None
    readouts: int | None = None
    sprt: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not is_finite(self.win_rate) or not 0 < self.win_rate <= 1:
            raise ValueError(f"a gate's win_rate is more than 0 and at most 1, got {self.win_rate!r}")
        if not is_int(self.games, 2) or self.games % 2:
            raise ValueError(f"a gate's games are an even number from 2, got {self.games!r}")
        if self.every is not None and not is_int(self.every, 1):
            raise ValueError(f"a gate's every is 1 game or more, or None, got {self.every!r}")
        if self.readouts is not None and not is_int(self.readouts, 0):
            raise ValueError(f"a gate's readouts are 0 or more, or None, got {self.readouts!r}")
        if self.sprt is not None:
            if not isinstance(self.sprt, (tuple, list)) or len(self.sprt) != 2:
                raise ValueError(f"a gate's sprt is a pair of Elo differences or None, got {self.sprt!r}")
            Sprt(*self.sprt)  # looks at them
            object.__setattr__(self, "sprt", tuple(map(float, self.sprt)))
        as_plain_numbers(self)


class Gatekeeper:
    """Keeps the best network of a run, and plays candidates against it, in `evaluations.jsonl`."""

    def __init__(
        self, gate: Gate, net: NeuralNet, folder: Path, told: Callable[[str], Any], device: str = "cpu"
    ) -> None:
        self.gate = gate
        self.device = device
        self.folder = folder
        self.told = told
        self.candidates = 0
        self.begin(net, 0, 0)

    def begin(self, net: NeuralNet, games: int, steps: int) -> None:
        """Takes a network as the best so far, after so many games and gradient steps of the run."""
        self.best = frozen_copy(net)
        self.judged_games = games  # of self-play, when the last candidate came
        self.judged_steps = steps  # of its training: without more of them there is nothing new to judge

    def due(self, games: int, steps: int, every: int, over: bool) -> bool:
        """Whether a candidate is to be judged after so many games and gradient steps; `over` at the run's end."""
        every = self.gate.every or every
        return steps > self.judged_steps and (over or games // every > self.judged_games // every)

    def judge(
        self,
        candidate: NeuralNet,
        boards: Sequence[tuple[GameEnv, float]],
        readouts: int,
        stop: threading.Event,
        **when: float,
    ) -> bool | None:
        """Plays the match; True if the candidate is the best network now, None if `stop` came before its end.

        boards: where, each with its share of the games.  readouts: where the gate has none of its own.
        when: `seconds`, `games` and `steps` of the run so far.
        """
        began = time.monotonic()
        readouts = readouts if self.gate.readouts is None else self.gate.readouts
        match = Match(candidate, self.best, boards, readouts, self.gate, self.device)
        try:
            while not match.is_over:
                match.play(self.candidates, stop)
        except MatchStopped:
            return None
        accepted = match.accepted
        low, high = wilson(match.win_rate, len(match.outcomes))
        row = {
            "seconds": when["seconds"], "games": when["games"], "opponent": "best so far", "readouts": readouts,
            "played": len(match.outcomes), **match.counts(), "win_rate": match.win_rate, "low": low, "high": high,
            "accepted": accepted, **match.by_board(), "match_seconds": time.monotonic() - began,
        }  # fmt: skip
        append_row(self.folder / EVALUATIONS, row)
        verdict = "it is the best now" if accepted else "the best stays"
        self.told(
            f"candidate after {when['games']} games: {match.win_rate:.1%} of {len(match.outcomes)} games against the "
            f"best so far (95 % interval {low:.1%} to {high:.1%}); {verdict}"
        )
        self.candidates += 1
        self.begin(candidate if accepted else self.best, int(when["games"]), int(when["steps"]))
        return accepted

    def tensors(self) -> dict[str, torch.Tensor]:
        """The best network's weights by name; not copies."""
        return {PREFIX + name: tensor for name, tensor in self.best.state_dict().items()}

    def state(self) -> dict[str, Any]:
        """Where the gate stands, as plain data."""
        return {name: getattr(self, name) for name in ("candidates", "judged_games", "judged_steps")}

    def restore(self, tensors: Mapping[str, torch.Tensor], state: Mapping[str, Any]) -> None:
        """Goes on from what `tensors` and `state` gave."""
        named = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
        self.best.load_state_dict(named)
        for name, value in state.items():
            setattr(self, name, value)


class Match:
    """A candidate against the best so far, some games at a time."""

    def __init__(
        self,
        candidate: NeuralNet,
        best: NeuralNet,
        boards: Sequence[tuple[GameEnv, float]],
        readouts: int,
        gate: Gate,
        device: str,
    ) -> None:
        self.device = device
        self.players = candidate, best
        self.boards = boards
        self.readouts = readouts
        self.gate = gate
        self.results: list[tuple[GameEnv, MatchResult]] = []

    def play(self, seed: int, stop: threading.Event) -> None:
        """The next games: pairs of one opening and both colours, shared out among the boards."""
        pairs = min(AT_ONCE, self.gate.games - len(self.outcomes)) // 2
        part = len(self.results)
        for (env, _), count in zip(self.boards, apportion(pairs, [share for _, share in self.boards]), strict=True):
            if count:
                result = evaluate(
                    env, *self.players, 2 * count, self.readouts, search="gumbel", random_opening=OPENING,
                    seed=1000 * seed + part, device=self.device, stop=stop,
                )  # fmt: skip
                self.results.append((env, result))
                part += 1

    @property
    def outcomes(self) -> np.ndarray:
        """The candidate's, 1, 0 or -1, in pairs."""
        return np.concatenate([np.zeros(0), *(result.outcomes for _, result in self.results)])

    @property
    def win_rate(self) -> float:
        return win_rate(self.outcomes)

    @property
    def verdict(self) -> str:
        """What the sequential test says so far; "continue" where there is none."""
        return Sprt(*self.gate.sprt).judge(pair_scores(self.outcomes)).state if self.gate.sprt else "continue"

    @property
    def is_over(self) -> bool:
        return len(self.outcomes) >= self.gate.games or self.verdict != "continue"

    @property
    def accepted(self) -> bool:
        """Whether the candidate passes; asked at the end."""
        return self.verdict == "accept" if self.gate.sprt else self.win_rate >= self.gate.win_rate

    def counts(self) -> dict[str, int]:
        """Games that differ in some move, and how they ended for the candidate."""
        return {name: sum(getattr(result, name) for _, result in self.results)
                for name in ("distinct", "wins", "draws", "losses")}  # fmt: skip

    def by_board(self) -> dict[str, float]:
        """The win rate on each board, where there are several."""
        if len(self.boards) == 1:
            return {}
        names = dict.fromkeys(env.N for env, _ in self.results)
        return {
            f"win_rate_{n}x{n}": win_rate(np.concatenate([r.outcomes for env, r in self.results if n == env.N]))
            for n in names
        }


def win_rate(outcomes: np.ndarray) -> float:
    """Share of wins, a draw counting half."""
    return float((np.sign(outcomes) + 1).mean() / 2)
