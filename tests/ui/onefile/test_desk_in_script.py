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
from tests.ui.web.test_wire import AFTER, before_and_after

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


def analysis(mover: int, win: float, score: float | None, best: int) -> dict[str, Any]:
    """What a search finds: the first side's chance and lead, and one move, as good as the position."""
    view = {"win": win if mover > 0 else 1 - win, "score": None if score is None else mover * score}
    move = {"move": best, "visits": 100, "prior": 1.0, "line": [best], **view}
    return {
        "mover": mover,
        "visits": 100,
        "win": win,
        "score": score,
        "mean": [win, score],
        "moves": [move],
        "ownership": None,
    }


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ((0.4, -1.0), "D4 loses about 4.0 points; C3 is better."),
        ((0.3, 2.0), ""),
        ((0.45, None), ""),
        ((0.3, None), "20 %"),
    ],
)
def test_a_bad_move_is_answered_by_the_offer_to_take_it_back(after: tuple[float, float | None], told: str) -> None:
    """White loses what Black gains; without points, 5 % of winning count as one."""
    env = GoEnv(5).match_variant()
    net = NeuralNet(env, tower_height=1, channels=4, size_free=True)
    before = analysis(1, 0.5, None if after[1] is None else 3.0, env.from_text("C3"))
    found = [{"analysis": before}, {"analysis": analysis(-1, *after, 0)}, {"analysis": before, "best": 0}]
    sent = [{"type": "hello"}, {"type": "teach", "points": 2}, {"type": "play", "move": "D4"}]
    answers = ask(
        "lesson", facts=facts(net, network_graph(net), "mine"), messages=[*sent, {"type": "stop"}], found=found
    )
    why = [answer for answer in answers if answer["type"] == "why"]
    assert [told in answer["sentences"][0] for answer in why] == [True] * bool(told)
    last = answers[-1]
    assert (last["lesson"], last["view"]["moves"], last["teach"]) == (bool(told), 1 if told else 2, 2)
    if told:
        assert (why[0]["node"], why[0]["best"]) == (0, env.from_text("C3"))


def test_a_move_leads_to_what_a_server_says() -> None:
    env = GoEnv(5).match_variant()
    net = NeuralNet(env, tower_height=1, channels=4, size_free=True)
    sent = [{"type": "hello"}, {"type": "players", **BOTH}]
    sent += len(AFTER) * [{"type": "new", "game": "go", "options": {"board_size": 5}, "setup": {}, **BOTH},
        {"type": "play", "move": "D4"}, {"type": "review", "readouts": 1000}]  # fmt: skip
    found = [{"analysis": one} for before, visits, *_ in AFTER for one in before_and_after(before, visits)]
    answers = ask("lesson", facts=facts(net, network_graph(net), "mine"), messages=sent, found=found)
    told = [answer["evaluations"] for answer in answers if answer["type"] == "thinking"]
    assert [[one["node"] for one in nodes] for nodes in told] == len(AFTER) * [[0, 1], [1]]
    assert [(tuple(one["mean"]), one["rough"]) for (one,) in told[1::2]] == [tuple(row[2:]) for row in AFTER]


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
