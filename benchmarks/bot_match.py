"""Games of an Oware bot of one file (examples/bots) against alpha-beta search, at the time that a contest allows.

    python examples/bots/train.py oware --minutes 45 --out small.safetensors
    python examples/bots/pack.py oware small.safetensors --out bot.py
    python benchmarks/bot_match.py bot.py --opponent alphabeta:8

The bot runs as a program of its own, reads turns from its input and takes 42 ms a move.  Each opening of random moves
is played with both colours; alpha-beta always plays the same, so the games that differ are counted.  A bot that answers
with an illegal move has lost.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from alphago import OwareEnv, Position
from alphago.arena.alphabeta import AlphaBetaSearch, alphabeta_settings
from alphago.arena.match import wilson


class Bot:
    """A bot's process, for one game."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-I", str(path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, **pipes)
        self.times: list[float] = []
        self.simulations: list[int] = []

    def choose(self, position: Position) -> int:
        """Return the bot's move; ValueError for an answer that is no number."""
        own, other = (0, 6) if position.to_play == 1 else (6, 0)
        houses, stores = position.houses, position.captures[:: position.to_play]
        ply = position.setup["move_number"] + len(position.moves)
        numbers = [*houses[own : own + 6], *houses[other : other + 6], *stores, ply]
        start = time.perf_counter()
        print(*numbers, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        self.times.append(time.perf_counter() - start)
        self.simulations.append(int(self.process.stderr.readline().split()[0]))
        return int(answer)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()
        self.process.stderr.close()


def play_game(
    env: OwareEnv, bot: Bot, opponent: AlphaBetaSearch, opening: np.random.Generator, colour: int
) -> tuple[float, Position]:
    """Return the bot's result in a game that it plays with a colour, +1 or -1, and the game's end."""
    position = env.position(move_number=0)
    for _ in range(4):
        position = position.play(int(opening.choice(np.flatnonzero(position.legal_mask))))
    while not position.is_over:
        if position.to_play == colour:
            action = bot.choose(position)
            if not 0 <= action < env.action_space or not position.legal_mask[action]:
                return -1.0, position
        else:
            action = opponent.find(position.batch.rows[0], until_decided=True).action
        position = position.play(action)
    return position.result * colour, position


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bot", type=Path, help="the bot's file")
    parser.add_argument("--opponent", default="alphabeta:8", help="alphabeta:DEPTH (alphabeta:8)")
    parser.add_argument("--games", type=int, default=200, help="an even number: openings have both colours (200)")
    options = parser.parse_args()
    env, settings = OwareEnv(rules="cgzero", graded=False), alphabeta_settings(options.opponent)
    if settings is None or options.games % 2:
        parser.error("the opponent must be alphabeta:DEPTH, and games an even number")
    opponent, results, games, times, simulations = AlphaBetaSearch(env, settings.depth), [], set(), [], []
    for number in range(options.games):
        bot, colour = Bot(options.bot), 1 - 2 * (number % 2)
        result, end = play_game(env, bot, opponent, np.random.default_rng([1, number // 2]), colour)
        bot.close()
        results.append(result)
        games.add(end.moves)
        times += bot.times[1:]  # the first move may take longer
        simulations += bot.simulations
        won, drawn = results.count(1.0), results.count(0.0)
        rate = (won + drawn / 2) / len(results)
        low, high = wilson(rate, len(results))
        print(
            f"{options.bot} against {options.opponent}: {won} wins, {drawn} draws, {results.count(-1.0)} losses in "
            f"{len(results)} games ({len(games)} distinct): {rate:.1%} ({low:.1%} to {high:.1%}); "
            f"{np.median(simulations):.0f} simulations a move; {1000 * np.median(times):.0f} ms, at most"
            f" {1000 * max(times):.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
