"""What a network says of positions, in terms for people: Black's view, probabilities, points."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from alphago.env.board import draw_board, result_text
from alphago.env.game import GameBatch, GameEnv, Position
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.parts import eval_mode
from alphago.nn.value import POINTS, ForecastHead

SURE = 0.5  # ownership, of -1 .. 1, from which a point counts as a side's
READ_BATCH = 256  # positions per forward pass
NOT_FINITE = "the network's output is not finite: its weights are broken, or too large"


class PositionForecast(NamedTuple):
    """How a network expects a position's game to end, from Black's view, whoever is to move.

    win_probability: Black's, 0 .. 1, a draw counting half; `net(position)` gives the same as a value in -1 .. 1.
    score: the expected margin in points, komi included; above 0 Black is ahead.
    ownership: float32 [height, width], -1 .. 1: 1 where a point will be Black's, -1 White's; row 0 is the top.
    """

    win_probability: float
    score: float
    ownership: np.ndarray

    def __repr__(self) -> str:
        return f"Black wins with {self.win_probability:.1%}; expected result {result_text(round(self.score, 1))}"

    def __str__(self) -> str:
        """Return these sentences, and a drawing of the points that are sure to become Black's (X) or White's (O)."""
        owners = self.owners
        return f"{self!r}\n{draw_board(owners)}" if owners.any() else f"{self!r}; no point is sure yet"

    @property
    def owners(self) -> np.ndarray:
        """The owner of each point that is sure: int8 [height, width], 1 Black, -1 White, 0 neither."""
        return np.where(np.abs(self.ownership) >= SURE, np.sign(self.ownership), 0).astype(np.int8)


@torch.no_grad()
def read_positions(net: nn.Module, env: GameEnv, positions: Sequence[Position]) -> tuple[np.ndarray, np.ndarray]:
    """Return policy float32 [n, action_space] and value float32 [n], +1 Black wins; see `NeuralNet.__call__`."""
    policy = np.zeros((len(positions), env.action_space), np.float32)
    value = np.zeros(len(positions), np.float32)
    with eval_mode(net):
        for begin in range(0, len(positions), READ_BATCH):
            rows = slice(begin, begin + READ_BATCH)
            batch = stack(positions[rows], env)
            slots = np.arange(len(policy[rows]))
            mask = batch.legal_mask(slots, np.empty(policy[rows].shape, np.bool_))
            logits, raw = net.forward(planes_for(net, batch, slots))
            broken = masked_softmax_batch(logits.float().cpu().contiguous().numpy(), mask, policy[rows])
            if clip_values(raw.float().cpu().contiguous().numpy(), value[rows]) or broken:
                raise ValueError(NOT_FINITE)
            value[rows] *= batch.to_play(slots, np.empty(len(slots), np.int8))
    return policy, value


@torch.no_grad()
def forecast_position(base_net: nn.Module, value: nn.Module, env: GameEnv, position: Position) -> PositionForecast:
    """Return the forecast of a network's value head for one position; see `NeuralNet.forecast`."""
    if not env.has_ownership:
        raise ValueError(f"a forecast of points needs a game that is won by them, got {env}")
    if not isinstance(value, ForecastHead):
        raise ValueError(
            f"a forecast of points needs a value head that makes one, such as ForecastValue, got {type(value).__name__}"
        )
    batch = stack([position], env)
    with eval_mode(base_net), eval_mode(value):
        expected = value.forecast(base_net(planes_for(base_net, batch, np.zeros(1, np.int64))))
    if expected.score is None or expected.ownership is None:
        raise ValueError(f"a forecast of points needs score and ownership, got neither from {type(value).__name__}")
    side = position.to_play
    numbers = [
        side * tensor[0].float().cpu().numpy() for tensor in (expected.value, expected.score, expected.ownership)
    ]
    if not all(np.isfinite(array).all() for array in numbers):
        raise ValueError(NOT_FINITE)
    black, score, ownership = numbers
    win = min(max(float(1 + black) / 2, 0.0), 1.0)  # a tanh may round to a little more
    return PositionForecast(win, POINTS * float(score), ownership.reshape(env.plane_shape))


def planes_for(net: nn.Module, batch: GameBatch, slots: np.ndarray) -> torch.Tensor:
    """Return the planes of some slots, [n, planes, height, width], on the network's device and in its dtype."""
    env = batch.env
    planes = batch.planes(slots, np.empty((len(slots), env.planes, *env.plane_shape), np.float32))
    return torch.from_numpy(planes).to(next(net.parameters(), torch.zeros(0)))


def stack(positions: Sequence[Position], env: GameEnv) -> GameBatch:
    """Return a batch with the given positions in its slots, in order; raise ValueError for one of another game."""
    batch = env.new_batch(len(positions))
    for slot, position in enumerate(positions):
        if not env.accepts(position.env):
            raise ValueError(f"positions must be of {env}, got one of {position.env}")
        batch.copy(np.zeros(1, np.int64), np.array([slot]), of=position.batch)
    return batch
