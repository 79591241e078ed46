"""A Gomoku player against alpha-beta search from every first stone, with both colours.

    python benchmarks/gomoku.py gomoku --readouts 400 --depth 4

The first stone is given, and Black's; then both sides choose.  Both are deterministic, so each stone and colour has one
game, no game is played twice, and the score is what a match from one random stone approaches: 162 games on 9x9.
"""

import argparse
from typing import Any

from figures import stamp

from alphago import GomokuEnv, MCTSPlayer
from alphago.arena.alphabeta import AlphaBetaSearch
from alphago.cli.models import load
from alphago.env.position import Position

SIDES = {1: "Black", -1: "White"}
RESULTS = {1: "won", 0: "drawn", -1: "lost"}


def play(player: MCTSPlayer, rival: AlphaBetaSearch, side: int, first: int) -> Position:
    """Return the end of a game whose first stone is given, with the player as `side`, 1 for Black, -1 for White."""
    player.initialize_game()
    player.play_move(first)
    while not player.position.is_over:
        if player.position.to_play == side:
            player.play_move(player.suggest_move())
        else:
            player.play_move(rival.find(player.position.batch.rows[0], until_decided=True).action)
    return player.position


def play_all(env: GomokuEnv, net: Any, options: argparse.Namespace) -> None:
    """Print the results by colour, and the first stones of the games that were not won."""
    player = MCTSPlayer(env, net, num_readouts=options.readouts, two_player_mode=True)
    rival, points = AlphaBetaSearch(env, options.depth), 0.0
    for side, name in SIDES.items():
        outcomes = {first: side * int(play(player, rival, side, first).outcome) for first in range(env.action_space)}
        stones = {
            outcome: [env.to_text(first) for first, result in outcomes.items() if result == outcome]
            for outcome in RESULTS
        }
        print(f"as {name}: " + ", ".join(f"{len(stones[outcome])} {word}" for outcome, word in RESULTS.items()))
        for outcome in (0, -1):
            if stones[outcome]:
                print(f"  {RESULTS[outcome]} after {' '.join(stones[outcome])}", flush=True)
        points += sum((outcome + 1) / 2 for outcome in outcomes.values())
    games = 2 * env.action_space
    print(
        f"{points:g} of {games} points, {points / games:.1%}, with {options.readouts} readouts "
        f"against alphabeta:{options.depth}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a network's file or run folder")
    parser.add_argument("--readouts", type=int, default=400, metavar="N", help="simulations a move (400)")
    parser.add_argument("--depth", type=int, default=4, metavar="N", help="of the alpha-beta search (4)")
    options = parser.parse_args()
    print(stamp(), flush=True)
    env, net = load(options.model, game="gomoku")
    play_all(env, net, options)


if __name__ == "__main__":
    main()
