"""What a person may choose for a new game: described by the game, read from dialogues and links."""

from typing import Any

import pytest

from alphago import GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.env.game_options import Option, to_option


def values(env: GameEnv) -> dict[str, Any]:
    return {option.name: option.value for option in env.options}


def test_options_of_games() -> None:
    assert values(GoEnv(9, suicide=True)) == {"board_size": 9, "komi": 7.5, "rules": "Tromp-Taylor", "handicap": 0}
    assert values(GomokuEnv(9, 4, planes=5)) == {"board_size": 9, "connect_row": 4}
    assert values(ReversiEnv(6)) == {"board_size": 6}
    assert values(OwareEnv(repetition=False)) == {"repetition": "no", "remainder": "own"}


def test_a_game_that_says_nothing_offers_its_config() -> None:
    own = type("OwnEnv", (GameEnv,), {"config": {"board_size": 5, "planes": 3, "max_moves": 9, "last_wins": True}})()
    size, wins = own.options
    assert (size.title, size.value, size.least, size.choices) == ("Size", 5, 1, ())
    assert (wins.title, wins.value, wins.choices) == ("last wins", "yes", ("yes", "no"))


def test_komi_follows_the_board() -> None:
    """Each board's own is that of the game itself."""
    komi = next(option for option in GoEnv(9).options if option.name == "komi")
    assert komi.follows == "board_size"
    assert komi.usual == {size: GoEnv(size).komi for size in range(2, 26)}
    assert (komi.usual[7], komi.usual[9]) == (9, 7.5)


def test_choosing() -> None:
    assert GoEnv(9).choose(board_size=7, rules="aga") == GoEnv(7, ko="situational")
    assert OwareEnv().choose(remainder="nobody") == OwareEnv(remainder="nobody")
    with pytest.raises(ValueError, match="rules must be one of Chinese"):
        GoEnv(9).choose(rules="Martian")


@pytest.mark.parametrize(
    ("option", "given", "value"),
    [
        (to_option("board_size", 9), "7", 7),
        (to_option("board_size", 9), 7, 7),
        (to_option("komi", 7.5), "-3.5", -3.5),
        (to_option("graded", False), "yes", True),
        (to_option("graded", False), "no", False),
        (to_option("rules", "own"), "5", "5"),
    ],
)
def test_reading(option: Option, given: object, value: object) -> None:
    read = option.read(given)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("given", ["x", "2.5", 0, 26, None, True])
def test_what_is_no_whole_number_in_its_limits_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"^board_size must be an integer from 2 to 25, got "):
        to_option("board_size", 9, least=2, most=25).read(given)
