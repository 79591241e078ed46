"""Lines followed as far as they are legal, against the legal mask of positions."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.kernels import go_lines


def follow(env: GoEnv, plays: list[tuple[int, int]], first: int = 1) -> tuple[list[int], int]:
    """The plies of a line (colour, action), and how many of its plays were followed."""
    batch = env.new_batch(1)
    batch.reset(np.zeros(1, np.int64), to_play=first)
    colours, actions = (np.array(column, np.int32) for column in zip(*plays, strict=True))
    out = np.zeros(1 + 2 * len(plays), np.int32)
    followed = go_lines.follow(batch.rows[0], colours, actions, out)
    return out[1 : 1 + out[0]].tolist(), followed


def expected(env: GoEnv, plays: list[tuple[int, int]], first: int = 1) -> tuple[list[int], int]:
    """The same by positions."""
    position, plies = env.position(to_play=first), []
    for number, (colour, action) in enumerate(plays):
        if position.is_over:
            if action != env.pass_action:
                return plies, number
            continue
        if position.to_play != colour and position.legal_mask[env.pass_action]:
            position = position.play(env.pass_action)
            plies.append(go_lines.INSERTED)
        if position.to_play != colour or not position.legal_mask[action]:
            return plies, number
        position = position.play(action)
        plies.append(action)
    return plies, len(plays)


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("suicide", [False, True])
def test_random_lines(ko: str, suicide: bool) -> None:
    """On 3x3, where kos, suicides and passes are everywhere; one colour may play twice."""
    generator = np.random.default_rng(1)
    env = GoEnv(3, ko=ko, suicide=suicide, max_moves=60)
    lengths = []
    for _ in range(300):
        colour, plays = 1, []
        for _ in range(40):
            plays.append((colour, int(generator.integers(10))))
            colour = colour if generator.random() < 0.1 else -colour
        found = follow(env, plays)
        assert found == expected(env, plays)
        lengths.append(found[1])
    assert max(lengths) > 8


@pytest.mark.parametrize("first_pass", [0, 5])
def test_single_actions(first_pass: int) -> None:
    """Every action of every position of a game, as in its legal mask."""
    env = GoEnv(4, first_pass=first_pass)
    generator = np.random.default_rng(2)
    position = env.position()
    while not position.is_over:
        mask = [bool(go_lines.is_legal(position.row, action)) for action in range(env.action_space)]
        assert mask == position.legal_mask.astype(bool).tolist()
        position = position.play(int(generator.choice(np.flatnonzero(position.legal_mask))))
    assert not any(go_lines.is_legal(position.row, action) for action in range(env.action_space))
