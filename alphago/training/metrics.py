"""Metrics of gradient steps, and of an iteration: its games, its speed, and the shares of its time by kind of work."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
import torch

from alphago.env.game import GameEnv
from alphago.nn.loss import legal_alone
from alphago.records.record import GameRecord
from alphago.system import stopwatch
from alphago.training.batches import Batch, to_tensors
from alphago.training.history import Row, mean_over_time, number
from alphago.training.run_clock import RunClock
from alphago.training.source import GameSource

STEP_METRICS = (
    "policy_loss",
    "value_loss",
    "ownership_loss",
    "score_loss",
    "value_correlation",
    "value_variance",
    "policy_entropy",
    "target_entropy",
    "top_move_agreement",
    "top_probability",
    "gradient_norm",
)

WAITING = "waiting"  # threads of self-play wait for the last thread to finish the iteration
OTHER = "other"
_OF_RUN = (stopwatch.OPTIMIZER, stopwatch.SAMPLING, stopwatch.PUBLISHING, stopwatch.SAVING, stopwatch.MATCHES)
_OF_SELF_PLAY = (stopwatch.NET, stopwatch.TREE, stopwatch.BOARDS, stopwatch.TRANSFER)
WORK = (*(work.name for work in (*_OF_SELF_PLAY, *_OF_RUN, stopwatch.GAMES)), WAITING, OTHER)


class Outputs(NamedTuple):
    """The network's outputs for n rows of a batch, computed by one thread.

    Attributes:
        losses: scalars by name, each multiplied by the rows' share of the whole batch's weight.
        logits: [n, A], for A actions.
        value: [n], in the mover's view.
    """

    losses: dict[str, torch.Tensor]
    logits: torch.Tensor
    value: torch.Tensor


def batch_metrics(batch: Batch, outputs: Sequence[Outputs]) -> dict[str, torch.Tensor]:
    """Return the mean losses and the statistics of `measure` over a batch, scalars by name.

    Args:
        outputs: the outputs of each thread for its rows, in the order of the rows.
    """
    # Each thread's losses are scaled by its share of the batch's weight, so their sum is the batch's mean.
    losses = {name: reduce(add, (output.losses[name] for output in outputs)) for name in outputs[0].losses}
    logits = torch.cat([output.logits for output in outputs])
    value = torch.cat([output.value for output in outputs])
    targets = to_tensors(batch)
    return losses | measure(logits, value, targets.policy, targets.value)


@torch.no_grad()
def measure(
    logits: torch.Tensor, value: torch.Tensor, target_policy: torch.Tensor, target_value: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compare the network's outputs with their targets; return statistics, float64 scalars, by name.

    Args:
        logits: [n, A].
        value: [n], in the mover's view.
        target_policy: [n, A]; actions whose target is `alphago.nn.loss.ILLEGAL` are left out.
        target_value: [n], in the mover's view.
    """
    logits, target_policy = legal_alone(logits, target_policy)
    log_policy = torch.log_softmax(logits, dim=1)
    scalars = {
        "value_correlation": pearson(value, target_value),
        "policy_entropy": -(log_policy.exp() * log_policy).sum(dim=1).mean(),
        "target_entropy": -torch.xlogy(target_policy, target_policy).sum(dim=1).mean(),
        "value_variance": target_value.var() if len(target_value) > 1 else target_value.new_zeros(()),
        "top_probability": log_policy.amax(dim=1).exp().mean(),
        "top_move_agreement": (logits.argmax(dim=1) == target_policy.argmax(dim=1)).float().mean(),
    }
    return {name: scalar.double() for name, scalar in scalars.items()}


