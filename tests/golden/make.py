"""Writes search.json, what fixed searches with a hash net visit, and signature.json, a checksum of further ones.

    python -m tests.golden.make

A commit that changes either file changes how the search chooses (or the hashes of positions), and says
so in its message.
"""

import json
import zlib
from pathlib import Path

import numpy as np

from alphago import GameBatch, GameEnv, GoEnv, Gumbel, Position, Puct, SearchSettings
from alphago.env.games import GAMES, make_game
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import Search
from alphago.mcts.search_specs import SEARCHES as RULES
from tests import diagrams

PATH = Path(__file__).with_name("search.json")
POSITIONS, READOUTS = 32, 128  # positions searched in parallel, and readouts for two moves of each
OPENING_PLIES = 8  # position i is i mod OPENING_PLIES random moves after the start
SIGNATURE = Path(__file__).with_name("signature.json")

NINE = """
    . . . . . . . . .
    . . X . . . O O .
    . . . X . O X O .
    . . . . . . X . .
    . . O . . . . . .
    . . . . . . X . .
    . X O . O . . . .
    . X X O . . . . .
    . . . . . . . . .
"""

# Name: (position, readouts, settings).  A move is played after half of the readouts; Gumbel begins anew then.
SEARCHES: dict[str, tuple[Position, int, SearchSettings]] = {
    "tic-tac-toe": (TicTacToeEnv().position(), 200, Puct()),
    "tic-tac-toe, 4 leaves": (TicTacToeEnv().position(), 200, Puct(leaves=4)),
    "5x5": (GoEnv(5).position(), 400, Puct()),
    "5x5, AlphaGo.jl": (GoEnv(5).position(), 400, Puct(first_play_reduction=0.0)),
    "5x5, AlphaGo Zero": (
        GoEnv(5).position(),
        400,
        Puct(c_puct=1.5, parent_value_weight=0.0, first_play_reduction=0.0),
    ),
    "5x5, 8 leaves": (diagrams.play(GoEnv(5).position(), "B C3, W C4, B pass"), 400, Puct(leaves=8, virtual_loss=2)),
    "9x9 set up": (diagrams.position(NINE, komi=6.5), 800, Puct()),
    "9x9 set up, White to play, 8 leaves": (diagrams.position(NINE, to_play="white"), 800, Puct(leaves=8)),
    "tic-tac-toe, Gumbel": (TicTacToeEnv().position(), 60, Gumbel()),
    "5x5, Gumbel": (GoEnv(5).position(), 200, Gumbel()),
    "9x9 set up, Gumbel, 6 candidates": (
        diagrams.position(NINE, komi=6.5),
        128,
        Gumbel(considered=6, c_visit=10.0, c_scale=0.3),
    ),
    "9x9 set up, Gumbel, 4 leaves": (diagrams.position(NINE), 400, Gumbel(leaves=4, c_scale=0.1)),
}


def search(position: Position, readouts: int, settings: SearchSettings) -> list[dict[str, int]]:
    """Visits of the root's moves after half of the readouts, and after a move and the other half."""
    only = np.zeros(1, np.int64)
    searched = Search(position.env, HashEvaluator(), 1, settings)
    searched.batch.copy(only, only, of=position.batch)
    noise = np.random.default_rng(0)
    found = []
    for _ in range(2):
        searched.begin_move(only)
        if isinstance(settings, Gumbel):
            searched.add_noise(only, [noise])
        searched.run(np.array([readouts // 2], np.int32))
        visits = searched.visits(only)[0]
        found.append({position.env.to_text(int(a)): int(visits[a]) for a in np.flatnonzero(visits)})
        searched.advance(only, searched.choose(only, np.zeros(1, np.bool_), np.zeros(1)))  # the first of equals
    return found


def write(path: Path = PATH) -> None:
    """One line per search."""
    lines = [f"{json.dumps(name)}: {json.dumps(search(*SEARCHES[name]))}" for name in SEARCHES]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def search_positions(env: GameEnv, settings: SearchSettings) -> int:
    """Search a game's positions for two moves each; return the CRC-32 of all visits."""
    search = Search(env, HashEvaluator(), POSITIONS, settings)
    games = np.arange(POSITIONS)
    play_openings(search.batch)
    checksum = 0
    for _ in range(2):  # moves
        games = games[~search.batch.is_over(games, np.empty(len(games), np.bool_))]
        budget = np.zeros(POSITIONS, np.int32)
        budget[games] = READOUTS // 2
        search.run(budget)
        visits = search.visits(games)  # [games left, A]
        checksum = zlib.crc32(visits.astype("<i4").tobytes(), checksum)
        search.advance(games, visits.argmax(axis=1).astype(np.int32))
    return checksum


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


def checksums() -> dict[str, int]:
    """The checksum of each game's searches by each rule."""
    return {
        f"{name} {rule}": search_positions(make_game(name), settings())
        for name in GAMES
        for rule, settings in RULES.items()
    }


if __name__ == "__main__":
    write()
    SIGNATURE.write_text(json.dumps(checksums(), indent=2) + "\n", encoding="utf-8")
    print(f"wrote {PATH} and {SIGNATURE}")
