"""What a network receives, in one position; random games hold all of it to plain Go in test_go_agreement.py."""

from alphago.env.go import GoEnv
from alphago.env.go_rules import PLANE_SETS
from alphago.env.kernels import go_planes as features


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
