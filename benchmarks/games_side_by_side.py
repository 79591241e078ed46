"""Plies a second of self-play by the 7x7 recipe with few and with many games side by side.

The same number of games each, with the network of the package, in turns; the mean of the turns, and the ratio to the
most games side by side.  Fewer are slower, since their waves do not fill the network's calls; what they are good for is
in docs/experiments/13-games-side-by-side.md.
"""

import argparse
import time

from alphago import load_model, selfplay
from alphago.env.games import selfplay_game
from alphago.nn.inference.hardware import describe_machine
from alphago.system.settings import make
from alphago.training.recipes import RECIPES
from alphago.training.settings.run_settings import RunSettings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=768, help="of each kind and turn (768)")
    parser.add_argument("--turns", type=int, default=2, help="turns (2)")
    parser.add_argument("--flights", type=int, nargs="+", default=[64, 128, 256], help="games side by side")
    options = parser.parse_args()
    recipe = RECIPES["7x7"]
    env = recipe.make_env()
    evaluator = load_model("7x7", env).evaluator(exact=True)
    settings = make(RunSettings, recipe.settings).completed("cpu").selfplay
    names = ("opening_plies", "search")
    how = {name: getattr(settings, name) for name in names}

    def rate(flight: int, games: int) -> float:
        began = time.perf_counter()
        played = selfplay(
            selfplay_game(env).variant(), evaluator, settings.readouts, games, games_in_flight=flight, seed=0, **how
        )
        return sum(map(len, played)) / (time.perf_counter() - began)

    rate(options.flights[0], min(16, options.games))  # compiles
    rates = dict.fromkeys(options.flights, 0.0)
    for _ in range(options.turns):
        for flight in options.flights:
            rates[flight] += rate(flight, options.games) / options.turns
    machine = describe_machine()["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores; plies a second, {settings.readouts} readouts each")
    for flight, found in rates.items():
        print(f"{flight:4} side by side: {found:7,.0f}  {found / rates[options.flights[-1]]:.2f} of the last row's")


if __name__ == "__main__":
    main()