def pearson(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return Pearson's correlation coefficient of two tensors [n], a float64 scalar; 0 if one of them is constant."""
    a, b = a - a.mean(), b - b.mean()
    norm = (a.norm() * b.norm()).double()
    return torch.where(norm > 1e-12, (a * b).sum() / norm, 0.0)


def to_numbers(scalars: Mapping[str, torch.Tensor]) -> dict[str, float]:
    """Return scalar tensors as Python floats, with a single synchronization of their device."""
    values = torch.stack([scalar.double() for scalar in scalars.values()])
    return dict(zip(scalars, values.tolist(), strict=True))


def mean_metrics(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    """Return the mean of each metric over the gradient steps that have it.

    The mean of a metric in STEP_METRICS that no step has is None.

    Args:
        rows: the metrics of each step, by name.
    """
    names = dict.fromkeys([*STEP_METRICS, *(name for row in rows for name in row)])  # each once, in this order
    columns = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in columns.items()}


class Pace:
    """A measurement of one iteration: how fast self-play is, and how much of the processor the run uses.

    It begins when the object is created.

    Args:
        source: the source of the run's games.
        clock: the run's clock.
        threads: number of the run's threads that compute.
    """

    def __init__(self, source: GameSource, clock: RunClock, threads: int) -> None:
        self.source, self.clock, self.threads = source, clock, threads
        # The clock's times and the source's counts at the iteration's beginning.
        self.began, self.processor_before = clock.seconds, clock.processor
        self.moves_before = source.moves
        self.readouts_before = source.readouts_done
        self.play_ended = self.began  # `end_play` sets it to the time when the iteration's self-play was over

    def end_play(self) -> None:
        """Record that the iteration's self-play is over and training begins."""
        self.play_ended = self.clock.seconds

    def metrics(self) -> dict[str, float | None]:
        """Return the metrics at the end of the iteration, by name; speeds are None if the source did not search."""
        now = self.clock.seconds
        playing = self.play_ended - self.began  # seconds
        total = max(now - self.began, 1e-9)  # never 0, since shares are divided by it
        moves = self.source.moves - self.moves_before
        readouts = self.source.readouts_done - self.readouts_before
        # The clock subtracts the processor time of compiling.  As long as a kernel compiles, the clock subtracts too
        # much, so the difference may be negative.
        processor = max(0.0, self.clock.processor - self.processor_before)
        return {
            "moves": moves,
            "moves_per_second": moves / max(playing, 1e-9) if readouts else None,
            "readouts_per_second": readouts / max(playing, 1e-9) if readouts else None,
            "selfplay_share": playing / total if readouts else None,
            "processor_share": processor / (total * self.threads),
        }


def game_metrics(records: Sequence[GameRecord], env: GameEnv) -> dict[str, float | None]:
    """Return statistics of finished games, by name.

    They are the games' mean length, the share of passes among the moves, and the shares of games that Black won, that
    were drawn, that were resigned, and that were cut off at `max_moves`.

    Args:
        records: games of `env`; if there are none, all metrics are None.
    """
    if not records:
        return dict.fromkeys(("game_length", "pass_rate", "black_wins", "draws", "resignations", "capped"))
    lengths = [len(record) for record in records]
    moves = np.concatenate([record.moves for record in records])
    return {
        "game_length": float(np.mean(lengths)),
        "pass_rate": float(np.mean(moves == env.pass_action)) if env.pass_action is not None else None,
        "black_wins": float(np.mean([record.outcome > 0 for record in records])),
        "draws": float(np.mean([record.outcome == 0 for record in records])),
        "resignations": float(np.mean([record.resigned for record in records])),
        "capped": float(np.mean([env.cuts_games and length >= env.max_moves for length in lengths])),
    }


def time_shares(run: Mapping[str, float], threads: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the share of a run's time for each kind of WORK, such as `net_share`; the shares sum to 1.

    While the main thread is PLAYING, it waits for the threads of self-play.  So the mean time of these threads by kind
    of work counts instead of PLAYING.  The rest of PLAYING, in which threads have nothing to do, counts as WAITING.
    EXAMINATION does not count.

    Args:
        run: seconds of the main thread by kind of work.
        threads: seconds by kind of work, summed over all threads of self-play.
        count: number of these threads.
    """
    # WORK has neither PLAYING nor EXAMINATION.
    seconds = {kind: run.get(kind, 0.0) + threads.get(kind, 0.0) / count for kind in WORK}
    busy = sum(threads.values()) / count
    seconds[WAITING] += max(0.0, run.get(stopwatch.PLAYING.name, 0.0) - busy)
    total = max(sum(seconds.values()), 1e-9)
    return {f"{kind}_share": spent / total for kind, spent in seconds.items()}


def bottleneck(row: Row) -> tuple[str, float] | None:
    """Return the kind of work with the largest share of an iteration's time, and the share; None if unknown.

    Args:
        row: the iteration's row of metrics.jsonl.
    """
    shares = {kind: share for kind in WORK if (share := number(row, f"{kind}_share")) is not None}
    return max(shares.items(), key=lambda pair: pair[1]) if shares else None


def mean_shares(rows: Sequence[Row]) -> dict[str, float]:
    """Return the share of each kind of WORK in the time between the first and the last of `rows`.

    Args:
        rows: consecutive rows of metrics.jsonl, oldest first.

    Raises:
        ValueError: if there are fewer than two rows, or they lack these metrics.
    """
    shares = {kind: mean_over_time(rows, f"{kind}_share") or 0.0 for kind in WORK}
    total = sum(shares.values())
    if total <= 0:
        raise ValueError(f"rows must be two or more iterations with shares of time, got {len(rows)} rows")
    return {kind: share / total for kind, share in shares.items()}
