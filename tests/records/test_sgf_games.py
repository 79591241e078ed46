"""Games of others, replayed move by move against the board of the library sgfmill; files written as it writes them."""

import os
import random
from pathlib import Path

import numpy as np
import pytest
from sgfmill import boards, sgf, sgf_grammar

from alphago.records.sgf import format_sgf, parse_sgf, read_sgf
from alphago.records.sgf.document import SgfDocument
from alphago.records.sgf.grammar import escape_text, format_tree, plain_text, trees

GAMES = sorted((Path(__file__).parents[1] / "data").glob("**/*.sgf"))
MORE = sorted(Path(os.environ.get("ALPHAGO_SGF_GAMES", "none")).glob("**/*.[sS][gG][fF]"))


def replay(path: Path) -> int:
    """Plays a game on both boards, compares them after each move, and returns how many stones were taken.

    What is written is read again.
    """
    game = read_sgf(path)
    position = game.position(ply=0)
    size = position.env.N
    other = boards.Board(size)
    colours = {"b": 1, "w": -1, None: 0}
    taken = 0
    for node in (n for n in sgf.Sgf_game.from_bytes(path.read_bytes()).get_main_sequence()[1:]):
        colour, point = node.get_move()
        if colour is None:
            continue
        if position.is_over:
            break
        before = int(np.abs(position.board).sum())
        position = position.give_turn(colours[colour])
        if point is None:
            position = position.play(position.env.pass_action)
        else:
            row, column = point
            other.play(row, column, colour)
            position = position.play((size - 1 - row) * size + column)
            taken += before + 1 - int(np.abs(position.board).sum())
        theirs = [[colours[other.get(size - 1 - r, c)] for c in range(size)] for r in range(size)]
        assert np.array_equal(position.board, theirs), f"{path.name} after {position.moves_text()}"
    assert position.moves == game.moves
    assert position.score() + position.komi == other.area_score()
    assert parse_sgf(format_sgf(game)) == game
    return taken


@pytest.mark.parametrize("path", [*GAMES, *MORE], ids=lambda path: path.stem)
def test_games(path: Path) -> None:
    assert len(GAMES) == 18
    assert replay(path) > 0 or path in MORE


def random_tree(seed: int) -> tuple[list[dict[str, list[str]]], list[int]]:
    """Nodes with texts of all kinds, some longer than a line, and their parents."""
    rng = random.Random(seed)
    texts = ["", "aa", "a]b\\", "two\nlines", "ä日本:", "x" * 78, "[" * 200]
    nodes: list[dict[str, list[str]]] = []
    for _ in range(rng.randint(1, 40)):
        names = rng.sample(["FF", "AB", "B", "C", "GM", "ZZ", "WR", "EV"], rng.randint(0, 4))
        nodes.append({name: [escape_text(rng.choice(texts)) for _ in range(rng.randint(1, 3))] for name in names})
    return nodes, [-1, *(max(number - rng.choice((1, 1, 1, 2, 5)), 0) for number in range(len(nodes) - 1))]


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_is_written_as_sgfmill_writes_it(seed: int) -> None:
    nodes, parents = random_tree(seed)
    values = [{name: [text.encode() for text in texts] for name, texts in node.items()} for node in nodes]
    below = [[n for n, parent in enumerate(parents) if parent == number] for number in range(len(nodes))]
    coarse = sgf_grammar.make_coarse_game_tree(0, below.__getitem__, values.__getitem__)
    text = format_tree(nodes, below)
    assert text == sgf_grammar.serialise_game_tree(coarse)
    (again,) = trees(text.decode())
    assert format_tree(again.nodes, SgfDocument(again.nodes, again.parents).children) == text


@pytest.mark.parametrize("text", ["", "a]b", "\\", "\\]", "a\nb", "ä日本 [:]", "]]\\\\"])
def test_a_text_is_escaped_as_sgfmill_escapes_it(text: str) -> None:
    assert escape_text(text).encode() == sgf_grammar.escape_text(text.encode())
    assert plain_text(escape_text(text)) == text
