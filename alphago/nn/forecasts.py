"""Evaluate positions with a network for people to read: in Black's view, with probabilities and points."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from alphago.env.batch import GameBatch
from alphago.env.board import draw_board, result_text
from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.nn.kernels.priors import clip_values, masked_softmax_batch
from alphago.nn.parts import eval_mode
from alphago.nn.value import POINTS_PER_SCORE_UNIT, ForecastHead

SURE = 0.5  # absolute ownership from which a point counts as a player's
READ_BATCH = 256  # positions per forward pass
NOT_FINITE = "the network's output is not finite: its weights are broken, or too large"


class PositionForecast(NamedTuple):
    """A network's prediction of how a position's game ends, always in Black's view.

    Attributes:
        win_probability: Black's probability to win, 0 .. 1; a draw counts half.
        score: Black's expected margin in points, komi included.
        ownership: float32 [height, width], each point's expected owner, from -1 (White) to 1 (Black); row 0 is the top.
    """

    win_probability: float
    score: float
    ownership: np.ndarray

    def __repr__(self) -> str:
        return f"Black wins with {self.win_probability:.1%}; expected result {result_text(round(self.score, 1))}"

    def __str__(self) -> str:
        """Return the prediction as a sentence, and a drawing of the `owners`: X for Black, O for White."""
        owners = self.owners
        return f"{self!r}\n{draw_board(owners)}" if owners.any() else f"{self!r}; no point is sure yet"

    @property
    def owners(self) -> np.ndarray:
        """The owner of each point, int8 [height, width]: 1 Black, -1 White, 0 if |ownership| is below SURE."""
        return np.where(np.abs(self.ownership) >= SURE, np.sign(self.ownership), 0).astype(np.int8)


@torch.no_grad()
def read_positions(net: nn.Module, env: GameEnv, positions: Sequence[Position]) -> tuple[np.ndarray, np.ndarray]:
    """Return policy float32 [n, action_space] and value float32 [n] in Black's view; see `NeuralNet.__call__`.

    Raises:
        ValueError: for a position of another game, and if the network's output is not finite.
    """
    policy = np.zeros((len(positions), env.action_space), np.float32)
    value = np.zeros(len(positions), np.float32)
    with eval_mode(net):
        for begin in range(0, len(positions), READ_BATCH):
            rows = slice(begin, begin + READ_BATCH)
            batch = stack(positions[rows], env)
            slots = np.arange(len(policy[rows]))
            mask = batch.legal_mask(slots, np.empty(policy[rows].shape, np.bool_))
            logits, values = net.forward(planes_for(net, batch, slots))
            # The kernels write to `policy` and `value`, and return the number of rows that are not finite.
            broken = masked_softmax_batch(logits.float().cpu().contiguous().numpy(), mask, policy[rows])
            broken += clip_values(values.float().cpu().contiguous().numpy(), value[rows])
            if broken:
                raise ValueError(NOT_FINITE)
            value[rows] *= batch.to_play(slots, np.empty(len(slots), np.int8))  # now in Black's view
    return policy, value


@torch.no_grad()
def forecast_position(base_net: nn.Module, value: nn.Module, env: GameEnv, position: Position) -> PositionForecast:
    """Return the value head's prediction for one position; see `NeuralNet.forecast`.

    Args:
        base_net, value: parts of a network for the game `env`.
    """
    if not env.has_ownership:
        raise ValueError(f"a forecast of points needs a game that is won by them, got {env}")
    head = type(value).__name__
    if not isinstance(value, ForecastHead):
        raise ValueError(f"a forecast of points needs a value head that makes one, such as ForecastValue, got {head}")
    batch = stack([position], env)
    with eval_mode(base_net), eval_mode(value):
        expected = value.forecast(base_net(planes_for(base_net, batch, slots=np.zeros(1, np.int64))))
    if expected.score is None or expected.ownership is None:
        raise ValueError(f"a forecast of points needs score and ownership, got neither from {head}")
    outputs = (expected.value, expected.score, expected.ownership)  # in the view of the player about to move
    outcome, score, ownership = (position.to_play * tensor[0].float().cpu().numpy() for tensor in outputs)
    if not all(np.isfinite(array).all() for array in (outcome, score, ownership)):
        raise ValueError(NOT_FINITE)
    win = min(max(float(1 + outcome) / 2, 0.0), 1.0)  # a rounded tanh may be slightly above 1
    return PositionForecast(win, POINTS_PER_SCORE_UNIT * float(score), ownership.reshape(env.plane_shape))


def planes_for(net: nn.Module, batch: GameBatch, slots: np.ndarray) -> torch.Tensor:
    """Return the planes of a batch's positions in `slots`, [n, planes, height, width].

    They are on the device of the network's weights and have the dtype of the weights.
    """
    env = batch.env
    planes = batch.planes(slots, np.empty((len(slots), env.planes, *env.plane_shape), np.float32))
    like = next(net.parameters(), torch.zeros(0))  # a network without weights computes in float32 on the CPU
    return torch.from_numpy(planes).to(like)


def stack(positions: Sequence[Position], env: GameEnv) -> GameBatch:
    """Return a batch with the positions in its slots, in order.

    Args:
        env: the game of a network.  All positions must be of this game, or all of its `match_variant`, the variant that
            is played in matches (in Go with more moves and earlier passes).

    Raises:
        ValueError: for a position of another game.
    """
    if positions and env.match_variant().accepts(positions[0].env):  # the first position decides which of the two games
        env = env.match_variant()
    different_objects = {id(position.env): position.env for position in positions}  # few, and each is checked once
    for game in different_objects.values():
        if not env.accepts(game):
            raise ValueError(f"positions must be of {env}, got one of {game}")
    batch = env.new_batch(len(positions))
    batch.gather([position.batch for position in positions])
    return batch
