"""Score and captures at the end of games, against games told by hand."""

from alphago.arena.final_boards import FinalBoards, final_boards
from alphago.env.go import GoEnv

ENV = GoEnv(3, komi=0.5)


def game(text: str) -> tuple[int, ...]:
    return tuple(ENV.from_text(move) for move in text.split())


def test_one_game_told_by_hand() -> None:
    """White takes the corner stone and is taken in turn; Black ends with the whole board."""
    moves = game("A3 A2 C1 B3")  # Black's A3 is taken
    assert final_boards(ENV, [moves]) == FinalBoards(1 - 3 - 0.5, 0, 1)  # White: A2, B3 and A3; Black: C1
    moves += game("B2 pass A1 pass C3 pass")
    moves += game("A3")  # fills the last liberty of both
    assert final_boards(ENV, [moves]) == FinalBoards(9 - 0.5, 2, 1)


def test_means_over_games_of_both_colours() -> None:
    """The second game is told from White's view."""
    first, second = game("A3 A2 C1 B3"), game("B2 pass pass")
    both = final_boards(ENV, [first, second])
    assert both == FinalBoards((-2.5 - 8.5) / 2, 0, 0.5)
    assert final_boards(ENV, [second, first]) == FinalBoards((8.5 + 2.5) / 2, 0.5, 0)
