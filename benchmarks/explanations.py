"""How long `alphago.explain` takes for a move, and whether what it calls worse is worse, by an exam.

python benchmarks/explanations.py            # seconds for the likeliest move that loses points
python benchmarks/explanations.py --judge    # verdicts about a drawn move of each position, by the exam's losses
"""

import argparse
import time
from collections import Counter

import numpy as np

from alphago import analyze, explain, load_model
from alphago.exams.positions import Exam, find_exam
from alphago.nn.net import NeuralNet

WANTED = 0.3  # seconds a move at 200 readouts on 9x9, at most
SOMETHING, BAD, BAD_RATE, BIG = 0.3, 1.0, 0.1, 5.0  # losses by the exam, in points, and in win rate
UNLIKELY = 0.005  # least probability of a move that the network might play
SEED = 5  # of the drawn moves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--network", help="a network's name or file (the package's for the board)")
    parser.add_argument("--positions", type=int, help="40, or all with --judge")
    parser.add_argument("--readouts", type=int, default=200)
    parser.add_argument("--points", type=float, default=3.0, help="the least that a move loses")
    parser.add_argument("--judge", action="store_true", help="whether verdicts hold, instead of seconds")
    options = parser.parse_args()
    exam = find_exam(None, options.size)
    if options.judge:
        judge(exam, options)
    else:
        measure_time(exam, options)


def network(exam: Exam, options: argparse.Namespace) -> NeuralNet:
    """Return the network that explains."""
    return load_model(options.network or f"{exam.size}x{exam.size}", exam.boards[0].env)


def judge(exam: Exam, options: argparse.Namespace) -> None:
    """Explain a move of each position, drawn by the network's probabilities among those that lose something."""
    net, generator, counts = network(exam, options), np.random.default_rng(SEED), Counter[str]()
    boards = exam.boards[: options.positions]
    priors = analyze(boards, net, 0).prior
    for position, judged, prior in zip(boards, exam.positions, priors, strict=False):
        points, rates = np.nan_to_num(judged.points), np.nan_to_num(judged.rates)
        shares = prior * ((points > SOMETHING) & (prior > UNLIKELY))
        if not shares.any():
            continue
        move = int(generator.choice(len(shares), p=shares / shares.sum()))
        told = explain(position, move, net, options.readouts)
        counts.update(moves=1, big=int(points[move] >= BIG), silent=int(points[move] >= BIG and not told.sentences))
        if told.loss.is_mistake:
            is_bad = points[move] >= BAD or rates[move] >= BAD_RATE
            is_named_better = points[told.loss.best] <= points[move] / 2
            counts.update(worse=1, bad=int(is_bad), better=int(is_named_better))
    print(f"{counts['worse']} of {counts['moves']} moves are called worse")
    print(f"they lose a point or 10 % of winning: {counts['bad']} of {counts['worse']}")
    print(f"and the named move at most half as much: {counts['better']} of {counts['worse']}")
    print(f"moves that lose {BIG:g} points or more, told nothing of: {counts['silent']} of {counts['big']}")


def measure_time(exam: Exam, options: argparse.Namespace) -> None:
    """Print how long explanations take, and of which facts they are."""
    net = network(exam, options)
    boards = exam.boards[: options.positions or 40]
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
