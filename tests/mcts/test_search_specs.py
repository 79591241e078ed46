"""A search by settings, by name and by dictionary: what is filled in, what is refused, and what is saved."""

import json
from typing import Any

import numpy as np
import pytest

from alphago.mcts.gumbel import Gumbel
from alphago.mcts.puct import Puct, PuctRule
from alphago.mcts.search_specs import make_search, plain_form


class Mine(Puct):
    """A search of one's own, which changes nothing."""

    def new_rule(self, games: int, actions: int) -> PuctRule:
        return super().new_rule(games, actions)


MINE = "tests.mcts.test_search_specs:Mine"


class TestForms:
    @pytest.mark.parametrize(
        ("given", "wanted"),
        [
            (None, Puct(leaves=3)),
            ("puct", Puct(leaves=3)),
            ("gumbel", Gumbel(leaves=3, considered=10)),
            ({}, Puct(leaves=3)),
            ({"c_puct": 2}, Puct(leaves=3, c_puct=2.0)),
            ({"leaves": 1}, Puct(leaves=1)),
            ({"kind": "gumbel", "c_scale": 0.5}, Gumbel(leaves=3, considered=10, c_scale=0.5)),
            ({"kind": "gumbel", "considered": 4}, Gumbel(leaves=3, considered=4)),
            ({"kind": MINE, "c_puct": 2.0}, Mine(leaves=3, c_puct=2.0)),
            (MINE, Mine(leaves=3)),
            (Gumbel(considered=9), Gumbel(considered=9)),  # settings hold exactly
        ],
    )
    def test_what_is_left_out_suits_the_place(self, given: Any, wanted: Any) -> None:
        made = make_search(given, readouts=20, leaves=3)
        assert (type(made), made) == (type(wanted), wanted)

    @pytest.mark.parametrize(("readouts", "considered"), [(1, 2), (4, 2), (9, 4), (32, 16), (800, 16)])
    def test_gumbel_considers_half_as_many_as_there_are_readouts(self, readouts: int, considered: int) -> None:
        assert make_search("gumbel", readouts, 1) == Gumbel(considered=considered, leaves=1)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ("Gumbel", ValueError, r"^search must be .*'puct'.*'gumbel'.*, got 'Gumbel'$"),
        ({"kind": 3}, TypeError, r"^search must be .*'puct'.*'gumbel'.*, got 3$"),
        (3, TypeError, r"^search must be 'puct', 'gumbel', a Puct, a dictionary of settings, got 3$"),
        (Puct, TypeError, r"^search must be 'puct', 'gumbel', a Puct, .*, got <class .*Puct'>$"),
        ({"c_puk": 1}, TypeError, "^Puct has no keyword 'c_puk': did you mean c_puct"),
        ({"c_skale": 1}, TypeError, "^Puct has no keyword 'c_skale': did you mean c_scale"),
        ("nowhere.to.be:Found", ValueError, "^this call has a search .*, nowhere.to.be:Found, which cannot be"),
        ("builtins:dict", ValueError, "it is no class of settings"),
    ],
)
def test_what_is_no_search(given: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        make_search(given, 8, 1)


def test_numpys_numbers_are_saved() -> None:
    form = {"kind": "gumbel", "considered": np.int64(4), "c_scale": np.float32(0.5)}
    assert json.dumps(plain_form(form)) == '{"kind": "gumbel", "considered": 4, "c_scale": 0.5}'
