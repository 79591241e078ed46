"""Matches of judges, played in parts, and a test's row in evaluations.jsonl: results, Elo, statistics of the games."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.elo import elo_difference
from alphago.arena.match import evaluate
from alphago.arena.match_result import MatchResult, final_boards
from alphago.env.game import GameEnv

SEEDS_OF_MATCH = 1000  # more than the parts of a match, each of which has a seed of its own
AT_ONCE = 20  # games of a part: between two evaluations of a sequential test


class WatchResult(NamedTuple):
    """The result of a watched opponent's test of a network.

    Attributes:
        row: entries of a row of evaluations.jsonl.
        summary: the result as a clause for a report.
        part: the share of a whole test that was done, 0 .. 1.
        least: the smallest such share.
    """

    row: dict[str, Any]
    summary: str
    part: float = 1.0
    least: float = 1.0


def match_row(env: GameEnv, result: MatchResult) -> dict[str, Any]:
    """Return counts, win rate and Elo with 95 % intervals, and moves per game; in Go also mean score and captures.

    Args:
        result: at least one pair of games, from the network's side, without forfeits.
    """
    low, high = result.interval
    difference = elo_difference(result.win_rate, len(result.games))
    boards = final_boards(env.match_variant(), result.games) if env.has_captures else {}
    return {
        "played": len(result.games),
        "distinct": result.distinct,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "win_rate": result.win_rate,
        "low": low,
        "high": high,
        "elo": difference.elo,
        "elo_low": difference.low,
        "elo_high": difference.high,
        **boards,
        "moves_per_game": float(np.mean([*map(len, result.games)])),
    }


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


def play_in_parts(
    env: GameEnv,
    players: tuple[object, object],
    games: int,
    number: int,
    decided: Callable[[MatchResult], bool],
    **options: Any,
) -> MatchResult:
    """Play a match, AT_ONCE games at a time, until all games are played or `decided` returns True of those so far.

    Args:
        number: that of the match in the run, from which the seeds of its games are made.
        players, options: as in `evaluate`, whose exceptions are raised.
    """
    result: MatchResult | None = None
    part = 0
    while result is None or (len(result.games) < games and not decided(result)):
        count = min(AT_ONCE, games - AT_ONCE * part)
        played = evaluate(env, *players, num_games=count, seed=SEEDS_OF_MATCH * number + part, **options)
        result = played if result is None else join_results(result, played)
        part += 1
    return result


def join_results(first: MatchResult, second: MatchResult) -> MatchResult:
    """Return the result of a match that goes on after its first games."""

    def renumber(texts: Mapping[int, str]) -> dict[int, str]:
        return {len(first.games) + number: text for number, text in texts.items()}

    return replace(
        first,
        outcomes=np.concatenate([first.outcomes, second.outcomes]),
        games=first.games + second.games,
        forfeits={**first.forfeits, **renumber(second.forfeits)},
        counted=first.counted + second.counted,
        disagreements={**first.disagreements, **renumber(second.disagreements)},
    )
