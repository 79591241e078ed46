"""A Reversi player on 6x6 against strong and perfect play: its games as second player, the signs of its values.

    python benchmarks/reversi.py runs/reversi --readouts 200 --games 50 --depth 12
    python benchmarks/reversi.py runs/reversi --readouts 200 --games 50 --depth 12 --perfect

*Games*: the player is White on the whole board, which is a win for it by 4 (Feinstein 1993), against alpha-beta search
of a fixed depth; with `--perfect` Black plays perfectly as soon as the rest of the game can be solved.  Both sides are
deterministic, so Black's first three moves are drawn, until all games are distinct.  White plays all of its own moves:
whatever Black does, the game stays a win for White until White errs.  *Values*: positions of random games, solved to
the end; told is how often the sign of the network's value, and of a search's, is the outcome's, among the positions
that one side wins.

The solver is alpha-beta search on bit boards, which tries first the moves that leave the other side the fewest moves,
with a table of positions; a position with 18 empty points takes a second, and each two further ones 10 times as long.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from figures import Figures, add_option, stamp
from solved_games import bits_of, judge_values, share

from alphago import MCTSPlayer, ReversiEnv
from alphago.arena.alphabeta import AlphaBetaSearch
from alphago.cli.models import load
from alphago.env.position import Position

MOST_SIZE = 6  # of the boards of which a side's stones, bit 8 row + column, can be shifted within 63 bits
ENTRIES = 1 << 22  # of the solver's table
LEAST_KEPT = 6  # empty points of a position that enters the table
DRAWN = 3  # of Black's moves, the first ones
DRAWS = 200  # of an opening for one game, before the search for a distinct game is given up


class Table(NamedTuple):
    """What the solver knows and its scratch."""

    own: np.ndarray  # int64 [ENTRIES], the mover's stones
    enemy: np.ndarray  # int64 [ENTRIES]
    least: np.ndarray  # int8 [ENTRIES], the margin is at least
    most: np.ndarray  # int8 [ENTRIES]
    moves: np.ndarray  # int64 [depth, 36]
    scores: np.ndarray  # int64 [depth, 36]
    nodes: np.ndarray  # int64 [1]


@numba.njit(cache=True)
def legal_bits(own: int, enemy: int, board: int) -> int:
    """The points on which a stone encloses enemy stones."""
    found = 0
    for shift in (1, 7, 8, 9):
        up, down = enemy & (own << shift), enemy & (own >> shift)
        for _ in range(MOST_SIZE - 3):
            up |= enemy & (up << shift)
            down |= enemy & (down >> shift)
        found |= (up << shift) | (down >> shift)
    return found & board & ~(own | enemy)


@numba.njit(cache=True)
def turned_bits(own: int, enemy: int, stone: int) -> int:
    """The enemy stones that a stone encloses."""
    found = 0
    for shift in (1, 7, 8, 9):
        up, down = enemy & (stone << shift), enemy & (stone >> shift)
        for _ in range(MOST_SIZE - 3):
            up |= enemy & (up << shift)
            down |= enemy & (down >> shift)
        if (up << shift) & own:
            found |= up
        if (down >> shift) & own:
            found |= down
    return found


@numba.njit(cache=True)
def margin(own: int, enemy: int, board: int, low: int, high: int, table: Table, ply: int) -> int:
    """The final margin of best play for the mover, exact within the window from `low` to `high` (fail-soft).

    own, enemy: the mover's stones, the other side's.  board: all points.  ply: of the search, passes included.
    """
    table.nodes[0] += 1
    legal = legal_bits(own, enemy, board)
    if legal == 0:
        if legal_bits(enemy, own, board) == 0:
            return bits_of(own) - bits_of(enemy)
        return -margin(enemy, own, board, -high, -low, table, ply + 1)
    kept = bits_of(board & ~(own | enemy)) >= LEAST_KEPT
    place = ((own * 0x9E3779B97F4A7C1 ^ enemy * 0x2545F4914F6CDD1D) >> 20) % ENTRIES
    if kept and table.own[place] == own and table.enemy[place] == enemy:
        if table.least[place] >= high or table.least[place] == table.most[place]:
            return table.least[place]
        if table.most[place] <= low:
            return table.most[place]
    moves, scores, count = table.moves[ply], table.scores[ply], 0
    while legal:
        stone = legal & -legal
        legal ^= stone
        turned = turned_bits(own, enemy, stone)
        score = -bits_of(legal_bits(enemy ^ turned, own | stone | turned, board)) if kept else 0
        at = count
        while at > 0 and scores[at - 1] < score:
            moves[at], scores[at] = moves[at - 1], scores[at - 1]
            at -= 1
        moves[at], scores[at] = stone, score
        count += 1
    best, alpha = -127, low
    for i in range(count):
        turned = turned_bits(own, enemy, moves[i])
        value = -margin(enemy ^ turned, own | moves[i] | turned, board, -high, -alpha, table, ply + 1)
        best, alpha = max(best, value), max(alpha, value)
        if alpha >= high:
            break
    if kept:
        table.own[place], table.enemy[place] = own, enemy
        table.least[place] = best if best > low else -127
        table.most[place] = best if best < high else 127
    return best


class Solver:
    """Margins of best play on boards of up to 6x6, with one table for all positions."""

    def __init__(self, env: ReversiEnv) -> None:
        self.size = env.N
        self.board = sum(1 << (8 * row + column) for row in range(env.N) for column in range(env.N))
        scratch = (np.zeros((2 * env.N * env.N, env.N * env.N), np.int64) for _ in range(2))
        known = (np.zeros(ENTRIES, dtype) for dtype in (np.int64, np.int64, np.int8, np.int8))
        self.table = Table(*known, *scratch, np.zeros(1, np.int64))

    def solve(self, position: Position, low: int = -64, high: int = 64) -> int:
        """The final margin of best play for the player to move, exact within the window."""
        if position.is_over:
            return int(position.to_play * position.score())
        return int(margin(*self.bits(position), self.board, low, high, self.table, 0))

    def best(self, position: Position) -> int:
        """The first of the actions with the greatest margin."""
        best, chosen = -64, -1
        for action in np.flatnonzero(position.legal_mask).tolist():
            after = position.play(action)
            sign = position.to_play * after.to_play  # a game that is over keeps the mover
            value = self.solve(after, -64, -best) * sign if sign < 0 else self.solve(after, best, 64)
            if value > best:
                best, chosen = value, action
        return chosen

    def bits(self, position: Any) -> tuple[int, int]:
        """The mover's stones and the other side's."""
        sides = {position.to_play: 0, -position.to_play: 0}
        for row, column in np.argwhere(position.board != 0).tolist():
            sides[int(position.board[row, column])] |= 1 << (8 * row + column)
        return sides[position.to_play], sides[-position.to_play]


def empty_points(position: Any) -> int:
    return int(np.sum(position.board == 0))


def random_positions(env: ReversiEnv, count: int, least: int, most: int, seed: int) -> list[Position]:
    """Distinct positions of random games that are not over, with `least` to `most` empty points."""
    generator = np.random.default_rng(seed)
    found: dict[tuple[bytes, int], Position] = {}
    while len(found) < count:
        position, empty = env.position(), generator.integers(least, most + 1)
        while not position.is_over and empty_points(position) > empty:
            position = position.play(int(generator.choice(np.flatnonzero(position.legal_mask))))
        if not position.is_over:
            found.setdefault((position.board.tobytes(), position.to_play), position)  # type: ignore[attr-defined]
    return list(found.values())


def solved_positions(env: ReversiEnv, solver: Solver, options: argparse.Namespace) -> tuple[list[Position], np.ndarray]:
    """Positions of random games, and their outcomes for the player to move; prints how they were solved."""
    positions = random_positions(env, options.positions, *options.empty, seed=options.seed)
    began = time.perf_counter()
    outcomes = np.sign([solver.solve(position, -1, 1) for position in positions])
    least, most = options.empty
    print(f"{len(positions)} positions of random games with {least} to {most} empty points, solved in", end=" ")
    print(f"{time.perf_counter() - began:.0f} s:", end=" ")
    return positions, outcomes


class Rival:
    """Black's play: alpha-beta search of a fixed depth, and perfect play with at most `perfect` empty points."""

    def __init__(self, env: ReversiEnv, depth: int, solver: Solver, perfect: int) -> None:
        self.search, self.solver, self.perfect = AlphaBetaSearch(env, depth), solver, perfect

    def choose(self, position: Any) -> int:
        if np.count_nonzero(position.legal_mask) == 1:
            return int(position.legal_mask.argmax())
        if empty_points(position) <= self.perfect:
            return self.solver.best(position)
        return self.search.find(position.batch.rows[0]).action


