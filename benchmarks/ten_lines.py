"""The README's training call: how long it takes, and what its network has learned.

    python benchmarks/ten_lines.py                                            # a few minutes, then four matches
    ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI python benchmarks/ten_lines.py        # as on a processor without bfloat16

Prints the call's time; then 100 games each against random moves (policy alone) and the untrained network (64 readouts).
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import stamp

from alphago import GoEnv, NeuralNet, evaluate, train

CALL = {"num_games": 100, "ckp_freq": 10, "tower_height": 10, "start_training_after": 500}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--games", type=int, default=CALL["num_games"], help="of self-play (100)")
    parser.add_argument("--matches", type=int, default=100, help="games of each match (100)")
    options = parser.parse_args()
    print(", ".join(map(str, stamp().values())))
    env, began = GoEnv(options.board_size), time.monotonic()
    with TemporaryDirectory() as folder:
        net = train(env, folder=Path(folder) / "run", reports=[], **{**CALL, "num_games": options.games})
    print(f"over after {time.monotonic() - began:.0f} s")
    print("policy alone against random moves:", evaluate(env, net, "random", options.matches, 0))
    untrained = NeuralNet(env, tower_height=CALL["tower_height"])
    print("64 readouts against the untrained network:", evaluate(env, net, untrained, options.matches, 64))


if __name__ == "__main__":
    main()
