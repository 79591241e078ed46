"""What a file does for its page, against what a server does: the same commands have the same answers."""

import json
from typing import Any

import pytest

from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.env.oware import OwareEnv
from alphago.nn.export import network_graph
from alphago.nn.net import NeuralNet
from alphago.ui.onefile.page import facts
from tests.ui.onefile.scripts import ask
from tests.ui.web.desks import Guest
from tests.ui.web.test_static import typedefs

SAME = ("node", "line", "view", "over", "result", "count", "added", "players", "study", "link", "comment")
BOTH = {"black": "human", "white": "human"}
GO = [
    {"type": "hello"},
    *({"type": "play", "move": move} for move in ("C3", "c4", "B4", 0, "D4", "E5", "C5")),
    {"type": "play", "move": "C3"},
    {"type": "undo"},
    {"type": "undo"},
    {"type": "play", "move": "E1"},
    {"type": "variation", "direction": -1},
    {"type": "step", "count": 1},
    {"type": "go", "node": 3},
    {"type": "redo"},
    {"type": "resign"},
    {"type": "play", "move": "A1"},
    {"type": "undo"},
    {"type": "new", "game": "go", "options": {"komi": 0.5, "rules": "AGA"}, "setup": {}, **BOTH},
    {"type": "play", "move": "B2"},
    {"type": "play", "move": "pass"},
    {"type": "play", "move": "pass"},
    {"type": "new", "game": "go", "options": {"board_size": 7}, "setup": {"handicap": 4}, **BOTH},
    {"type": "play", "move": "A7"},
    {"type": "hello", "link": "game=go&board_size=7&komi=9&rules=Chinese&black=C5+E5+C3+E3&to_play=white&moves=A7.B7"},
    {"type": "new", "game": "go", "options": {"board_size": 5, "komi": 0.3}, "setup": {}, **BOTH},
    {"type": "go", "node": 99},
]
OWARE = [
    {"type": "hello"},
    *({"type": "play", "move": move} for move in "FfCaF"),
    {"type": "undo"},
    {"type": "hello", "link": "game=oware&repetition=no&moves=A.B.C"},
    {"type": "new", "game": "oware", "options": {"repetition": "no", "remainder": "nobody"}, "setup": {}, **BOTH},
]


@pytest.mark.parametrize(
    ("env", "messages"), [(GoEnv(5).match_variant(), GO), (OwareEnv(), OWARE)], ids=["go", "oware"]
)
def test_the_same_commands_have_the_same_answers(env: GameEnv, messages: list[dict[str, Any]]) -> None:
    net = NeuralNet(env, tower_height=1, channels=4, size_free=isinstance(env, GoEnv))
    begin = {"type": "players", **BOTH}  # as a Guest has done
    _, *told = ask("desk", facts=facts(net, network_graph(net), "mine"), messages=[begin, *messages])
    known = typedefs()
    with Guest(env=env) as guest:
        for message, answers in zip(messages, told, strict=True):
            state = guest.ask(message["type"], **{key: value for key, value in message.items() if key != "type"})
            ours = [answer for answer in answers if answer["type"] == "state"][-1]
            assert ours.keys() == known["StateMessage"][0], message
            assert ours["strength"].keys() == known["StrengthView"][0]
            names = [name for name in SAME if name != "added" or not ours["busy"]]  # no engine ends the file's count
            state["link"] = state["link"].replace(".0&", "&")
            assert {name: ours[name] for name in names} == json.loads(json.dumps({name: state[name] for name in names}))
