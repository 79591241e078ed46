"""Games as data: self-play of the network that comes with the package, as records, SGF files and training samples."""

import argparse
from pathlib import Path

import numpy as np

from alphago import GoEnv, ReplayMemory, load_model, selfplay
from alphago.records.sgf import format_sgf
from alphago.records.sgf.sgf_game import SgfGame


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays a 7x7 network against itself and looks at the games.")
    parser.add_argument("--games", type=int, default=8, help="how many (8)")
    parser.add_argument("--readouts", type=int, default=32, help="simulations a move (32)")
    parser.add_argument("--folder", type=Path, default=Path("games"), help="for the SGF files (games)")
    arguments = parser.parse_args()

    env = GoEnv(7)
    records = selfplay(env, load_model("7x7", env), arguments.readouts, arguments.games, seed=1)

    arguments.folder.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(records):
        path = arguments.folder / f"{number:03d}.sgf"
        path.write_bytes(format_sgf(SgfGame.from_record(record, env, players=("7x7", "7x7"))))
        print(f"{path}: {len(record)} plies, {record.result_string}")
    print(records[0].position(env))

    values = np.concatenate([record.values * record.movers for record in records])  # Black's view
    print(f"mean of all searches: {values.mean():+.2f} for Black")

    # Training samples: positions turned by random symmetries, each from its mover's view.
    memory = ReplayMemory(env)
    memory.add(records)
    sample = memory.sample(16, np.random.default_rng(0))
    for name, array in sample._asdict().items():
        print(f"{name:>9}  {array.dtype} {list(array.shape)}")


if __name__ == "__main__":
    main()
