"""A Connect Four player against perfect play: the signs of its values on solved positions, its games as first player.

    python benchmarks/connect_four.py runs/four --readouts 200 --games 200 --depth 10

*Values*: positions of random games, solved to the end, of which a share is won, drawn and lost; told is how often the
sign of the network's value, and of a search's, is the outcome's, among the positions that one side wins.  *Games*: the
player begins on the empty board, which is a win for it (Allis 1988), against alpha-beta search of a fixed depth.  That
search is deterministic, so its first three replies are drawn, another three in each game, and distinct games are
counted; whatever is drawn, the game stays a win for the first player.

The solver is alpha-beta search on bit boards with the window of one win, moves in the order of the threats that they
make, and a table of positions; positions after 12 plies take a quarter of a second.
"""

import argparse
import time
from typing import Any, NamedTuple

import numba
import numpy as np
from figures import Figures, add_option, stamp

from alphago import ConnectFourEnv, MCTSPlayer
from alphago.arena.alphabeta import AlphaBetaSearch
from alphago.arena.match_result import wilson
from alphago.cli.models import load
from alphago.env.position import Position
from alphago.mcts.analysis import analyze

HEIGHT, WIDTH = 6, 7
BOTTOM = sum(1 << (7 * column) for column in range(WIDTH))  # the lowest point of each column
BOARD = BOTTOM * ((1 << HEIGHT) - 1)
ENTRIES = 1 << 23  # of the solver's table
REPLIES = 3  # of the other side that are drawn
ORDER = np.array([3, 2, 4, 1, 5, 0, 6])  # columns from the middle


class Table(NamedTuple):
    """What the solver knows and its scratch."""

    keys: np.ndarray  # int64, positions
    values: np.ndarray  # int8, 3 (least outcome + 1) + greatest outcome + 1
    nodes: np.ndarray  # int64 [1], positions visited
    moves: np.ndarray  # int64 [plies, 7]
    scores: np.ndarray  # int64 [plies, 7]


@numba.njit(cache=True, inline="always")
def bits_of(x: int) -> int:
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@numba.njit(cache=True, inline="always")
def winning_points(stones: int, mask: int) -> int:
    """The empty points that complete a line of four of `stones`."""
    found = (stones << 1) & (stones << 2) & (stones << 3)
    for step in (7, 6, 8):
        pair = (stones << step) & (stones << (2 * step))
        found |= pair & (stones << (3 * step))
        found |= pair & (stones >> step)
        pair = (stones >> step) & (stones >> (2 * step))
        found |= pair & (stones << step)
        found |= pair & (stones >> (3 * step))
    return found & (BOARD ^ mask)


@numba.njit(cache=True)
def outcome(stones: int, mask: int, low: int, high: int, table: Table, ply: int) -> int:
    """The outcome of best play for the mover, 1, 0 or -1, exact within the window from `low` to `high`.

    stones: the mover's.  mask: both sides'.  ply: of the search.
    """
    keys, values = table.keys, table.values
    table.nodes[0] += 1
    possible = (mask + BOTTOM) & BOARD
    if winning_points(stones, mask) & possible:
        return 1
    if mask == BOARD:
        return 0
    threats = winning_points(stones ^ mask, mask)
    forced = possible & threats
    if forced:
        if forced & (forced - 1):
            return -1
        possible = forced
    possible &= ~(threats >> 1)  # a stone below the other side's winning point gives it away
    if not possible:
        return -1
    key = stones + mask + BOTTOM
    place = key % ENTRIES
    if keys[place] == key:
        least, most = values[place] // 3 - 1, values[place] % 3 - 1
        if least == most:
            return least
        low, high = max(low, least), min(high, most)
        if low >= high:
            return low
    moves, scores, count = table.moves[ply], table.scores[ply], 0
    for column in ORDER:
        move = possible & (((1 << HEIGHT) - 1) << (7 * column))
        if move:
            score = bits_of(winning_points(stones | move, mask))
            at = count
            while at > 0 and scores[at - 1] < score:
                moves[at], scores[at] = moves[at - 1], scores[at - 1]
                at -= 1
            moves[at], scores[at] = move, score
            count += 1
    best, first_low = -1, low
    for i in range(count):
        found = -outcome(stones ^ mask, mask | moves[i], -high, -low, table, ply + 1)
        best = max(best, found)
        low = max(low, found)
        if low >= high:
            break
    if best <= first_low:
        bounds = 3 * 0 + best + 1  # at most `best`
    elif best >= high:
        bounds = 3 * (best + 1) + 2  # at least
    else:
        bounds = 4 * (best + 1)
    keys[place], values[place] = key, bounds
    return best


class Solver:
    """Outcomes of best play, with one table for all positions."""

    def __init__(self) -> None:
        plies = np.zeros((2, HEIGHT * WIDTH + 1, WIDTH), np.int64)
        self.table = Table(np.zeros(ENTRIES, np.int64), np.zeros(ENTRIES, np.int8), np.zeros(1, np.int64), *plies)

    def solve(self, position: Position) -> int:
        """The outcome for the player to move: 1 win, 0 draw, -1 loss."""
        if position.is_over:
            return int(position.to_play * position.outcome)
        stones, mask = bitboards(position)
        return int(outcome(stones, mask, -1, 1, self.table, 0))


