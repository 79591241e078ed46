"""What a network receives, in one position; random games hold all of it to plain Go in test_go_agreement.py."""

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.env.go_rules import PLANE_SETS
from alphago.env.kernels import go_planes as features
from tests.diagrams import owners, position


def test_the_planes_of_a_position() -> None:
    """White is to move, three stones of its own in atari, and may neither take back the ko nor fill Black's eye."""
    drawing = """
        . X O . .
        X O . O .
        . X O . .
        . . . . .
        O X . . .
        """
    shown = position(drawing, "W E1, B E2, W pass, B C4", env=GoEnv(5, planes="alive"), to_play="white", komi=2.5)
    planes = shown.planes().reshape(20, 25)
    points = {
        features.OWN: "C5 D4 C3 A1 E1",
        features.ENEMY: "B5 A4 C4 B3 E2 B1",
        features.ONE_LIBERTY: "C5 C4 A1 E1",
        features.TWO_LIBERTIES: "B5 C3 E2 B1",
        features.FORBIDDEN: "A5 B4",
        features.KO: "B4",
        features.LAST_MOVE: "C4",
        features.SECOND_LAST_MOVE: "",
        features.OWN_REGION: "",
        features.ENEMY_REGION: "A5 B4",
    }
    for plane, expected in points.items():
        assert " ".join(shown.env.to_text(int(a)) for a in np.flatnonzero(planes[plane])) == expected, plane
    score = float(owners(shown).sum()) - 2.5
    numbers = {
        features.ON_BOARD: 1,
        features.PASSED: 0,
        features.KOMI: 0.25,
        features.SCORE: -score / 10,
        features.AHEAD: -np.sign(score),
        features.PLIES_LEFT: (35 - 4) / 50,
    }
    for plane, number in numbers.items():
        assert planes[plane] == pytest.approx(number), plane


def test_a_networks_input_tells_its_set() -> None:
    """Every set has another even number of planes, boards alone an odd one; each begins with what all know."""
    counts = PLANE_SETS.values()
    assert len(set(counts)) == len(counts)
    assert not any(count % 2 for count in counts)
    for name, planes in features.SETS.items():
        assert len(planes) == len(set(planes)) == GoEnv(5, planes=name).planes
        assert max(planes) < features.PLANES
    assert features.SETS["rules"] == tuple(range(16))  # what the networks that come with the package see
    assert set().union(*features.SETS.values()) == set(range(features.PLANES))


def test_a_game_without_a_cap_has_all_of_it_left() -> None:
    planes = GoEnv(3, planes="turns", max_moves=0).position().planes()
    assert (planes[features.SETS["turns"].index(features.PLIES_LEFT)] == 1).all()
