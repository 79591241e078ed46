import re

import pytest

from alphago import GomokuEnv, NeuralNet
from alphago.env.other_names import GAME_NAMES, NETWORK_NAMES, POSITION_NAMES

ENV = GomokuEnv(3, 3)
NET = NeuralNet(ENV, tower_height=0, channels=2)
HINTS = [(ENV, GAME_NAMES), (ENV.position(), POSITION_NAMES), (NET, NETWORK_NAMES)]


@pytest.mark.parametrize(("thing", "names"), HINTS, ids=type)
def test_names_of_other_libraries_say_what_is_there_instead(thing, names):
    for name, hint in names.items():
        with pytest.raises(AttributeError, match=f"has no {name}: {re.escape(hint)}$"):
            getattr(thing, name)
    assert not hasattr(thing, "nonsense")
