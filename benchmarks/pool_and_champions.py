"""What a pool of merged samples and champions are worth: trainings of as many games each, then matches.

For each seed and game the recipe is trained from random weights for `--games-each` games (learning from the latest
games, its latest network plays), and so is every variant:

    pool                    merged samples, learned in generations, at the recipe's learning rate
    pool, falling rates     the same, with CGZero's factors of the learning rate by generation, scaled to begin with it
    champions               the two best networks play, by matches of `--pit` games after each generation
    pool and champions      both

Then each plays the recipe's network: pairs of games from the same 2 random first moves with colours exchanged, Gumbel
search without noise on both sides, and how many of these games differ is told.  Elo is from the variant's side.  Games
are counted, not minutes, and what each took of the processor stands beside it: a pool takes more gradient steps,
`--epochs` times `--subset` positions a generation, while champions spend theirs on matches.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from alphago import GameEnv, NeuralNet, OwareEnv, evaluate, train
from alphago.arena.elo import elo_ratings
from alphago.arena.match import MatchResult
from alphago.arena.openings import opening_length
from alphago.nn.inference.hardware import describe_machine
from alphago.training.history import read_rows
from alphago.training.recipes import RECIPES, recipe_for

GAMES = {"go": RECIPES["7x7"].make_env(), "oware": OwareEnv()}
VARIANTS = ("pool", "pool, falling rates", "champions", "pool and champions")
FALLING = ((0, 1.0), (1, 0.75), (5, 0.25), (10, 0.125))  # CGZero's 8, 6, 2 and 1, of which the first is the rate


class Trained(NamedTuple):
    """A network, and what it took."""

    net: NeuralNet
    seconds: float  # of the processor
    steps: int
    positions: int
    merged: int | None  # samples in the pool at the end
    accepted: tuple[int, int] | None  # candidates that became the best, and all


def settings_of(variant: str, options: argparse.Namespace) -> dict[str, Any]:
    """The settings that make a variant of the recipe."""
    chosen: dict[str, Any] = {}
    if "pool" in variant:
        subset = options.subset or 3 * options.generation
        rates = FALLING if "falling" in variant else ((0, 1.0),)
        chosen["pool"] = {
            "positions": options.generation, "subset": subset, "epochs": options.epochs, "rates": rates,
        }  # fmt: skip
    if "champions" in variant:
        every = None if "pool" in variant else max(1, options.games_each // options.candidates)
        chosen["champions"] = {"games": options.pit, "every": every}
    return chosen


def trained(env: GameEnv, seed: int, settings: dict[str, Any], options: argparse.Namespace) -> Trained:
    """The network after `--games-each` games."""
    began = time.process_time()
    recipe = recipe_for(env)
    # One board, games counted: else as the recipe of timed runs has it.
    chosen = {**recipe.settings, "curriculum": (), "max_minutes": None, "seed": seed, **settings}
    sizes = {name: size for name, size in recipe.network.items() if name in ("tower_height", "channels")}
    if options.readouts_each is not None:
        chosen["readouts"] = options.readouts_each
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        net = train(env, options.games_each, folder=path, reports=[], **sizes, **chosen)
        last = read_rows(path / "metrics.jsonl", "seconds")[-1]
        matches = path / "evaluations.jsonl"
        rows = read_rows(matches, "opponent") if matches.is_file() else []
    verdicts = [row["accepted"] for row in rows if "accepted" in row]
    accepted = (sum(verdicts), len(verdicts)) if verdicts else None
    merged = last.get("merged_samples")
    return Trained(net, time.process_time() - began, last["steps"], last["positions"], merged, accepted)


def told(made: Trained) -> str:
    parts = [f"{made.positions:,} positions", f"{made.steps:,} steps", f"{made.seconds:.0f} s of the processor"]
    if made.merged is not None:
        parts.append(f"{made.merged:,} merged samples in the end")
    if made.accepted is not None:
        parts.append(f"{made.accepted[0]} of {made.accepted[1]} candidates accepted")
    return ", ".join(parts)


def rates(match: MatchResult) -> str:
    games = len(match.outcomes)
    points = match.win_rate * games
    elo, low, high = elo_ratings(np.array([[0, points], [games - points, 0]]), anchor=1)[0]
    return (
        f"{match.win_rate:.1%} of {games} games ({match.distinct} distinct), Elo {elo:+.0f} ({low:+.0f} to {high:+.0f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", choices=list(GAMES), default=list(GAMES), help="go (7x7) and oware")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), help="which (all)")
    parser.add_argument("--games-each", type=int, default=6000, help="games of each training (6000)")
    parser.add_argument("--readouts-each", type=int, help="readouts of self-play (the recipe's)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="each trains every variant (0 1)")
    parser.add_argument("--generation", type=int, default=16_000, help="new positions of a pool's generation (16000)")
    parser.add_argument(
        "--subset", type=int, help="inputs that a generation learns from (three generations' positions)"
    )
    parser.add_argument("--epochs", type=int, default=2, help="passes over them (2)")
    parser.add_argument("--candidates", type=int, default=20, help="without a pool, of a training (20)")
    parser.add_argument("--pit", type=int, default=60, help="games of a candidate's match (60)")
    parser.add_argument("--games", type=int, default=200, help="games per match (200)")
    parser.add_argument("--readouts", type=int, nargs="+", default=[0, 32], help="in matches; 0 policy alone (0 32)")
    options = parser.parse_args()
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; {options.games_each} games each", flush=True)
    for name in options.game:
        env = GAMES[name]
        for seed in options.seeds:
            recipe = trained(env, seed, {}, options)
            print(f"{name}, seed {seed}, recipe: {told(recipe)}", flush=True)
            for variant in options.variants:
                made = trained(env, seed, settings_of(variant, options), options)
                print(f"{name}, seed {seed}, {variant}: {told(made)}", flush=True)
                for readouts in options.readouts:
                    match = evaluate(
                        env,
                        made.net,
                        recipe.net,
                        options.games,
                        readouts,
                        search="gumbel",
                        random_opening=opening_length(env),
                        seed=seed,
                    )
                    print(f"{name}, seed {seed}, {variant}, {readouts} readouts: {rates(match)}", flush=True)


if __name__ == "__main__":
    main()
