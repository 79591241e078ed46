"""The planes of KataGo's networks: as KataGo's own, and in drawings; test_go_agreement compares them with plain Go."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go_katago as features
from alphago.env.kernels import go_row as layout
from tests.random_games import random_game

# What KataGo 1.17.2 (its own board and fillRowV7) shows in 938 positions of 155 games, 2x2 to 19x19: of networks, of
# random moves and from crowded boards, by three ko rules, with and without suicide, with passes and ends.  A game has
# the arguments of GoEnv and of `position`, its actions, and "shown": by the number of moves the spatial features as
# bits in base64, and the global ones.
ROWS = Path(__file__).parents[1] / "golden" / "katago.json.gz"


@pytest.mark.parametrize("part", range(5))
def test_every_plane_is_katagos(part: int) -> None:
    """Its reader of ladders has a quirk (see `go_ladders`) that shows in none of these positions."""
    positions = 0
    for game in json.loads(gzip.decompress(ROWS.read_bytes()))[part::5]:
        rules = {name: game[name] for name in ("board_size", "ko", "suicide")}
        setup = {name: game[name] for name in ("black", "white", "to_play", "komi")}
        shown = GoEnv(planes="katago", max_moves=0, **rules).position(**setup)
        for played, action in enumerate([*game["moves"], None]):
            if expected := game["shown"].get(str(played)):
                size, positions = shown.env.N, positions + 1
                bits = np.unpackbits(np.frombuffer(base64.b64decode(expected[0]), np.uint8))
                planes = shown.planes()
                where = f"{shown}\n{game['moves'][:played]}"
                assert np.array_equal(planes[:18].ravel(), bits[: 18 * size * size]), where
                assert (planes[18:29] == np.array(expected[1], np.float32)[:, None, None]).all(), shown
                assert not planes[29].any()
            shown = shown if action is None else shown.play(action)
    assert positions > 150


def points(shown: GoPosition, plane: int) -> str:
    return " ".join(shown.env.to_text(int(a)) for a in np.flatnonzero(shown.planes()[plane]))


def test_unknown_moves_and_boards() -> None:
    """Before a set-up, and before a turn that was skipped, nothing is shown; the newest board stands for older ones."""
    env = GoEnv(7, "katago")
    shown = env.position(black="C6 D6 B5", white="C5")  # a ladder
    ladders = slice(features.LADDERS, features.LADDERS + 3)
    assert shown.planes()[ladders].sum(axis=(1, 2)).tolist() == [1, 1, 1]
    escaped = shown.play("A3").play("D5")
    assert escaped.planes()[ladders].sum(axis=(1, 2)).tolist() == [0, 1, 1]
    skipped = escaped.give_turn(-1).play("A6")
    assert [points(skipped, features.LAST_MOVES + age) for age in range(3)] == ["A6", "", ""]
    assert skipped.planes()[ladders].sum(axis=(1, 2)).tolist() == [0, 0, 0]
    assert [points(escaped, features.LAST_MOVES + age) for age in range(3)] == ["D5", "A3", ""]


@pytest.mark.parametrize("size", [9, 19, 25])
def test_ladders_leave_no_trace(size: int) -> None:
    """Planes of a whole batch are those of each position alone, and no word of a row changes."""
    env = GoEnv(size, "katago", max_moves=0, ko="simple")
    game = random_game(env, 1, most=2 * size * size)[::7]
    batch, slots = env.new_batch(len(game)), np.arange(len(game))
    batch.gather([shown.batch for shown in game])
    before = batch.rows.copy()
    planes = batch.planes(slots, np.empty((len(game), 30, size, size), np.float32))
    assert all(np.array_equal(row, shown.planes()) for row, shown in zip(planes, game, strict=True))
    assert np.array_equal(batch.rows, before)


def test_other_sets_keep_no_more_moves() -> None:
    assert not GoEnv(5).position().play("C3").row[layout.THIRD_LAST + 1 : layout.HEADER].any()
