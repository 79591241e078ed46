"""How long `alphago.explain` takes for a move: the likeliest move that loses points, in positions of an exam."""

import argparse
import time
from collections import Counter

import numpy as np

from alphago import analyze, explain, load_model
from alphago.exams.positions import find_exam

WANTED = 0.3  # seconds a move at 200 readouts on 9x9, at most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--positions", type=int, default=40)
    parser.add_argument("--readouts", type=int, default=200)
    parser.add_argument("--points", type=float, default=3.0, help="the least that a move loses")
    options = parser.parse_args()
    exam, net = find_exam(None, options.size), load_model(f"{options.size}x{options.size}")
    boards = exam.boards[: options.positions]
    priors = analyze(boards, net, 0).prior
    seconds, work, kinds = [], [], Counter[str]()
    for position, judged, prior in zip(boards, exam.positions, priors, strict=False):
        move = int(np.argmax(prior * (np.nan_to_num(judged.points) > options.points)))
        began, busy = time.perf_counter(), time.process_time()
        told = explain(position, move, net, options.readouts)
        seconds.append(time.perf_counter() - began)
        work.append(time.process_time() - busy)
        kinds.update(type(fact).__name__ for fact in told.facts)
    rest = sorted(seconds[1:] or seconds)  # the first one compiles
    median, late = rest[len(rest) // 2], rest[len(rest) * 9 // 10]
    print(f"a move: median {median:.3f} s, nine of ten within {late:.3f} s ({WANTED} wanted)")
    print(f"of processor: median {sorted(work)[len(work) // 2]:.3f} s")
    print(", ".join(f"{name} {count}" for name, count in kinds.most_common()))


if __name__ == "__main__":
    main()