def bitboards(position: Any) -> tuple[int, int]:
    """The mover's stones and all stones, with bit 7 c + h for the point at height h of column c."""
    stones = mask = 0
    for row, column in np.argwhere(position.board != 0).tolist():
        bit = 1 << (7 * column + HEIGHT - 1 - row)
        mask |= bit
        if position.board[row, column] == position.to_play:
            stones |= bit
    return stones, mask


def random_positions(env: ConnectFourEnv, count: int, least: int, most: int, seed: int) -> list[Position]:
    """Distinct positions of random games that are not over, after `least` to `most` plies."""
    generator = np.random.default_rng(seed)
    found: dict[bytes, Position] = {}
    while len(found) < count:
        position = env.position()
        for _ in range(generator.integers(least, most + 1)):
            position = position.play(int(generator.choice(np.flatnonzero(position.legal_mask))))
            if position.is_over:
                break
        else:
            found.setdefault(position.board.tobytes(), position)  # type: ignore[attr-defined]
    return list(found.values())


def share(right: int, count: int) -> str:
    low, high = wilson(right / max(count, 1), max(count, 1))
    return f"{right} of {count}, {right / max(count, 1):.1%} ({low:.1%} to {high:.1%})"


def judge_values(env: ConnectFourEnv, net: Any, solver: Solver, options: argparse.Namespace, figures: Figures) -> None:
    """Print how often the signs of values are right, on solved positions of random games."""
    positions = random_positions(env, options.positions, options.plies[0], options.plies[1], options.seed)
    began = time.perf_counter()
    outcomes = np.array([solver.solve(position) for position in positions])  # for the player to move
    print(f"{len(positions)} positions of random games after {options.plies[0]} to {options.plies[1]} plies, solved in")
    print(f"{time.perf_counter() - began:.0f} s: won {np.mean(outcomes == 1):.0%},", end=" ")
    print(f"drawn {np.mean(outcomes == 0):.0%}, lost {np.mean(outcomes == -1):.0%}")
    decided = np.flatnonzero(outcomes)
    found = analyze([positions[i] for i in decided], net, readouts=options.readouts)
    for name, values in (("the network's value", found.raw_value), (f"{options.readouts} readouts", found.value)):
        right = int(np.sum(np.sign(values) == outcomes[decided]))
        print(f"sign of {name}: {share(right, len(decided))} of the decided positions")
        figures.add(f"connect-four-sign-{'raw' if name.startswith('the') else 'search'}", right / len(decided))


def play_games(env: ConnectFourEnv, net: Any, options: argparse.Namespace, figures: Figures) -> None:
    """Print the results of the games as first player."""
    rival = AlphaBetaSearch(env, options.depth)
    player = MCTSPlayer(env, net, num_readouts=options.readouts, two_player_mode=True)
    drawn = np.random.default_rng(options.seed).choice(WIDTH**REPLIES, options.games, replace=False)
    results, games = [0, 0, 0], set()
    for number in drawn.tolist():
        player.initialize_game()
        replies = [number // WIDTH**i % WIDTH for i in range(REPLIES)]
        while not player.position.is_over:
            if player.position.to_play == 1:
                action = player.suggest_move()
            elif replies and player.position.legal_mask[replies[-1]]:
                action = replies.pop()
            else:
                action = rival.find(player.position.batch.rows[0]).action
            player.play_move(action)
        games.add(tuple(player.position.moves))
        results[1 - int(player.position.outcome)] += 1
    won, level, lost = results
    print(
        f"as first player with {options.readouts} readouts against alphabeta:{options.depth}, whose first {REPLIES}",
        end=" ",
    )
    print(f"replies are drawn: {won} won, {level} drawn, {lost} lost; {share(won, options.games)};", end=" ")
    print(f"{len(games)} distinct games")
    figures.add("connect-four-first", won / options.games)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a network's file or run folder")
    parser.add_argument("--readouts", type=int, default=200, metavar="N", help="simulations a move (200)")
    parser.add_argument("--games", type=int, default=200, metavar="N", help="games as first player (200)")
    parser.add_argument("--depth", type=int, default=10, metavar="N", help="of the alpha-beta search (10)")
    parser.add_argument("--positions", type=int, default=2000, metavar="N", help="solved positions (2000)")
    parser.add_argument(
        "--plies", type=int, nargs=2, default=(12, 30), metavar=("FROM", "TO"), help="after (12 to 30) plies"
    )
    parser.add_argument("--seed", type=int, default=0)
    add_option(parser)
    options = parser.parse_args()
    figures, solver = Figures(options.json), Solver()
    print(stamp())
    env, net = load(options.model, None, None, "connect-four")
    assert isinstance(env, ConnectFourEnv)
    judge_values(env, net, solver, options, figures)
    play_games(env, net, options, figures)
    figures.save()


if __name__ == "__main__":
    main()
