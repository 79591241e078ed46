"""Illegal actions out of the softmax: samples mark them, and nothing is learned of them."""

import numpy as np
import pytest
import torch

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.puct import Puct
from alphago.nn.loss import ILLEGAL, LOSSES
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import GameRecord
from alphago.training.call.selfplay_call import selfplay
from alphago.training.learner import Learner
from alphago.training.memory import ReplayMemory
from alphago.training.settings.learning_settings import LearningSettings


def games(env: GameEnv, count: int) -> list[GameRecord]:
    return selfplay(env, HashEvaluator(), 8, count, seed=0, search=Puct(), groups=1, opening_plies=0)


@pytest.mark.parametrize("env", [TicTacToeEnv(), GoEnv(3, komi=0.5), OwareEnv(planes="one-hot")], ids=str)
def test_illegal_actions_are_marked(env: GameEnv) -> None:
    """Exactly those, under each symmetry; all else is as without marks."""
    records = games(env, 1)
    illegal = {}
    for record in records:
        for ply in range(len(record)):
            position = record.position(env, ply)
            for points, actions in zip(*env.symmetries, strict=True):
                planes = position.planes().reshape(env.planes, -1)[:, points].astype(np.float32)
                illegal[planes.tobytes()] = ~position.legal_mask[actions]
    samples = []
    for masked in (False, True):
        memory = ReplayMemory(env, masked=masked)
        memory.add(records)
        samples.append(memory.sample(150, np.random.default_rng(1)))
    plain, marked = samples
    for planes, policy in zip(marked.planes, marked.policy, strict=True):
        assert np.array_equal(policy == ILLEGAL, illegal[planes.tobytes()])
    assert (marked.policy == ILLEGAL).any()
    assert np.array_equal(np.maximum(marked.policy, 0), plain.policy)
    assert all(np.array_equal(a, b) for a, b in zip(plain[2:], marked[2:], strict=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_illegal_moves_are_not_learned(threads: int) -> None:
    """CGZero's network and losses: logits of moves that are always illegal in the samples stay as they were."""
    env = OwareEnv(rules="cgzero", planes="one-hot")
    torch.manual_seed(0)
    net = NeuralNet(env, preset="cgzero")
    memory = ReplayMemory(env, masked=True)
    memory.add(games(env, 8))
    sample = memory.sample(400, np.random.default_rng(0))
    blocked = sample.policy[:, 2] == ILLEGAL
    sample = sample.map(lambda array: array[blocked])
    assert len(sample.value) > 8
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    settings = LearningSettings(
        learning_rate=0.05, optimizer="sgd", losses=LOSSES["cgzero"], weight_decay=0.0, bfloat16=False
    )
    with Workers(threads) as workers:
        learner = Learner(net, settings, workers)
        rows = [learner.step(sample) for _ in range(30)]
    after = net.state_dict()
    for name in ("policy.last.weight", "policy.last.bias"):
        assert torch.equal(after[name][2], before[name][2])
        assert not torch.equal(after[name][1], before[name][1])
    assert rows[-1]["policy_loss"] < rows[0]["policy_loss"]  # type: ignore[index]
