"""Options of GoEnv that are no rules of Go: margins in outcomes, a first ply for passing, other komi."""

import json

import pytest

from alphago import GoEnv, IllegalMove
from alphago.env.go_rules import PLANE_SETS
from alphago.env.kernels import go_planes


def test_first_pass() -> None:
    env = GoEnv(3, first_pass=2)
    position = env.position()
    assert not position.legal_mask[env.pass_action]
    with pytest.raises(IllegalMove, match="illegal move pass: passing is allowed from move 3 on"):
        position.play(env.pass_action)
    later = position.play(env.from_text("B2")).play(env.from_text("A1"))
    assert later.legal_mask[env.pass_action]


def test_a_networks_input_tells_its_set() -> None:
    """Every set has another even number of planes, boards alone an odd one; each begins with what all know."""
    counts = [planes for planes, _ in PLANE_SETS.values()]
    assert len(set(counts)) == len(counts)
    assert not any(count % 2 for count in counts)
    for name, planes in go_planes.SETS.items():
        assert len(planes) == len(set(planes)) == GoEnv(5, planes=name).planes
        assert max(planes) < go_planes.PLANES
    assert go_planes.SETS["rules"] == tuple(range(16))  # what the networks that come with the package see
    assert set().union(*go_planes.SETS.values()) == set(range(go_planes.PLANES))


ALL_OPTIONS = {
    "komi": 5.5,
    "planes": 5,
    "max_moves": 50,
    "ko": "situational",
    "suicide": True,
    "margin_weight": 0.2,
    "komi_spread": 0.5,
    "first_pass": 9,
}


def test_fixed_turns_and_a_cap_exclude_each_other() -> None:
    capped, turns = GoEnv(5, max_moves=20), GoEnv(5, turns=6)
    assert capped.replace(turns=6) == turns
    assert turns.replace(turns=None) == GoEnv(5)
    assert turns.replace(turns=None, max_moves=20) == capped
    with pytest.raises(ValueError, match="max_moves must be None in a game of 6 turns, got 20"):
        turns.replace(max_moves=20)


def test_another_board() -> None:
    """Its own komi, cap and first pass; what is no matter of size stays."""
    env = GoEnv(9, ko="simple", suicide=True, planes="turns", komi=3.5, max_moves=50, first_pass=9)
    assert env.resized(7) == GoEnv(7, ko="simple", suicide=True, planes="turns")
    assert GoEnv(9, max_moves=0).resized(5) == GoEnv(5, max_moves=0)
    assert GoEnv(7, turns=20, first_pass=40, komi=0).resized(9) == GoEnv(9, turns=20, first_pass=40)


def test_replace_changes_the_given_options_only() -> None:
    env = GoEnv(9, **ALL_OPTIONS)
    assert env.config == {"board_size": 9, "turns": None, **ALL_OPTIONS}
    for name, default in GoEnv(9).config.items():
        assert env.replace(**{name: default}).config == {**env.config, name: default}
    with pytest.raises(TypeError, match="colour"):
        env.replace(colour="red")


def test_another_board_has_defaults_of_its_own() -> None:
    """What was said stays, what was not follows the board."""
    assert GoEnv(9).replace(board_size=7) == GoEnv(7)
    assert GoEnv(7).replace(board_size=19) == GoEnv(19)
    assert GoEnv(9, komi=5.5, planes=17).replace(board_size=7) == GoEnv(7, komi=5.5, planes=17)
    assert GoEnv(9, max_moves=50).replace(board_size=7) == GoEnv(7, max_moves=50)
    assert GoEnv(9).replace(board_size=7, komi=7.5, max_moves=113) == GoEnv(7, komi=7.5, max_moves=113)
    assert GoEnv(9, komi=5.5).replace(board_size=9) == GoEnv(9, komi=5.5)
    assert GoEnv(9, max_moves=50).replace(board_size=7, turns=20) == GoEnv(7, turns=20)
    assert GoEnv(9, turns=20).replace(board_size=7) == GoEnv(7, turns=20)
    assert GoEnv(9, max_moves=0).replace(board_size=7) == GoEnv(7, max_moves=0)


def test_a_game_is_made_again_from_its_config_as_json() -> None:
    options = {"komi": 6, "max_moves": 50}, {"planes": 17}, {"planes": "turns", "turns": 20}
    for env in (GoEnv(7), *(GoEnv(9, **given) for given in (ALL_OPTIONS, *options))):
        again = GoEnv(**json.loads(json.dumps(env.config)))
        assert again == eval(repr(env)) == env
        assert (again.planes, again.plane_set) == (env.planes, env.plane_set)


def test_positions_of_other_komi_are_accepted_and_keep_it() -> None:
    env, other = GoEnv(5), GoEnv(5, komi=0.5, margin_weight=0.3, first_pass=3)
    assert env.accepts(other)
    assert not env.accepts(GoEnv(6))
    assert not env.accepts(GoEnv(5, planes=5))
    for rule in ({"max_moves": 9}, {"ko": "simple"}, {"suicide": True}, {"turns": 17}, {"planes": "turns"}):
        assert not env.accepts(GoEnv(5, **rule))
