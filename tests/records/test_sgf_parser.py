"""Whatever the text, reading it gives a game or a sentence."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from alphago.env.go import GoEnv
from alphago.records.sgf import format_sgf, parse_sgf
from alphago.records.sgf.sgf_game import SgfGame

FEW = settings(max_examples=60, deadline=None)
POINT = st.text("abcdestz[]:", max_size=3)
NAME = st.sampled_from(["B", "W", "AB", "AW", "AE", "SZ", "KM", "RU", "HA", "PL", "RE", "C", "CA", "GM", "FF", "XX"])
VALUE = st.one_of(POINT, st.text(max_size=6), st.sampled_from(["5", "0", "-1", "6.5", "375", "nan", "1e9", "UTF-8"]))
NODE = st.lists(st.tuples(NAME, VALUE), max_size=5).map(lambda node: "".join(f"{n}[{v}]" for n, v in node))
TREE = st.lists(NODE, min_size=1, max_size=8).map(lambda nodes: f"(;{';'.join(nodes)})")


def read(text: str | bytes) -> SgfGame | None:
    """The game, or None after an error of one sentence."""
    try:
        return parse_sgf(text, "test.sgf")
    except ValueError as error:
        told = str(error)
    assert told.startswith("test.sgf: ")
    assert "\n" not in told.strip()
    return None


@FEW
@given(st.one_of(st.text(max_size=60), st.text("()[];\\BWabSZ59 ", max_size=60), st.binary(max_size=60)))
def test_any_text(text: str | bytes) -> None:
    read(text)


@FEW
@given(TREE)
def test_anything_that_looks_like_a_game(text: str) -> None:
    game = read(text)
    if game is not None:
        assert game.position().moves == game.moves
        again = parse_sgf(format_sgf(game))
        assert (again.moves, again.setup, again.komi) == (game.moves, game.setup, game.komi)


@FEW
@given(
    st.integers(2, 25),
    st.lists(st.integers(0, 10**6), max_size=30),
    st.integers(-2000, 2000),
    st.text(string.printable, max_size=20),
)
def test_what_is_written_is_read_again(size: int, choices: list[int], komi2: int, comment: str) -> None:
    position = GoEnv(size).position()
    for choice in choices:
        legal = [action for action, is_legal in enumerate(position.legal_mask) if is_legal]
        if legal:
            position = position.play(legal[choice % len(legal)])
    komi = komi2 / 2
    players = (comment.strip(), "")
    game = SgfGame(size, position.moves, komi, players=players)
    again = parse_sgf(format_sgf(game))
    assert (again.board_size, again.moves, again.komi) == (size, position.moves, komi)
    assert again.players[0].split() == comment.split()
