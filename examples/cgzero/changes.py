"""What changes of a recipe are worth: trainings of equally many games, then matches against the unchanged recipe.

    python examples/cgzero/changes.py --game oware --change "k 0.9" pool champions --folder runs/changes

For each game and seed the game's recipe is trained from random weights for `--games-each` games of self-play, and so is
the recipe with every change.  Then each changed network plays the recipe's network of the same seed.  A match is pairs
of games from the same random first moves, with sides exchanged, by Gumbel search without noise on both sides.  Printed
are Elo of the changed network, with its 95 % interval, and how many of the games are distinct.

Games are counted, not minutes, so other programs on the machine change nothing.  What each training took is printed
too: a pool takes more gradient steps, and champions spend games on matches.  `--folder` keeps the trainings and the
results; the same call goes on from there.

In k Z + (1 - k) Q, Z is a game's result, Q the search's value, and k grows along the game, by the legal moves
seen (github.com/marchete/CGZero).  "falling rates" are CGZero's factors of the learning rate by generation.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from alphago import ConnectFourEnv, GomokuEnv, NeuralNet, OwareEnv, ReversiEnv, evaluate, train
from alphago.arena.elo import elo_difference
from alphago.arena.match_games import opening_length
from alphago.env.game import GameEnv
from alphago.nn.loss import LossWeights
from alphago.training.history import read_rows
from alphago.training.recipes import RECIPES, recipe_for

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from champions import Champions
from figures import stamp
from games import CGZeroGames
from pool import Pool
from rates import GenerationRates
from targets import MixedTargets

GAMES: dict[str, GameEnv] = {
    "go": RECIPES["7x7"].make_env(),
    "oware": OwareEnv(),
    "gomoku": GomokuEnv(9),
    "connect-four": ConnectFourEnv(),
    "reversi": ReversiEnv(6),
}
VISITS = {"visits_until": 1.0, "played_from": 1.0}  # policies are the search's in the whole game
FALLING = ((0, 1.0), (1, 0.75), (5, 0.25), (10, 0.125))  # CGZero's 8, 6, 2 and 1, divided by the first
CANDIDATES = 20  # number of them in a training with champions and without a pool


def changes_of(games: int, generation: int, pit: int) -> dict[str, dict[str, Any]]:
    """Return for each change, by its name, keywords of `train` in place of the recipe's.

    Args:
        games: games of self-play of a training.
        generation: number of new positions of a pool's generation.
        pit: games of a candidate's match against a champion.
    """
    pool = Pool(generation, subset=3 * generation, epochs=2)
    champions = Champions(games=pit, every=max(1, games // CANDIDATES))
    return {
        "results alone": {"search_share": 0.0},
        "k 0.7 to 1 by legal moves": {"targets": MixedTargets(0.7, 0.3, **VISITS)},
        "k 0.9 to 1 by legal moves": {"targets": MixedTargets(**VISITS)},
        "k 0.9 and policies that end as the move played": {"targets": MixedTargets()},
        "pool": {"memory": pool},
        "pool, falling rates": {"memory": pool, "judges": [GenerationRates(FALLING)]},
        "champions": {"judges": [champions], "source": CGZeroGames()},
        "pool and champions": {
            "memory": pool,
            "judges": [replace(champions, every=None)],
            "source": CGZeroGames(),
        },
        "no opening by the policy": {"opening_plies": 0.0},
        "opening of the usual length": {"opening_plies": None},
        "opening of 2 plies": {"opening_plies": 2.0},
        "opening of 5 plies": {"opening_plies": 5.0},
        "random moves, 10 % of 12 plies": {"source": CGZeroGames(0.1, 12)},
        "random moves, 10 % of 30 plies": {"source": CGZeroGames(0.1, 30)},
        "samples drawn uniformly": {"surprise_share": 0.0},
        "samples drawn by surprise": {"surprise_share": 1.0},
        "5 samples of each position": {"samples_per_position": 5.0},
        "smaller steps of dense layers": {"dense_rate": 0.1},
        "logits free to drift": {"losses": LossWeights(log_sum=0)},
    }


class Training(NamedTuple):
    """A network, and what its training took."""

    net: NeuralNet
    positions: int
    steps: int
    seconds: float  # of the processor
    notes: str  # what else to print about it


def train_one(env: GameEnv, seed: int, changes: dict[str, Any], folder: Path, options: argparse.Namespace) -> Training:
    """Train the recipe with changes for `--games-each` games; a training that began in the folder goes on.

    Args:
        changes: keywords of `train` in place of the recipe's; {} for the recipe itself.
    """
    recipe = recipe_for(env)
    name = next(name for name, known in RECIPES.items() if known is recipe)
    # One board, and games instead of minutes; all else is the recipe's.
    settings = {"curriculum": (), "max_minutes": None, "seed": seed, **changes}
    if options.readouts_each is not None:
        settings["readouts"] = options.readouts_each
    net = train(env, options.games_each, preset=name, folder=folder, reports=[], **settings)
    last = read_rows(folder / "metrics.jsonl", "seconds")[-1]
    if last["games"] < options.games_each:  # Ctrl-C: `train` has saved and returned
        sys.exit(f"stopped after {last['games']} games of {folder.name}; the same command resumes")
    notes = f", {last['merged_samples']:,} merged samples in the end" if "merged_samples" in last else ""
    verdicts = [row["accepted"] for row in read_rows(folder / "evaluations.jsonl", "opponent") if "accepted" in row]
    if verdicts:
        notes += f", {sum(verdicts)} of {len(verdicts)} candidates accepted"
    return Training(net, last["positions"], last["steps"], last["processor_seconds"], notes)


def play_match(nets: tuple[NeuralNet, NeuralNet], env: GameEnv, match: dict[str, int]) -> dict[str, Any]:
    """Play a match, and return the first network's points, its Elo against the second one, and the distinct games.

    Args:
        match: "games", "readouts" and "seed" of the match.
    """
    opening = opening_length(env)
    result = evaluate(
        env, *nets, match["games"], match["readouts"], search="gumbel", random_opening=opening, seed=match["seed"]
    )
    count = len(result.outcomes)
    points = result.win_rate * count
    elo, low, high = elo_difference(result.win_rate, count)
    return {"points": points, "distinct": result.distinct, "elo": round(elo), "low": round(low), "high": round(high)}


def result_text(row: dict[str, Any]) -> str:
    """Return the result of a match as text, from its row of results.jsonl."""
    return (
        f"{row['readouts']} readouts: {row['points']:g} of {row['games']} ({row['distinct']} distinct), "
        f"Elo {row['elo']:+d} ({row['low']:+d} to {row['high']:+d})"
    )


def compare(folder: Path, options: argparse.Namespace) -> None:
    """Train and play what is missing in the folder, and print all results, old ones too."""
    results = folder / "results.jsonl"
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.is_file() else []
    known = {(row["game"], row["seed"], row["change"], row["readouts"]) for row in rows}
    changes = changes_of(options.games_each, options.generation, options.pit)
    words = options.change or [""]  # "" is a part of every name
    # A word that is the whole name of a change chooses this one alone, another word all that contain it.
    chosen = [name for name in changes if name in words or any(word in name for word in words if word not in changes)]
    for game, seed in ((game, seed) for game in options.game for seed in options.seeds):
        env = GAMES[game]
        usual = train_one(env, seed, {}, folder / f"{game}-{seed}-recipe", options)
        for name in chosen:
            path = folder / f"{game}-{seed}-{name.replace(' ', '-')}"
            changed = train_one(env, seed, changes[name], path, options)
            print(
                f"{game}, seed {seed}, {name}: {changed.positions:,} positions, {changed.steps:,} steps, "
                f"{changed.seconds / max(usual.seconds, 1e-9):.2f} of the recipe's {usual.seconds:.0f} s of the "
                f"processor{changed.notes}",
                flush=True,
            )
            for readouts in options.readouts:
                if (game, seed, name, readouts) in known:
                    continue
                match = {"games": options.games, "readouts": readouts, "seed": seed}
                row = {"game": game, "trained": options.games_each, "change": name, **match, **stamp()}
                row |= play_match((changed.net, usual.net), env, match)
                rows.append(row)
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    for row in rows:
        print(f"{row['game']}, seed {row['seed']}, {row['trained']} games, {row['change']}, {result_text(row)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", choices=list(GAMES), default=["go", "oware"], help="go (7x7) and oware")
    parser.add_argument("--change", nargs="+", metavar="WORDS", help="changes by name, or by a part of it (all)")
    parser.add_argument("--games-each", type=int, default=3000, help="games of self-play of each training (3000)")
    parser.add_argument("--readouts-each", type=int, help="readouts of self-play (the recipe's)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="each trains every change (0 1)")
    parser.add_argument("--generation", type=int, default=16_000, help="new positions of a pool's generation (16000)")
    parser.add_argument("--pit", type=int, default=60, help="games of a candidate's match (60)")
    parser.add_argument("--games", type=int, default=200, help="games of a match (200)")
    parser.add_argument("--readouts", type=int, nargs="+", default=[0, 32], help="in matches; 0 policy alone (0 32)")
    parser.add_argument("--folder", type=Path, help="for trainings and results; without it they are not kept")
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        compare(options.folder, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options)


if __name__ == "__main__":
    main()
