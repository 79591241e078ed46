"""`alphago bench`: compute the search's signature, one number from fixed searches in every game with every rule.

Priors and values are hashes of positions, so the signature is the same on any machine.  Another signature means that
the rules of a game or the search have changed (as with `bench` of the chess program Stockfish).
"""

import argparse
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from alphago.arena.standings import table
from alphago.env.batch import GameBatch
from alphago.env.game import GameEnv
from alphago.env.games import GAMES, make_game
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.rule import SearchSettings
from alphago.mcts.search import Search
from alphago.mcts.search_forms import SEARCHES

POSITIONS, READOUTS = 32, 128  # positions searched in parallel, and readouts for two moves of each
OPENING_PLIES = 8  # position i is i mod OPENING_PLIES random moves after the start


@dataclass(frozen=True)
class SearchRun:
    """The result of searching one game's positions with one search rule."""

    game: str
    rule: str
    checksum: int  # CRC-32 of all visits
    simulations: int
    seconds: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the searches are always the same."""


def run(options: argparse.Namespace) -> int:
    """Search fixed positions of every game by every rule, with priors and values that are hashes of positions.

    The signature at the end is the same on every machine, and changes only if a game's rules or the search change.
    """
    runs = list(search_runs())
    rows = [["game", "search", "checksum", "simulations/s"]]
    rows += [[run.game, run.rule, f"{run.checksum}", f"{run.simulations / run.seconds:,.0f}"] for run in runs]
    rate = sum(run.simulations for run in runs) / sum(run.seconds for run in runs)
    print(f"{table(rows)}\n\nsimulations/s  {rate:,.0f}\nsignature      {signature(runs)}")
    return 0


def search_runs() -> Iterator[SearchRun]:
    """Search the positions of every game with every search rule, and yield the results."""
    for name in GAMES:
        env = make_game(name)
        for rule, settings_class in SEARCHES.items():
            settings = settings_class()
            search_positions(env, settings, readouts=2)  # compiles the kernels
            start = time.perf_counter()
            checksum, simulations = search_positions(env, settings, READOUTS)
            seconds = time.perf_counter() - start
            yield SearchRun(name, rule, checksum=checksum, simulations=simulations, seconds=seconds)


def signature(runs: list[SearchRun]) -> int:
    """Return the CRC-32 of the runs' checksums, in order."""
    return zlib.crc32(np.array([run.checksum for run in runs], "<u4").tobytes())


def search_positions(env: GameEnv, settings: SearchSettings, readouts: int) -> tuple[int, int]:
    """Search a game's positions for two moves each; return the CRC-32 of all visits, and the number of simulations.

    readouts: simulations per position, for both moves together.
    """
    search = Search(env, HashEvaluator(), POSITIONS, settings)
    games = np.arange(POSITIONS)
    play_openings(search.batch)
    checksum = simulations = 0
    for _ in range(2):  # moves
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
    """Play i mod OPENING_PLIES random moves, from a fixed seed, in each slot i of a new batch."""
    generator = np.random.default_rng(1)
    for slot in range(POSITIONS):
        slots = np.array([slot])
        legal_mask = np.empty((1, batch.env.action_space), np.bool_)
        for _ in range(slot % OPENING_PLIES):
            if batch.is_over(slots, np.empty(1, np.bool_))[0]:
                break
            legal = np.flatnonzero(batch.legal_mask(slots, legal_mask)[0])
            action = legal[generator.integers(len(legal))]
            batch.play(slots, np.array([action], np.int32))
