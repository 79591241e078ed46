"""Where the time on a GPU goes: the part "profile" of `make gpu`.

torch's profiler sees every kernel, copy and fill on the GPU, CuPy's and those of CUDA graphs too.  From its trace come
launches, copies, the share of the time in which the GPU works, and the kernels by their time; the boards' kernels stand
beside the time that their bytes take at the rate of a large copy, the least that they could take.
"""

import json
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from gpu_figures import Figure, Scale, copy_rate, matrix_rate
from gpu_networks import learner_of, operations_of
from torch.profiler import ProfilerActivity
from torch.profiler import profile as torch_profile

from alphago import GoEnv, NeuralNet
from alphago.nn.threads import Workers
from alphago.training.precision import random_sample
from alphago.training.selfplay import SelfPlay
from alphago.training.settings.selfplay_settings import SelfPlaySettings, default_groups

ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")  # kinds of events in a trace
ROWS = 14  # of the table of kernels
LONG_PAUSE = 20.0  # microseconds: longer than from one launch to the next


class Event(NamedTuple):
    """What the device did, or on a CPU an operation of torch."""

    name: str
    kind: str
    begin: float  # microseconds
    length: float


class Profiled(NamedTuple):
    """The events of some work, and how long it took, in microseconds."""

    events: list[Event]
    wall: float

    def busy(self) -> float:
        """Return the time in which at least one event was under way."""
        total, end = 0.0, float("-inf")
        for event in sorted(self.events, key=lambda one: one.begin):
            total += max(0.0, event.begin + event.length - max(end, event.begin))
            end = max(end, event.begin + event.length)
        return total

    def pauses(self) -> list[float]:
        """Return the lengths of the times between events in which none was under way, the longest first."""
        found, end = [], None
        for event in sorted(self.events, key=lambda one: one.begin):
            if end is not None and event.begin > end:
                found.append(event.begin - end)
            end = event.begin + event.length if end is None else max(end, event.begin + event.length)
        return sorted(found, reverse=True)

    def count(self, *kinds: str) -> int:
        return sum(event.kind in kinds for event in self.events)

    def by_name(self) -> list[tuple[str, int, float]]:
        """Return name, count and time of each kind of event, the longest first."""
        found: dict[str, list[float]] = defaultdict(list)
        for event in self.events:
            found[event.name].append(event.length)
        return sorted(((name, len(all_), sum(all_)) for name, all_ in found.items()), key=lambda one: -one[2])


