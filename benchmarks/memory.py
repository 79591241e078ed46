"""What a position of 9x9 takes: in the replay memory, and in the files of a run.

The games are played by the package's 9x9 network with the recipe's settings, so that lengths of games, shares of moves
that are trained on, and policies are those of a run.
"""

import argparse
import gc
import tracemalloc

from figures import Figures, add_option

from alphago import ReplayMemory, load_model, selfplay
from alphago.records.record import RecordBuilder, records_to_bytes
from alphago.system.settings import make_settings
from alphago.training.recipes import RECIPES
from alphago.training.settings.run_settings import RunSettings

WANTED = 500_000  # positions of a run's memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=256, metavar="N", help="to measure by (256)")
    parser.add_argument("--readouts", type=int, default=8, metavar="N", help="simulations a move (8)")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    env = RECIPES["9x9"].make_env().selfplay_variant()
    settings = make_settings(RunSettings, {"num_games": options.games, "games_in_flight": 64}).completed("cpu").selfplay
    names = ("opening_plies", "resign_threshold")
    chosen = {name: getattr(settings, name) for name in names}
    records = selfplay(env, load_model("9x9"), options.readouts, options.games, games_in_flight=64, seed=0, **chosen)
    written = len(records_to_bytes(records))
    plies = sum(len(record) for record in records)
    ReplayMemory(env).add(records[:1])  # loads what stays loaded, which is no position's
    tracemalloc.start()
    memory = ReplayMemory(env)
    for record in records:  # copies, made as self-play makes them
        made = RecordBuilder.of(record).finish(record.outcome, record.score, record.resigned, env.action_space)
        memory.add([made])
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    positions = len(memory)
    print(f"{options.games} games of 9x9: {plies} moves, {positions} positions to train on")
    for where, size in (("in memory", held), ("on disk", written)):
        each = size / positions
        figures.add("memory-ram" if where == "in memory" else "memory-disk", each * WANTED / 1e6)
        print(f"{where}: {each:.0f} bytes a position, {each * WANTED / 1e6:.0f} MB for {WANTED:,}")
    figures.save()


if __name__ == "__main__":
    main()
