"""The boards of a curriculum, in order."""

import pytest

from alphago.env.go import GoEnv
from alphago.training.curriculum import lessons


def test_komi_of_each_board() -> None:
    """The run's own is as it was given, the others have their usual one."""
    boards = lessons(GoEnv(9, komi=5.5), ((5, 0.1), (9, 0.1), (7, 0.1)))
    assert [lesson.env for lesson in boards] == [GoEnv(5), GoEnv(9, komi=5.5), GoEnv(7), GoEnv(9, komi=5.5)]
    assert [lesson.end for lesson in boards] == pytest.approx([0.1, 0.2, 0.3, 1.0])