class Here:
    """Workers that are this thread, the only one whose operations the profiler sees on a CPU."""

    count = 1

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: there are no threads to end."""

    def run(self, tasks: Sequence[Callable[[], Any]], stop: threading.Event | None = None) -> list[Any]:
        """Run the tasks one after the other, and return their results."""
        return [task() for task in tasks]


def profiled(work: Callable[[], object], on_gpu: bool) -> Profiled:
    """Run the work under the profiler; without a GPU the events are torch's operations."""
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with torch_profile(activities=activities) as profiler:
        began = time.perf_counter()
        work()
        if on_gpu:
            torch.cuda.synchronize()
        wall = 1e6 * (time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return Profiled(read_events(json.loads(path.read_text("utf-8")), ON_GPU if on_gpu else ("cpu_op",)), wall)


def read_events(trace: Mapping[str, Any], kinds: tuple[str, ...]) -> list[Event]:
    """Return the events of these kinds in a trace in Chrome's format."""
    return [
        Event(event["name"], event["cat"], float(event["ts"]), float(event["dur"]))
        for event in trace["traceEvents"]
        if event.get("ph") == "X" and event.get("cat") in kinds
    ]


def profile(scale: Scale) -> Iterator[Figure]:
    """A move of self-play in all games, then gradient steps."""
    env, (height, channels) = GoEnv(9), scale.tower
    net = NeuralNet(env, tower_height=height, channels=channels)
    on_gpu = scale.torch_device == "cuda"
    rate = copy_rate(scale)
    yield Figure("copy of a large array on the device", f"{rate / 1e12:.3g} TB/s")

    settings = SelfPlaySettings(readouts=scale.readouts, games_in_flight=scale.flight, resign_threshold=-1.0)
    settings = settings.completed(scale.flight, default_groups(scale.device))
    with workers_of(settings.groups, on_gpu) as workers:
        source = SelfPlay(env, settings, range(100 * scale.flight), workers, seed=1, device=scale.device)
        source.publish(net)
        play(source, 3)  # compiles, and captures graphs
        found = profiled(lambda: play(source, 1), on_gpu)
    waves = (scale.readouts + 1) * len(source.groups)
    boards = scale.flight // len(source.groups)
    yield from told("self-play", found, waves, "wave")
    least = floors(env, boards, rate)
    spent = sum(
        event.length for event in found.events if event.kind in ("kernel", "cpu_op") and event.name not in least
    )
    floor = 1e6 * boards * operations_of(net) / matrix_rate(scale)
    yield Figure("the network of a wave", f"{spent / waves:,.0f} us, at least {floor:,.0f} by its operations")
    show(found, least)

    with workers_of(1, on_gpu) as workers:
        learner = learner_of(scale, net, workers)
        sample = random_sample(env, scale.wave)
        for _ in range(3):
            learner.step(sample)
        found = profiled(lambda: [learner.step(sample) for _ in range(5)], on_gpu)
    yield from told("gradient steps", found, 5, "step")
    show(found, {})


def workers_of(count: int, on_gpu: bool) -> Any:
    """Threads; on a CPU this one."""
    return Workers(count) if on_gpu else Here()


def play(source: SelfPlay, plies: int) -> None:
    """Play so many moves in every game."""
    source.begin(plies)
    source.go_on()


def told(name: str, found: Profiled, parts: int, part: str) -> Iterator[Figure]:
    """Yield what a profile comes to."""
    kernels, copies = found.count("kernel", "cpu_op"), found.count("gpu_memcpy", "gpu_memset")
    each = f"{kernels / parts:.1f} launches, {copies / parts:.1f} copies, {found.wall / parts:,.0f} us"
    yield Figure(f"{name}, a {part}", each)
    share = found.busy() / max(found.wall, 1e-9)
    yield Figure(f"{name}, GPU at work under the profiler", f"{share:.0%}")
    pauses = found.pauses()
    long = [pause for pause in pauses if pause >= LONG_PAUSE]
    longest = f", the longest {pauses[0]:,.0f} us" if pauses else ""
    sums = (
        f"{sum(pauses) / parts:,.0f} us a {part}, of it {sum(long) / parts:,.0f} in {len(long) / parts:.1f} long ones"
    )
    yield Figure(f"{name}, pauses of the GPU", sums + longest)


def floors(env: GoEnv, boards: int, rate: float) -> dict[str, float]:
    """Return the least microseconds of the boards' kernels on so many boards: their bytes at `rate` bytes a second."""
    words, planes = env.start.row.size, 2 * env.planes * env.N**2
    bytes_of = {
        "copy_batch": 8 * words,  # read and written
        "reach_batch": 8 * words,
        "rule_planes_bfloat16_batch": 4 * words + planes + env.action_space,
    }
    return {name: 1e6 * boards * count / rate for name, count in bytes_of.items()}


def show(found: Profiled, least: Mapping[str, float]) -> None:
    """Print the kernels that took longest."""
    total = sum(event.length for event in found.events)
    print(f"    {'share':>6} {'count':>7} {'us each':>9} {'at least':>9}  kernel or copy")
    for name, count, spent in found.by_name()[:ROWS]:
        floor = f"{least[name]:.1f}" if name in least else ""
        print(
            f"    {spent / max(total, 1e-9):6.1%} {count:7d} {spent / count:9.1f} {floor:>9}  {name[:80]}", flush=True
        )
