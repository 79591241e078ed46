"""What values and policies should learn from a game: the recipe's targets beside others, by equal numbers of games.

Every variant trains a network by the board's recipe, changed in its targets alone, from random weights for
`--games-each` games of self-play; then it plays the network of the unchanged recipe (lambda-returns, and the search's
policies) and the same seed: pairs of games from the same random first moves with sides exchanged, Gumbel search without
noise on both sides.  Elo is told from the variant's side, with its 95 % interval.

    python benchmarks/value_targets.py --seeds 0 1 --json rows.json

In k Z + (1 - k) Q, Z is a game's result, Q the search's value, and k grows along the game: by plies, or by the legal
moves seen (github.com/marchete/CGZero).
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago import NeuralNet, OwareEnv, evaluate, train
from alphago.arena.elo import elo_ratings
from alphago.env.game import GameEnv
from alphago.training.recipes import OTHER_GAMES, RECIPES, Recipe

SHARPENED = {"visits_until": 0.2, "played_from": 0.95}
MIXED = {"value_targets": "legal-moves", "result_share": 0.9, "result_growth": 0.1}
VARIANTS: dict[str, dict[str, Any]] = {
    "results alone": {"search_share": 0.0},
    "k 0.7 to 1 by plies": {"value_targets": "plies", "result_share": 0.7, "result_growth": 0.3},
    "k 0.7 to 1 by legal moves": {**MIXED, "result_share": 0.7, "result_growth": 0.3},
    "k 0.9 to 1 by legal moves": MIXED,
    "policies end as the move played": SHARPENED,
    "k 0.9 to 1 by legal moves, policies end as the move played": {**MIXED, **SHARPENED},
}


class Setting(NamedTuple):
    """A game to train: its recipe, how many games, and how many random moves begin a game of a match."""

    env: GameEnv
    recipe: Recipe
    games: int
    opening: int


GAMES = {
    "go": Setting(RECIPES["7x7"].make_env(), RECIPES["7x7"], 3000, 2),
    "oware": Setting(OwareEnv(), OTHER_GAMES, 3000, 4),
}


def trained(game: Setting, games: int, seed: int, changes: dict[str, Any]) -> tuple[NeuralNet, float]:
    """The network and the processor time that it took, in seconds."""
    began = time.process_time()
    settings = {**game.recipe.settings, "max_minutes": None, "seed": seed, **changes}
    with tempfile.TemporaryDirectory() as folder:
        net = train(game.env, games, folder=Path(folder) / "run", reports=[], **sized(game.recipe), **settings)
    return net, time.process_time() - began


def sized(recipe: Recipe) -> dict[str, Any]:
    return {name: recipe.network[name] for name in ("tower_height", "channels")}


def compared(name: str, nets: tuple[NeuralNet, NeuralNet], game: Setting, match: dict[str, int]) -> dict[str, Any]:
    """A row: the variant's points, of so many games, and its Elo over the recipe's network."""
    result = evaluate(
        game.env, *nets, match["games"], match["readouts"], search="gumbel", random_opening=game.opening,
        seed=match["seed"],
    )  # fmt: skip
    count = len(result.outcomes)
    points = result.win_rate * count
    elo, low, high = elo_ratings(np.array([[0, points], [count - points, 0]]), anchor=1)[0]
    return {"variant": name, **match, "points": points, "elo": round(elo), "low": round(low), "high": round(high)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", choices=list(GAMES), default=list(GAMES), help="what is played (all)")
    parser.add_argument("--games-each", type=int, help="games of self-play of each training (3000)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="each trains every variant (0 1)")
    parser.add_argument("--games", type=int, default=200, help="games of a match (200)")
    parser.add_argument("--readouts", type=int, nargs="+", default=[0, 32], help="in matches; 0 policy alone (0 32)")
    parser.add_argument("--only", nargs="*", help="variants whose name holds one of these words")
    parser.add_argument("--json", type=Path, help="a file that gets the rows, as a list")
    options = parser.parse_args()
    chosen = {name: v for name, v in VARIANTS.items() if not options.only or any(word in name for word in options.only)}
    rows: list[dict[str, Any]] = []
    for game_name in options.game:
        game = GAMES[game_name]
        games = options.games_each or game.games
        for seed in options.seeds:
            reference, usual = trained(game, games, seed, {})
            for name, changes in chosen.items():
                net, seconds = trained(game, games, seed, changes)
                where = {"game": game_name, "trained": games, "processor": round(seconds / max(usual, 1e-9), 2)}
                for readouts in options.readouts:
                    match = {"games": options.games, "readouts": readouts, "seed": seed}
                    row = {**where, **compared(name, (net, reference), game, match)}
                    rows.append(row)
                    print(
                        f"{game_name}, seed {seed}, {games} games, {name}: {row['points']:g} of {row['games']}, "
                        f"Elo {row['elo']:+d} ({row['low']:+d} to {row['high']:+d}) with {readouts} readouts, "
                        f"{where['processor']:.2f} of the recipe's processor time",
                        flush=True,
                    )
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
