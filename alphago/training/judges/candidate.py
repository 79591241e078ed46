"""Matches of a candidate, a run's latest network, against the networks that self-play uses."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alphago.arena.match import MatchResult, evaluate, wilson
from alphago.arena.openings import opening_length
from alphago.arena.sprt import Sprt, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.search_forms import SELF_PLAY, SearchForm
from alphago.nn.net import NeuralNet
from alphago.training.batches import apportion
from alphago.training.judges.criteria import Gate
from alphago.training.run import Run
from alphago.training.settings import TrainingSettings

AT_ONCE = 20  # games between two evaluations of the sequential test, and between two checks of `stop`


def play_candidate(run: Run, opponent: NeuralNet, gate: Gate, seed: int, stop: threading.Event) -> "Match":
    """Play a match of the run's latest network against `opponent`, on all boards of its stage, and return it.

    gate: number of games, readouts, and the condition for accepting the candidate.  seed: as in `Match.play`.
    Raises MatchStopped if `stop` is set before the end.
    """
    readouts = run.settings.readouts if gate.readouts is None else gate.readouts
    boards = [(board.env, board.share) for board in run.boards]
    match = Match((run.learner.net, opponent), boards, readouts, gate, run.device, match_search(run.settings))
    while not match.is_over:
        match.play(seed, stop)
    return match


def log_match(run: Run, match: "Match", row: Mapping[str, Any], name: str) -> None:
    """Save the games of a finished match in the run's folder, log the match, and report it.

    row: the first entries of the match's row in evaluations.jsonl: the run's standing, "judge", "opponent", and, if the
        match decides about it, "accepted", whether the candidate becomes the best network.
    name: the name under which the games are saved.
    """
    games, (low, high) = len(match.outcomes), wilson(match.win_rate, len(match.outcomes))
    run.folder.keep_match(name, run.games, match.results)
    run.add_match({
        **row, "readouts": match.readouts, "played": games, **match.counts(), "win_rate": match.win_rate,
        "low": low, "high": high, **match.by_board(), "match_seconds": match.seconds,
    })  # fmt: skip
    verdict = {True: "; it is the best now", False: "; the best stays", None: ""}[row.get("accepted")]
    run.note(
        f"candidate after {run.games} games: {match.win_rate:.1%} of {games} games against the {row['opponent']} "
        f"(95 % interval {low:.1%} to {high:.1%}){verdict}"
    )


def match_search(settings: TrainingSettings) -> SearchForm:
    """Return the search of a run's matches: self-play's, without noise."""
    return SELF_PLAY if settings.search in (None, SELF_PLAY) else settings.search_for(AT_ONCE)


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
        search: SearchForm = SELF_PLAY,
    ) -> None:
        self.device = device
        self.players = players
        self.boards = boards
        self.readouts = readouts
        self.gate = gate
        self.search = search
        self.results: list[tuple[GameEnv, MatchResult]] = []
        self.seconds = 0.0  # spent on playing so far

    def play(self, seed: int, stop: threading.Event) -> None:
        """Play the next games: pairs of games with the same opening and colours swapped, divided among the boards.

        seed: the number of the match, from which the seeds of its games are made.
        Raises MatchStopped if `stop` is set.
        """
        began = time.monotonic()
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
        self.seconds += time.monotonic() - began

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
