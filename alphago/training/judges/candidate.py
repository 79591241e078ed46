"""Matches of a candidate, a run's latest network, against the networks that self-play uses."""

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from alphago.arena.match_games import opening_length
from alphago.arena.match_result import MatchResult, wilson
from alphago.arena.sprt import Sprt, pair_scores
from alphago.mcts.search_forms import SELF_PLAY_RULE, SearchForm
from alphago.nn.net import NeuralNet
from alphago.training.judges.results import play_in_parts
from alphago.training.run import Run
from alphago.training.settings.judge_settings import Gate
from alphago.training.settings.selfplay_settings import SelfPlaySettings


class Match(NamedTuple):
    """A match of a candidate: its result, from the candidate's view, and what came of it.

    accepted: whether the candidate won by the gate's conditions.
    readouts: simulations per move of both players.  seconds: spent on playing.
    """

    result: MatchResult
    accepted: bool
    readouts: int
    seconds: float


def play_candidate(run: Run, opponent: NeuralNet, gate: Gate, seed: int, stop: threading.Event) -> Match:
    """Play a match of the run's latest network against `opponent`, on the board of its stage, and return it.

    gate: the conditions of the match, without its schedule.
    seed: the number of the match, from which the seeds of its games are made.
    Raises MatchStopped if `stop` is set before the end.
    """
    began = time.monotonic()
    readouts = run.settings.selfplay.readouts if gate.readouts is None else gate.readouts
    result = play_in_parts(
        run.env,
        (run.match_evaluator(run.learner.net, run.env), run.match_evaluator(opponent, run.env)),
        gate.games,
        seed,
        lambda result: verdict(gate, result) != "continue",
        readouts=readouts,
        search=match_search(run.settings.selfplay),
        random_opening=opening_length(run.env),
        device=run.device,
        stop=stop,
    )
    return Match(result, accepts(gate, result), readouts, time.monotonic() - began)


def verdict(gate: Gate, result: MatchResult) -> str:
    """Return the sequential test's verdict so far, "accept", "reject" or "continue"; without a test "continue"."""
    return Sprt(*gate.sprt).judge(pair_scores(result.outcomes)).state if gate.sprt else "continue"


def accepts(gate: Gate, result: MatchResult) -> bool:
    """Return whether the candidate replaces the best network after a whole match."""
    return verdict(gate, result) == "accept" if gate.sprt else result.win_rate >= gate.win_rate


def log_match(run: Run, match: Match, row: Mapping[str, Any], name: str) -> None:
    """Save the games of a finished match in the run's folder, log the match, and report it.

    row: the first entries of the match's row in evaluations.jsonl: the run's standing, "judge", "opponent", and, if the
        match decides about it, "accepted", whether the candidate becomes the best network.
    name: the name under which the games are saved.
    """
    result = match.result
    games = len(result.games)
    low, high = wilson(result.win_rate, games)
    run.folder.keep_match(name, run.games, run.env, result)
    counts = {"played": games, **{name: getattr(result, name) for name in ("distinct", "wins", "draws", "losses")}}
    rates = {"win_rate": result.win_rate, "low": low, "high": high}
    run.add_match({**row, "readouts": match.readouts, **counts, **rates, "match_seconds": match.seconds})
    came_of_it = ""
    if "accepted" in row:
        came_of_it = "; it is the best now" if row["accepted"] else "; the best stays"
    run.note(
        f"candidate after {run.games} games: {result.win_rate:.1%} of {games} games against the {row['opponent']} "
        f"(95 % interval {low:.1%} to {high:.1%}){came_of_it}"
    )


def match_search(settings: SelfPlaySettings) -> SearchForm:
    """Return the search of a run's matches: self-play's search, without noise.

    If it is the usual search of self-play, its settings are those that suit the matches.
    """
    return SELF_PLAY_RULE if settings.search == settings.usual_search else settings.search
