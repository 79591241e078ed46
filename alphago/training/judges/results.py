"""A test's row in evaluations.jsonl; of a match: its results, the Elo difference, and statistics of its games."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.elo import elo_difference
from alphago.arena.match_result import MatchResult, final_boards
from alphago.env.game import GameEnv


class WatchResult(NamedTuple):
    """The result of a watched opponent's test of a network.

    row: entries of a row of evaluations.jsonl.  summary: the result as a clause for a report.
    part: the share of a whole test that was done, 0 .. 1.  least: the smallest such share.
    """

    row: dict[str, Any]
    summary: str
    part: float = 1.0
    least: float = 1.0


def match_row(env: GameEnv, result: MatchResult) -> dict[str, Any]:
    """Return counts, win rate and Elo with 95 % intervals, and moves per game; in Go also mean score and captures.

    result: at least one pair of games, from the network's side, without forfeits.
    """
    low, high = result.interval
    return {
        "played": len(result.games),
        "distinct": result.distinct,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "win_rate": result.win_rate,
        "low": low,
        "high": high,
        **strength(env, result),
        "moves_per_game": float(np.mean([*map(len, result.games)])),
    }


def strength(env: GameEnv, result: MatchResult) -> dict[str, float]:
    """Return the network's Elo minus the opponent's, with its 95 % interval; in Go also mean score and captures.

    result: as in `match_row`.
    """
    difference = elo_difference(result.win_rate, len(result.games))
    elo = {"elo": difference.elo, "elo_low": difference.low, "elo_high": difference.high}
    if not env.has_captures:
        return elo
    return elo | final_boards(env.match_variant(), result.games)._asdict()


def games_as_text(env: GameEnv, result: MatchResult) -> list[dict[str, Any]]:
    """Return for each game its `moves` as text and its `outcome` for the network, which has Black in games 0, 2, …"""
    texts = [" ".join(env.to_text(action) for action in game) for game in result.games]
    return [{"outcome": float(outcome), "moves": text} for outcome, text in zip(result.outcomes, texts, strict=True)]


def without_forfeits(result: MatchResult) -> MatchResult:
    """Return the match without the pairs of games in which an engine forfeited; games are renumbered from 0."""
    spoilt_pairs = {number // 2 for number in result.forfeits}
    valid = [number for number in range(len(result.games)) if number // 2 not in spoilt_pairs]
    disagreements = result.disagreements
    return replace(
        result,
        outcomes=result.outcomes[valid],
        games=tuple(result.games[number] for number in valid),
        forfeits={},
        counted=min(result.counted, len(valid)),  # an engine counts all games that it finishes, or none
        disagreements={new: disagreements[old] for new, old in enumerate(valid) if old in disagreements},
    )
