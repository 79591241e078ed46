"""Matches of a candidate, a run's latest network, against the networks that self-play uses."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.match import evaluate
from alphago.arena.match_games import opening_length
from alphago.arena.match_result import MatchResult, wilson
from alphago.arena.sprt import Sprt, pair_scores
from alphago.env.game import GameEnv
from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search_forms import SELF_PLAY_RULE, SearchForm
from alphago.nn.net import NeuralNet
from alphago.training.selfplay_run import SelfPlayRun
from alphago.training.settings.selfplay_settings import SelfPlaySettings

SEEDS_OF_MATCH = 1000  # more than the calls of `Match.play` in a match, each of which has a seed of its own
AT_ONCE = 20  # games between two evaluations of the sequential test, and between two checks of `stop`


class Terms(NamedTuple):
    """The terms of a candidate's match.

    win_rate: the win rate that the candidate needs, a draw counting half.
    games: number of games, even: each opening is played with both colours.
    readouts: simulations per move; None for self-play's number.
    sprt: two Elo differences of a sequential test (see Sprt) that replaces the win rate and may end the match early.
    """

    win_rate: float
    games: int
    readouts: int | None = None
    sprt: tuple[float, float] | None = None


def play_candidate(run: SelfPlayRun, opponent: NeuralNet, terms: Terms, seed: int, stop: threading.Event) -> "Match":
    """Play a match of the run's latest network against `opponent`, on the board of its stage, and return it.

    seed: as in `Match.play`.
    Raises MatchStopped if `stop` is set before the end.
    """
    readouts = run.settings.selfplay.readouts if terms.readouts is None else terms.readouts
    search = match_search(run.settings.selfplay)
    candidate = run.match_evaluator(run.learner.net, run.env)
    players = candidate, run.match_evaluator(opponent, run.env)
    match = Match(players, run.env, readouts, terms, run.device, search)
    while not match.is_over:
        match.play(seed, stop)
    return match


def log_match(run: SelfPlayRun, match: "Match", row: Mapping[str, Any], name: str) -> None:
    """Save the games of a finished match in the run's folder, log the match, and report it.

    row: the first entries of the match's row in evaluations.jsonl: the run's standing, "judge", "opponent", and, if the
        match decides about it, "accepted", whether the candidate becomes the best network.
    name: the name under which the games are saved.
    """
    games = len(match.outcomes)
    low, high = wilson(match.win_rate, games)
    run.folder.keep_match(name, run.games, match.env, match.results)
    run.add_match(
        {
            **row,
            "readouts": match.readouts,
            "played": games,
            **match.counts(),
            "win_rate": match.win_rate,
            "low": low,
            "high": high,
            "match_seconds": match.seconds,
        }
    )
    verdict = ""
    if "accepted" in row:
        verdict = "; it is the best now" if row["accepted"] else "; the best stays"
    run.note(
        f"candidate after {run.games} games: {match.win_rate:.1%} of {games} games against the {row['opponent']} "
        f"(95 % interval {low:.1%} to {high:.1%}){verdict}"
    )


def match_search(settings: SelfPlaySettings) -> SearchForm:
    """Return the search of a run's matches: self-play's search, without noise.

    If it is the usual search of self-play, its settings are those that suit the matches.
    """
    return SELF_PLAY_RULE if settings.search == settings.usual_search else settings.search


@dataclass
class Match:
    """A match of a candidate against the best network so far; each call of `play` plays at most AT_ONCE more games.

    players: the candidate and the best network.  env: the game.
    readouts: simulations per move of both players.
    terms: the number of games, and the condition for accepting the candidate.
    device: where the networks are computed.
    search: the search of both players, as in `evaluate`.
    """

    players: tuple[Evaluator | NeuralNet, Evaluator | NeuralNet]
    env: GameEnv
    readouts: int
    terms: Terms
    device: str
    search: SearchForm = SELF_PLAY_RULE
    results: list[MatchResult] = field(default_factory=list)
    seconds: float = 0.0  # spent on playing so far

    def play(self, seed: int, stop: threading.Event) -> None:
        """Play the next games: pairs of games with the same opening and colours swapped.

        seed: the number of the match, from which the seeds of its games are made.
        Raises MatchStopped if `stop` is set.
        """
        began = time.monotonic()
        pairs = min(AT_ONCE, self.terms.games - len(self.outcomes)) // 2
        result = evaluate(
            self.env,
            *self.players,
            num_games=2 * pairs,
            readouts=self.readouts,
            search=self.search,
            random_opening=opening_length(self.env),
            seed=SEEDS_OF_MATCH * seed + len(self.results),
            device=self.device,
            stop=stop,
        )
        self.results.append(result)
        self.seconds += time.monotonic() - began

    @property
    def outcomes(self) -> np.ndarray:
        """The results so far from the candidate's view, 1, 0 or -1 [n]; games 2k and 2k + 1 share an opening."""
        none = np.zeros(0)  # before the first games
        return np.concatenate([none, *(result.outcomes for result in self.results)])

    @property
    def win_rate(self) -> float:
        return win_rate(self.outcomes)

    @property
    def verdict(self) -> str:
        """The sequential test's verdict so far, "accept", "reject" or "continue"; always "continue" without a test."""
        if not self.terms.sprt:
            return "continue"
        return Sprt(*self.terms.sprt).judge(pair_scores(self.outcomes)).state

    @property
    def is_over(self) -> bool:
        return len(self.outcomes) >= self.terms.games or self.verdict != "continue"

    @property
    def accepted(self) -> bool:
        """Whether the candidate replaces the best network; valid once the match is over."""
        return self.verdict == "accept" if self.terms.sprt else self.win_rate >= self.terms.win_rate

    def counts(self) -> dict[str, int]:
        """Return the number of distinct games and the candidate's numbers of wins, draws and losses, by name."""
        names = ("distinct", "wins", "draws", "losses")
        return {name: sum(getattr(result, name) for result in self.results) for name in names}


def win_rate(outcomes: np.ndarray) -> float:
    """Return the share of wins in `outcomes` (1, 0 or -1), counting a draw as half a win."""
    return float((np.sign(outcomes) + 1).mean() / 2)
