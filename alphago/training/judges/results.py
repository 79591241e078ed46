"""Play matches of judges in parts, and make the row of a match in evaluations.jsonl."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from alphago.arena.elo import elo_difference
from alphago.arena.match import evaluate
from alphago.arena.match_result import MatchGame, MatchResult, final_board_means
from alphago.env.game import GameEnv

SEEDS_OF_MATCH = 1000  # part p of match m has the seed SEEDS_OF_MATCH * m + p; no match has so many parts
AT_ONCE = 20  # games of a part, after which a sequential test may end the match


class WatchResult(NamedTuple):
    """What a test of a network by an opponent, game records or an exam has measured (see `Watched.test`).

    Attributes:
        row: entries of a row of evaluations.jsonl.
        summary: the result as a clause for a report.
        part: the share of a whole test that was done, 0 .. 1.
        least_part: the smallest share of a whole test that a test can do.
    """

    row: dict[str, Any]
    summary: str
    part: float = 1.0
    least_part: float = 1.0


def match_row(env: GameEnv, result: MatchResult) -> dict[str, Any]:
    """Return a match's entries of a row of evaluations.jsonl: counts, win rate and Elo with 95 % intervals, and others.

    The others are moves per game, and in Go mean score and captures.

    Args:
        result: at least one pair of games, from the network's side, without forfeits.
    """
    low, high = result.interval
    difference = elo_difference(result.win_rate, len(result.games))
    boards = final_board_means(env.match_variant(), result.games) if env.has_captures else {}
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
        "moves_per_game": float(np.mean([len(moves) for moves in result.games])),
    }


def games_as_text(env: GameEnv, result: MatchResult) -> list[dict[str, Any]]:
    """Return for each game its `moves` as text, and its `outcome`, -1 .. 1 in the view of the run's network.

    The network is the match's first player, which has Black in games 0, 2, …
    """
    texts = [" ".join(env.to_text(action) for action in moves) for moves in result.games]
    return [{"outcome": float(outcome), "moves": text} for outcome, text in zip(result.outcomes, texts, strict=True)]


def without_forfeits(result: MatchResult) -> MatchResult:
    """Return the match without the pairs of games in which an engine forfeited; games are renumbered from 0."""
    spoilt_pairs = {number // 2 for number in result.forfeits}
    return renumber([game for game in result.played if game.number // 2 not in spoilt_pairs], result.env)


def renumber(games: Iterable[MatchGame], env: GameEnv | None) -> MatchResult:
    """Return a match of `env` with the given games, numbered anew from 0 in their order."""
    return MatchResult(tuple(replace(game, number=number) for number, game in enumerate(games)), env)


Decided = Callable[[MatchResult], bool]  # gets the result of the games so far, and returns whether the match may end


def play_in_parts(
    env: GameEnv, players: tuple[object, object], games: int, number: int, decided: Decided, **options: Any
) -> MatchResult:
    """Play a match, AT_ONCE games at a time, until all games are played or the games so far decide it.

    Args:
        games: number of games.
        number: number of the match in the run, from which the seeds of its games are made.
        decided: called after each part; see Decided.
        players, options: as in `evaluate`, whose exceptions are raised.
    """
    result: MatchResult | None = None
    part = 0
    while result is None or (len(result.games) < games and not decided(result)):
        count = min(AT_ONCE, games - AT_ONCE * part)  # the last part may be smaller
        played = evaluate(env, *players, num_games=count, seed=SEEDS_OF_MATCH * number + part, **options)
        result = played if result is None else renumber([*result.played, *played.played], result.env)
        part += 1
    return result
