"""What several leaves a wave cost in quality: a search with L leaves against the policy alone, for both rules.

One game at a time fills no network's batch, so players choose several leaves of a tree before any is evaluated.
"""

import argparse

from figures import stamp

from alphago import GoEnv, Gumbel, Puct, evaluate, load_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="7x7", metavar="MODEL", help="the network of both players (7x7)")
    parser.add_argument("--size", type=int, default=7, metavar="N", help="points along a side (7)")
    parser.add_argument("--readouts", type=int, default=64, metavar="N", help="simulations a move (64)")
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each match (200)")
    parser.add_argument("--leaves", type=int, nargs="+", default=[1, 2, 3, 4, 8], metavar="L")
    options = parser.parse_args()
    env = GoEnv(options.size)
    net = load_model(options.net, env)
    print(stamp())
    for kind in (Gumbel, Puct):
        for leaves in options.leaves:
            settings = kind(leaves=leaves)
            readouts = (options.readouts, 0)
            match = evaluate(env, net, net, options.games, readouts, search=settings, random_opening=2, seed=0)
            print(f"{kind.__name__}, {leaves} leaves: {match}", flush=True)


if __name__ == "__main__":
    main()
