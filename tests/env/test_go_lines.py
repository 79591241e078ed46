"""Lines followed as far as they are legal, against the legal mask of positions."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go_lines
from alphago.env.kernels import go_row as layout


def follow(env: GoEnv, plays: list[tuple[int, int]]) -> tuple[list[object], int]:
    """What is seen after a line (colour, action), and how many of its plays were followed."""
    batch = env.new_batch(1)
    colours, actions = (np.array(column, np.int32) for column in zip(*plays, strict=True))
    followed = go_lines.follow(batch.rows[0], colours, actions)
    return seen(GoPosition(env, batch, {})), followed


def seen(position: GoPosition) -> list[object]:
    """All that the rules see of a position but whose turn it is, which an illegal move may have changed."""
    row = position.row
    return [position.board.tolist(), position.move_number, int(row[layout.BOARDS_SEEN]), position.is_over]


def expected(env: GoEnv, plays: list[tuple[int, int]]) -> tuple[list[object], int]:
    """The same by positions."""
    position = env.position()
    for number, (colour, action) in enumerate(plays):
        if position.is_over:
            if action != env.pass_action:
                return seen(position), number
            continue
        position = position.give_turn(colour)
        if not position.legal_mask[action]:
            return seen(position), number
        position = position.play(action)
    return seen(position), len(plays)


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize(("suicide", "first_pass"), [(False, 0), (True, 0), (True, 9)])
def test_random_lines(ko: str, suicide: bool, first_pass: int) -> None:
    """On 3x3, where kos, suicides and passes are everywhere; one colour may play twice."""
    generator = np.random.default_rng(1)
    env = GoEnv(3, ko=ko, suicide=suicide, first_pass=first_pass, max_moves=60)
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
