"""The signature of the search: one number for fixed searches of every game, by both rules.

Priors and values come from hashes of positions, so that the number is the same on any machine, and another one
means that rules or search have changed what they do (as `bench` of the chess program Stockfish).
"""

import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from alphago.env.game import GameBatch, GameEnv
from alphago.env.games import GAMES, make_game
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import Search, SearchSettings

POSITIONS, READOUTS = 32, 128  # searched side by side in each game; a move is played after half of the readouts
OPENING_PLIES = 8  # position i is reached by i mod OPENING_PLIES random moves
RULES = {"puct": SearchSettings(), "gumbel": SearchSettings(gumbel=True)}


@dataclass(frozen=True)
class SearchRun:
    """The searches of one game by one rule: checksum of all visits, simulations, and the seconds that they took."""

    game: str
    rule: str
    checksum: int  # 0 .. 2^32 - 1
    simulations: int
    seconds: float


def search_runs() -> Iterator[SearchRun]:
    """Every game by both rules, kernels compiled before the clock starts."""
    for name in GAMES:
        env = make_game(name)
        for rule, settings in RULES.items():
            search_positions(env, settings, readouts=2)
            start = time.perf_counter()
            checksum, simulations = search_positions(env, settings, READOUTS)
            yield SearchRun(name, rule, checksum, simulations, time.perf_counter() - start)


def signature(runs: list[SearchRun]) -> int:
    """One number, 0 .. 2^32 - 1, of the runs' checksums in order."""
    return zlib.crc32(np.array([run.checksum for run in runs], "<u4").tobytes())


def search_positions(env: GameEnv, settings: SearchSettings, readouts: int) -> tuple[int, int]:
    """The checksum of the visits that the searches make, and how many simulations they were."""
    search = Search(env, HashEvaluator(), POSITIONS, settings)
    games = np.arange(POSITIONS)
    play_openings(search.batch)
    checksum = simulations = 0
    for _ in range(2):
        games = games[~search.batch.is_over(games, np.empty(len(games), np.bool_))]
        budget = np.zeros(POSITIONS, np.int32)
        budget[games] = readouts // 2
        search.run(budget)
        visits = search.visits(games)  # [games left, A]
        checksum = zlib.crc32(visits.astype("<i4").tobytes(), checksum)
        simulations += int(budget.sum())
        search.advance(games, visits.argmax(axis=1).astype(np.int32))
    return checksum, simulations


def play_openings(batch: GameBatch) -> None:
    """Random moves from a fixed seed in slots 0 .. POSITIONS - 1, which stand at the start."""
    generator = np.random.default_rng(1)
    for slot in range(POSITIONS):
        only = np.array([slot])
        for _ in range(slot % OPENING_PLIES):
            if batch.is_over(only, np.empty(1, np.bool_))[0]:
                break
            legal = np.flatnonzero(batch.legal_mask(only, np.empty((1, batch.env.action_space), np.bool_))[0])
            batch.play(only, np.array([legal[generator.integers(len(legal))]], np.int32))
