"""What a frozen evaluator is worth beside the network as PyTorch computes it: its rate, and what its rounding costs.

Rates: 5 blocks of 64 channels at 9x9 unless other ones are asked for, positions per second as a search asks for them
(planes, legal moves, network, softmax), on one core and on all of them at once, where every core makes calls of its own
on one torch thread. The module itself in float32 (*eager*) is asked the same way. All forms and sizes of batches run in
turns; a form's rate at a size is the median of the turns, and what is compared are the rates of each form's best size.
*Ready* is the time from new weights to an evaluator; the median of five.

Rounding: on positions of games that the packaged 9x9 network plays against itself, how far priors and values are from
those of the float32 module: Kullback-Leibler divergence of the priors from the module's in nats, and |dv|, the
difference of the values (-1 .. 1), in the mean and at most.
"""

import argparse
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from figures import Figures, add_option

from alphago import GoEnv, NeuralNet, load_model, selfplay
from alphago.cli.rates import network_rate
from alphago.env.batch import GameBatch
from alphago.mcts.evaluator import Evaluator
from alphago.nn.forecasts import stack
from alphago.nn.inference.cpu import NetEvaluator
from alphago.nn.inference.hardware import describe_machine
from alphago.system.cores import available_cores

EAGER = "eager, float32"
FORMS = [(form, dtype) for form in ("folded", "openvino") for dtype in ("float32", "bfloat16")] + [("openvino", "int8")]
WANTED = {"openvino, float32": 1.15, "openvino, bfloat16": 2.1}  # times eager, at least, at 9x9 with 5 x 64
READY = 5  # evaluators that are made of each form
EVERY = 3  # plies from one position of a game to the next


def evaluators(net: NeuralNet) -> tuple[dict[str, Evaluator], dict[str, float]]:
    """The network in every form that this machine can compute, and the seconds that it takes to make each."""
    new = partial(NetEvaluator, net)
    made: dict[str, Evaluator] = {EAGER: new(form="modules", dtype="float32")}
    seconds = {EAGER: 0.0}
    for form, dtype in FORMS:
        make = partial(new, form=form, dtype=dtype)
        try:
            evaluator = make()
        except ValueError:  # such as openvino where it is not installed
            continue
        if evaluator.dtype == dtype:  # a form that falls back to float32 would stand there twice
            made[f"{form}, {dtype}"] = evaluator
            taken = []
            for _ in range(READY):
                start = time.perf_counter()
                make()
                taken.append(time.perf_counter() - start)
            seconds[f"{form}, {dtype}"] = median(taken)
    return made, seconds


def best_rates(
    forms: Mapping[str, Evaluator], env: GoEnv, batches: list[int], cores: int, *, turns: int, seconds: float
) -> dict[str, tuple[float, int]]:
    """Positions per second of each form at its best size of batches, and that size."""
    rates: dict[tuple[str, int], list[float]] = {(name, batch): [] for name in forms for batch in batches}
    for _ in range(turns):
        for name, batch in rates:
            rates[name, batch].append(network_rate(forms[name], env, batch, cores, seconds))
    return {name: max((median(rates[name, batch]), batch) for batch in batches) for name in forms}


def print_rates(options: argparse.Namespace, figures: Figures) -> None:
    env = GoEnv(options.size)
    net = NeuralNet(env, tower_height=options.height, channels=options.channels)
    forms, ready = evaluators(net)
    board = f"{env.N}x{env.N}, {options.height} x {options.channels}"
    for cores in sorted({1, available_cores()}):
        best = best_rates(forms, env, options.batches, cores, turns=options.turns, seconds=options.seconds)
        eager = best[EAGER][0]
        print(f"\n{f'{board}, on {cores} of the cores':<29} positions/s   batch    ready   over eager")
        for name, (rate, batch) in best.items():
            ratio = rate / eager
            wanted = f"   (at least {WANTED[name]} wanted)" if name in WANTED else ""
            print(f"  {name:<24} {rate:14,.0f} {batch:7} {ready[name]:6.3f}s {ratio:12.2f}{wanted}", flush=True)
            form, dtype = name.split(", ")
            if cores == 1:
                figures.add(f"evaluator-{env.N}-{form}-{dtype}", rate)
            if cores == 1 and form == "openvino":
                figures.add(f"evaluator-{env.N}-{dtype}-over-eager", ratio)
            if name == "openvino, bfloat16" and env.N == 9:
                figures.add("evaluator-ready-openvino", ready[name])


def evaluated(evaluator: Evaluator, batch: GameBatch, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Priors float32 [count, A] and values float32 [count] of slots 0 .. count - 1."""
    priors, values = np.empty((count, batch.env.action_space), np.float32), np.empty(count, np.float32)
    evaluator.evaluate(batch, np.arange(count), priors, values)
    return priors, values


def divergence(right: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of `other` from `right`, both [n, A], in nats, float64 [n]."""
    right, other = right.astype(np.float64), np.maximum(other.astype(np.float64), np.finfo(np.float32).tiny)
    nats = (right * np.log(np.where(right > 0, right, other) / other)).sum(axis=1)
    return np.maximum(nats, 0)  # rounding alone makes it less


def print_rounding(options: argparse.Namespace, figures: Figures) -> None:
    net = load_model(options.weights)
    records = selfplay(net.env, net, options.readouts, options.games, games_in_flight=options.games, seed=1)
    positions = [record.position(net.env, ply) for record in records for ply in range(0, len(record), EVERY)]
    batch = stack(positions, net.env)
    forms, _ = evaluators(net)
    priors, values = evaluated(forms.pop(EAGER), batch, len(positions))
    print(
        f"\n{Path(options.weights).name} network, {len(positions)} positions of {len(records)} games: off float32's by"
    )
    print("                        KL of priors, nats: mean       most   |dv|: mean     most")
    for name, evaluator in forms.items():
        others, valued = evaluated(evaluator, batch, len(positions))
        nats, off = divergence(priors, others), np.abs(values - valued)
        figures.add(f"evaluator-kl-{name.replace(', ', '-')}", nats.mean())
        print(f"  {name:<24} {nats.mean():22.6f} {nats.max():10.6f} {off.mean():12.5f} {off.max():8.5f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=9, help="the board whose rate is measured (9)")
    parser.add_argument("--height", type=int, default=5, help="residual blocks whose rate is measured (5)")
    parser.add_argument("--channels", type=int, default=64, help="of these (64)")
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 64, 128, 256, 512], help="positions in a call")
    parser.add_argument("--turns", type=int, default=3, help="how often each form runs (3)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one measurement (0.5)")
    parser.add_argument("--weights", default="9x9", help="the network whose rounding is told, as load_model takes it")
    parser.add_argument("--games", type=int, default=16, help="that it plays for positions (16)")
    parser.add_argument("--readouts", type=int, default=32, help="simulations a move of these games (32)")
    add_option(parser)
    options = parser.parse_args()
    figures = Figures(options.json)
    facts = describe_machine()
    machine, versions = facts["machine"], facts["versions"]
    print(f"{machine['system']}, {machine['processor']}, {machine['cores']} cores")
    print(f"torch {versions['torch']}, OpenVINO {versions['openvino']}", flush=True)
    print_rounding(options, figures)
    print_rates(options, figures)
    figures.save()


if __name__ == "__main__":
    main()