def distinct_games(player: MCTSPlayer, rival: Rival, games: int, seed: int) -> Iterator[Position]:
    """Yield the ends of so many distinct games with the player as White; ends early if there are no more."""
    generator, openings, found = np.random.default_rng(seed), set(), set()
    for _ in range(games * DRAWS):
        player.initialize_game()
        drawn, opening = DRAWN, None
        while not player.position.is_over:
            if player.position.to_play == -1:
                action = player.suggest_move()
            elif drawn:
                action = int(generator.choice(np.flatnonzero(player.position.legal_mask)))
                drawn -= 1
            else:
                if opening is None:  # White's moves follow from Black's
                    opening = tuple(player.position.moves)
                    if opening in openings:
                        break
                    openings.add(opening)
                action = rival.choose(player.position)
            player.play_move(action)
        moves = tuple(player.position.moves)
        if player.position.is_over and moves not in found:
            found.add(moves)
            yield player.position
        if len(found) == games:
            return


def play_games(env: ReversiEnv, net: Any, solver: Solver, options: argparse.Namespace, figures: Figures) -> None:
    """Print the results of the games as second player."""
    rival = Rival(env, options.depth, solver, options.perfect)
    player = MCTSPlayer(env, net, num_readouts=options.readouts, two_player_mode=True)
    ends = list(distinct_games(player, rival, options.games, options.seed))
    won, level, lost = (sum(position.outcome == outcome for position in ends) for outcome in (-1, 0, 1))
    margins = [-int(position.score()) for position in ends]
    perfect = f", perfect with at most {options.perfect} empty points" if options.perfect else ""
    print(f"as second player with {options.readouts} readouts against alphabeta:{options.depth}{perfect},", end=" ")
    print(f"whose first {DRAWN} moves are drawn: {won} won, {level} drawn, {lost} lost;", end=" ")
    print(f"not lost {share(len(ends) - lost, len(ends))}; margin {np.mean(margins):+.1f},", end=" ")
    print(f"least {min(margins):+d}; {len(ends)} distinct games")
    figures.add(f"reversi-second{'-perfect' if options.perfect else ''}", 1 - lost / len(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a network's file or run folder")
    parser.add_argument("--readouts", type=int, default=200, metavar="N", help="simulations a move (200)")
    parser.add_argument("--games", type=int, default=50, metavar="N", help="distinct games as second player (50)")
    parser.add_argument("--depth", type=int, default=12, metavar="N", help="of the alpha-beta search (12)")
    parser.add_argument(
        "--perfect",
        type=int,
        nargs="?",
        default=0,
        const=18,
        metavar="N",
        help="Black plays perfectly with at most N empty points (0; without N: 18)",
    )
    parser.add_argument("--positions", type=int, default=1000, metavar="N", help="solved positions (1000)")
    parser.add_argument(
        "--empty", type=int, nargs=2, default=(6, 16), metavar=("FROM", "TO"), help="points of these (6 to 16)"
    )
    parser.add_argument("--seed", type=int, default=0)
    add_option(parser)
    options = parser.parse_args()
    print(stamp())
    env, net = load(options.model, None, None, "reversi")
    if not isinstance(env, ReversiEnv) or env.N > MOST_SIZE:
        parser.error(f"the network must play ReversiEnv(6), or (4), which can be solved, got {env}")
    figures, solver = Figures(options.json), Solver(env)
    judge_values("reversi", net, solved_positions(env, solver, options), options, figures)
    play_games(env, net, solver, options, figures)
    figures.save()


if __name__ == "__main__":
    main()
