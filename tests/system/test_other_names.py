import copy
import pickle

import pytest

from alphago import GomokuEnv, NeuralNet
from alphago.system.other_names import GAME_NAMES, NETWORK_NAMES, POSITION_NAMES


@pytest.mark.parametrize("names", [GAME_NAMES, POSITION_NAMES, NETWORK_NAMES], ids=["game", "position", "network"])
def test_names_of_other_libraries_say_what_is_there_instead(names):
    env = GomokuEnv(3, 3)
    things = {
        id(GAME_NAMES): env,
        id(POSITION_NAMES): env.position(),
        id(NETWORK_NAMES): NeuralNet(env, tower_height=0, channels=2),
    }
    thing = things[id(names)]
    for name, hint in names.items():
        assert not hasattr(thing, name)
        with pytest.raises(AttributeError, match=f"has no {name}: ") as caught:
            getattr(thing, name)
        assert str(caught.value).endswith(hint)
    with pytest.raises(AttributeError, match="nonsense"):
        thing.nonsense  # noqa: B018


def test_games_and_networks_are_still_copied_and_pickled():
    env = GomokuEnv(3, 3)
    net = NeuralNet(env, tower_height=0, channels=2)
    assert pickle.loads(pickle.dumps(env)) == copy.deepcopy(env) == env
    assert copy.deepcopy(net).num_parameters == net.num_parameters
