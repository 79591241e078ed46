"""The desk over a file's own carrier, against that over a server: the same commands, queries and messages."""

import json
from typing import Any

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, NeuralNet, OwareEnv
from alphago.nn.export import manifest, network_graph
from alphago.ui.onefile.page import facts
from tests.ui.onefile.scripts import ask
from tests.ui.web.desks import Guest

SAME = ("node", "line", "view", "over", "result", "count", "players", "study", "link", "comment", "busy")
BOTH = {"black": "human", "white": "human"}
HELLO, UNDO = {"type": "hello"}, {"type": "undo"}
LINK = "game=go&board_size=7&komi=9&rules=Chinese&black=C5+E5+C3+E3&to_play=white&moves=A7.B7"


def plays(*moves: str | int) -> list[dict[str, Any]]:
    return [{"type": "play", "move": move} for move in moves]


def new(game: str, setup: dict[str, int] | None = None, **options: Any) -> dict[str, Any]:
    return {"type": "new", "game": game, "options": options, "setup": setup or {}, **BOTH}


GO = [HELLO, *plays("C3", "c4", "B4", 0, "D4", "E5", "C5", "C3"), UNDO, UNDO, *plays("E1")]
GO += [{"type": "variation", "direction": -1}, {"type": "step", "count": 1}, {"type": "go", "node": 3}]
GO += [{"type": "redo"}, {"type": "resign"}, *plays("A1"), UNDO]
GO += [new("go", komi=0.5, rules="AGA"), *plays("B2", "pass", "pass")]
GO += [{"type": kind, "point": 16} for kind in ("all-alive", "dead", "dead", "dead")]  # B2 is dead, alive, dead
GO += [new("go", {"handicap": 4}, board_size=7), *plays("A7"), {**HELLO, "link": LINK}]
GO += [new("go", board_size=5, komi=0.3), {"type": "go", "node": 99}]
OWARE = [HELLO, *plays(*"FfCaF"), UNDO, {**HELLO, "link": "game=oware&repetition=no&moves=A.B.C"}]
OWARE += [new("oware", repetition="no", remainder="nobody")]
FOUR = [HELLO, *plays(*"DDCDDDD")]


def reply(mover: int, win: float, score: float | None, best: str = "A1") -> dict[str, Any]:
    """What a search finds: Black's chance and lead, and one move, as good as the position."""
    lead = {} if score is None else {"scoreLead": score}
    move = {"move": best, "visits": 99, "prior": 1.0, "winrate": win, "pv": [best], **lead}
    root = {"visits": 100, "winrate": win, "currentPlayer": "B" if mover > 0 else "W", **lead}
    return {"moveInfos": [move], "rootInfo": root, "policy": [0.2, 0.8], "best": 0}


def facts_of(env: GameEnv) -> dict[str, object]:
    net = NeuralNet(env, tower_height=1, channels=4, size_free=isinstance(env, GoEnv))
    return facts(net, manifest(network_graph(net), net, {"layers": []}), "mine")


@pytest.mark.parametrize(
    ("after", "told"),
    [((0.4, -1.0), (4.0, 0.1)), ((0.3, 2.0), None), ((0.45, None), None), ((0.3, None), (None, 0.2))],
)
def test_a_bad_move_is_answered_by_the_offer_to_take_it_back(
    after: tuple[float, float | None], told: tuple[float | None, float] | None
) -> None:
    """White loses what Black gains; without points, 5 % of winning count as one."""
    env = GoEnv(5).match_variant()
    before = reply(1, 0.5, None if after[1] is None else 3.0, "C3")
    found = [before, reply(-1, *after), reply(-1, 0.5, None)]
    sent = [HELLO, {"type": "teach", "points": 2}, *plays("D4"), {"type": "stop"}]
    answers = ask("desk", facts=facts_of(env), messages=sent, found=found)
    messages = [message for answer in answers for message in answer["told"]]
    why = [message for message in messages if message["type"] == "why"]
    assert [(message["points"], pytest.approx(message["rate"])) for message in why] == ([told] if told else [])
    last = messages[-1]
    assert (last["lesson"], last["view"]["moves"], last["teach"]) == (bool(told), 1 if told else 2, 2)
    if told:
        assert (why[0]["node"], why[0]["best"]) == (0, env.from_text("C3"))


@pytest.mark.parametrize(
    ("env", "messages"),
    [(GoEnv(5).match_variant(), GO), (OwareEnv(), OWARE), (ConnectFourEnv(), FOUR)],
    ids=["go", "oware", "four"],
)
def test_both_carriers_are_asked_the_same_and_lead_to_the_same(env: GameEnv, messages: list[dict[str, Any]]) -> None:
    begin = {"type": "players", **BOTH}  # as a Guest has done
    _, _, *told = ask("desk", facts=facts_of(env), messages=[HELLO, begin, *messages])
    with Guest(env=env) as guest:
        for message, answers in zip(messages, told, strict=True):
            guest.queries.clear()
            state = guest.ask(message["type"], **{key: value for key, value in message.items() if key != "type"})
            ours = [answer for answer in answers["told"] if answer["type"] == "state"][-1]
            state["link"] = state["link"].replace(".0&", "&")
            state["busy"] = ours["busy"]  # no engine ends the file's count
            assert {name: ours[name] for name in SAME} == json.loads(json.dumps({name: state[name] for name in SAME}))
            asked = [[query.get(name) for name in ("action", "moves", "link")] for query in guest.queries]
            assert [[query.get(name) for name in ("action", "moves", "link")] for query in answers["asked"]] == asked


@pytest.mark.parametrize(
    ("lives", "told"),
    [("refused", "allows no workers"), ("never", "allows no workers"), ("ends", "the next move starts it again")],
)
def test_workers_that_cannot_start_or_end_are_told(lives: str, told: str) -> None:
    """A site's policy forbids them, at once or later; the system ends them."""
    assert told in ask("engine", lives=lives)[-1]
