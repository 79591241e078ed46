"""Lessons on bad moves, and the moves that turned a game."""

import numpy as np

from alphago import ConnectFourEnv, Position, load_model
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import FunctionEvaluator
from alphago.ui.teacher import Teacher


def test_a_move_that_gives_a_group_away() -> None:
    moves = "D4 D3 C3 E4 E3 D5 E5 C4 D2 B4 F4"  # D3 is taken, E4 in atari
    net = load_model("7x7")
    position, analyst = net.env.position().after(moves.split()), Analyst(net, device="cpu")
    teacher = Teacher(analyst, 2, 32)
    action = position.check_action("A7")
    told = teacher.lesson(position, action)
    assert told is not None
    assert told.loss.points > 2
    assert teacher.lesson(position, told.loss.best) is None
    assert Teacher(analyst, 48, 32).lesson(position, action) is None
    text = teacher.summary(position.after(["A7", "A6"], [-1, -1]))
    assert "  move 13, White A6: lost " in text
    assert text.startswith("The moves that turned the game:\n")
    assert 1 <= text.count("\n") <= 3
    assert "lost" in text


def test_games_without_points() -> None:
    """A move that loses more than its limit of winning, as a network sees it that likes Black in the first column."""

    def likes(position: Position) -> tuple[np.ndarray, float]:
        stones = np.array(position.contents).reshape(6, 7)
        return np.ones(7), 0.9 if (stones[:, 0] == 1).any() or not stones.any() else -0.9

    start = ConnectFourEnv().position()
    teacher = Teacher(Analyst(FunctionEvaluator(likes)), 2, 16)
    assert teacher.lesson(start, 3) is not None
    assert "of winning" in teacher.summary(start.play(3))
