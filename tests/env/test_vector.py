"""VectorEnv plays the games that GoEnv plays, one by one."""

from typing import Any

import numpy as np
import pytest
import torch

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, VectorEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv

GPU = {"device": "cuda", "convert": lambda array: torch.as_tensor(array).cpu()}


@pytest.mark.parametrize(
    ("env", "num_envs", "games", "options"),
    [
        *((env, 4, 8, {}) for env in (GoEnv(3), GoEnv(5, margin_weight=0.2), ConnectFourEnv(), TicTacToeEnv())),
        pytest.param(GoEnv(5), 64, 1000, {"device": "host"}, marks=pytest.mark.slow, id="host"),
        pytest.param(GoEnv(5), 64, 1000, {"convert": torch.as_tensor}, marks=pytest.mark.slow, id="torch"),
        pytest.param(GoEnv(5), 16, 32, GPU, marks=pytest.mark.gpu, id="gpu"),
    ],
)
def test_the_games_are_those_of_positions(env: GameEnv, num_envs: int, games: int, options: dict[str, Any]) -> None:
    """So many games at once are compared with positions, and what they say at every move."""
    envs, random, ended = VectorEnv(env, num_envs, **options), np.random.default_rng(0), 0
    planes, info = envs.reset()
    positions = [env.position()] * num_envs
    while ended < games:
        for game, position in enumerate(positions):
            assert np.array_equal(planes[game], position.planes())
            assert np.array_equal(info["legal_mask"][game], position.legal_mask)
            assert info["to_play"][game] == position.to_play
        mask = np.asarray(info["legal_mask"])
        actions = (random.random(mask.shape) * mask).argmax(axis=1)
        planes, rewards, terminated, truncated, info = envs.step(actions)
        for game, (position, action) in enumerate(zip(positions, actions, strict=True)):
            after = position.play(int(action))
            assert bool(terminated[game]) == after.is_over
            assert float(rewards[game]) == (position.to_play * after.outcome if after.is_over else 0)
            positions[game] = env.position() if after.is_over else after
        ended += int(np.sum(np.asarray(terminated)))
        assert not np.asarray(truncated).any()


def test_tensors_come_and_go() -> None:
    envs = VectorEnv(GoEnv(5), 3, convert=torch.as_tensor)
    planes, info = envs.reset(komi=0.5)
    assert (planes.dtype, info["legal_mask"].dtype, info["to_play"].dtype) == (torch.float32, torch.bool, torch.int8)
    kept = planes.clone()
    later, rewards, terminated, _, info = envs.step(torch.tensor([0, 1, 25]))
    assert torch.equal(planes, kept)  # an answer is nobody's buffer
    assert not torch.equal(later, kept)
    assert (rewards.dtype, rewards.tolist(), terminated.tolist()) == (torch.float32, [0] * 3, [False] * 3)
    assert torch.equal(envs.observe().planes, later)
    assert envs.position(1).board[0, 1] == 1
    assert info["to_play"].tolist() == [-1, -1, -1]


def test_a_set_up_holds_for_the_games_after_it() -> None:
    envs = VectorEnv(GoEnv(3), 2)
    for komi, reward in ((20.0, 1), (-20.0, -1)):  # White, who passes last, wins by the komi or loses by it
        envs.reset(komi=komi)
        for _ in range(2):
            envs.step([9, 9])
            _, rewards, terminated, _, info = envs.step([9, 9])
            assert (rewards.tolist(), terminated.tolist()) == ([reward] * 2, [True] * 2)
            assert info["to_play"].tolist() == [1, 1]
    stones = np.zeros((3, 3), np.int8)
    envs.reset(stones=stones, komi=20.0)
    stones[0, 0] = 1  # the caller's own
    envs.step([9, 9])
    envs.step([9, 9])
    before = envs.observe().planes
    assert not before[:, 0].any()
    with pytest.raises(ValueError, match="no liberty"):
        envs.reset(stones=np.array([[1, -1, 0], [-1, 0, 0], [0, 0, 0]], np.int8))
    assert np.array_equal(envs.observe().planes, before)


@pytest.mark.parametrize("env", [GoEnv(5, planes="turns"), GomokuEnv(5, 4)])
def test_a_position_keeps_its_board_in_other_planes(env: GameEnv) -> None:
    envs = VectorEnv(env, 1)
    envs.reset()
    for _ in range(3):
        envs.step(envs.observe().info["legal_mask"].argmax(axis=1))
    position = envs.position(0)
    for again in (position.again_in(env.replace(planes=5)), *position.replay()):
        assert np.array_equal(again.board, position.board)
        assert again.to_play == position.to_play
        assert isinstance(env, GoEnv) <= (again.move_number == 3)
    assert list(VectorEnv(TicTacToeEnv(), 1).position(0).replay())  # a game whose set-ups have no board


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 4], r"actions\[1\] must be legal: illegal move B2: Black has a stone there; nothing was played"),
        ([10, 0], r"actions\[0\] must be legal: no action 10 in GoEnv\(3\): actions are 0 to 9; nothing was played"),
        ([-1, 0], r"actions\[0\] must be legal: no action -1 "),
        ([0, 1, 2], r"actions must be 2 integers, one for each game, got \[0, 1, 2\]"),
        ([0.0, 1.0], "actions must be 2 integers, one for each game, got"),
        (3, "actions must be 2 integers, one for each game, got 3"),
    ],
)
def test_wrong_actions_are_refused(actions: object, message: str) -> None:
    envs = VectorEnv(GoEnv(3), 2)
    envs.step([4, 4])  # without a reset, from the start
    before = envs.observe()
    before.info["legal_mask"][:] = True  # the caller's own, and no permission
    with pytest.raises(ValueError, match=message):
        envs.step(actions)
    assert np.array_equal(envs.observe().planes, before.planes)
