"""Train a network that is small enough for a bot of one file: `python examples/bots/train.py oware --minutes 45`."""

import argparse

from alphago import GoEnv, NeuralNet, OwareEnv, train
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.policy import FlatPolicy
from alphago.nn.value import FlatValue


def small_network(game: str) -> NeuralNet:
    """Return a new network of fewer than 30 000 weights: 60 KB as float16."""
    if game == "oware":
        env = OwareEnv(rules="cgzero")
        base = DenseBase(env.planes, env.plane_shape, (96, 64))
        return NeuralNet(env, base, FlatValue(64, 32), FlatPolicy(64, env.action_space, 32))
    return NeuralNet(GoEnv(7, planes=3), ResidualTower(3, 20, 3, pooled=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=("oware", "go"))
    parser.add_argument("--minutes", type=float, default=45.0, help="length of the run (45)")
    parser.add_argument("--readouts", type=int, default=64, help="simulations a move (64)")
    parser.add_argument("--folder", help="where the run is saved")
    parser.add_argument("--out", default="small.safetensors", help="the trained network (small.safetensors)")
    options = parser.parse_args()
    net = small_network(options.game)
    net = train(net.env, model=net, max_minutes=options.minutes, readouts=options.readouts, folder=options.folder)
    net.save(options.out)


if __name__ == "__main__":
    main()
