"""KataGo's analysis protocol: what goes in, what comes out, and that every turn ends exactly once."""

import json
import queue
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from alphago import GoEnv, NeuralNet, __version__
from alphago.env.go_rules import NO_BONUS
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.questions import Limit
from alphago.mcts.search import Forbidden
from alphago.ui.analysis_engine import AnalysisEngine, Networks
from alphago.ui.analysis_query import Limits, QueryError, positions_after
from alphago.ui.gtp.gtp_game import GtpGame
from tests.diagrams import draw
from tests.ui.gtp.test_protocol import run

BOARD = {"rules": "tromp-taylor", "komi": 1.5, "boardXSize": 5, "boardYSize": 5}
QUERY: dict[str, Any] = {**BOARD, "id": "a", "maxVisits": 20, "moves": [["B", "C3"], ["W", "D3"], ["B", "(1,0)"]]}
MOVE_KEYS = """
move visits edgeVisits winrate lcb prior scoreLead scoreMean scoreStdev scoreSelfplay utility utilityLcb weight pv
pvVisits ownership ownershipStdev
"""
ENDLESS = {**QUERY, "id": "endless", "maxVisits": 10_000_000}


class Client:
    """A client with its engine in this process."""

    def __init__(self, network: Any, **options: Any) -> None:
        self.replies: queue.Queue[dict[str, Any]] = queue.Queue()
        networks = Networks(GoEnv(5), network)
        self.engine = AnalysisEngine(networks, lambda line: self.replies.put(json.loads(line)), **options)

    def send(self, *queries: Any) -> None:
        for query in queries:
            self.engine.receive(query if isinstance(query, str) else json.dumps(query))

    def next(self) -> dict[str, Any]:
        return self.replies.get(timeout=600)

    def rest(self) -> list[dict[str, Any]]:
        """Let the engine finish, and return all replies that have not been read."""
        self.engine.close(wait=True)
        return list(iter(lambda: self.replies.get_nowait() if not self.replies.empty() else None, None))


def answers(network: Any, *queries: Any, **options: Any) -> list[dict[str, Any]]:
    client = Client(network, **options)
    client.send(*queries)
    return client.rest()


def test_every_field(net: NeuralNet) -> None:
    """What KaTrain, LizzieYzy, Ogatak and LizGoban read; the last one stops at a missing number."""
    flags = ("Ownership", "OwnershipStdev", "MovesOwnership", "MovesOwnershipStdev", "Policy", "PVVisits")
    (reply,) = answers(net, {**QUERY, **{f"include{flag}": True for flag in flags}})
    assert (reply["id"], reply["isDuringSearch"], reply["turnNumber"]) == ("a", False, 3)
    root = reply["rootInfo"]
    assert (root["visits"], root["currentPlayer"]) == (20, "W")
    for name in ("winrate", "scoreLead", "scoreSelfplay", "scoreStdev", "utility", "rawWinrate", "rawLead", "weight"):
        assert isinstance(root[name], float)
    assert len(root["symHash"]) == 32
    assert "thisHash" not in root  # Ogatak complains of one that is not KataGo's
    moves = reply["moveInfos"]
    assert sum(move["visits"] for move in moves) == 19
    for order, move in enumerate(moves):
        assert move["order"] == order
        assert set(MOVE_KEYS.split()) <= move.keys()
        assert move["pv"][0] == move["move"]
        assert len(move["pvVisits"]) == len(move["pv"])
        assert len(move["ownership"]) == len(move["ownershipStdev"]) == 25
    assert len(reply["ownership"]) == len(reply["ownershipStdev"]) == 25
    assert len(reply["policy"]) == 26
    assert [reply["policy"][point] for point in [12, 13, 1]] == [-1] * 3
    assert sum(p for p in reply["policy"] if p >= 0) == pytest.approx(1, abs=1e-3)


def test_whose_view(net: NeuralNet) -> None:
    """Black's unless the query or the engine says otherwise."""
    views = ("BLACK", "WHITE", "SIDETOMOVE")
    queries = [{**QUERY, "overrideSettings": {"reportAnalysisWinratesAs": view}} for view in views]
    told = [answers(net, query, threads=1)[0] for query in (QUERY, *queries)]
    told += answers(net, QUERY, threads=1, side="WHITE")
    black, *others = (reply["rootInfo"]["winrate"] for reply in told)
    assert others == pytest.approx([black, 1 - black, 1 - black, 1 - black])


def test_turns_and_positions(net: NeuralNet) -> None:
    """Each turn is answered once, whatever else is searched; moves count from the initial stones."""
    query = {**QUERY, "analyzeTurns": [0, 2, 3], "initialStones": [["W", "A1"]], "maxVisits": 9}
    found = answers(net, *[{**query, "id": str(number)} for number in range(40)])
    asked = [(number, turn) for number in range(40) for turn in (0, 2, 3)]
    assert sorted((int(reply["id"]), reply["turnNumber"]) for reply in found) == asked
    assert all(reply["rootInfo"]["visits"] == 9 for reply in found)
    assert {reply["turnNumber"]: reply["rootInfo"]["currentPlayer"] for reply in found} == {0: "B", 2: "B", 3: "W"}


def test_many_moves_lead_where_they_lead_one_by_one() -> None:
    """Also past two passes, and over a capture; an illegal move is named wherever it stands."""
    env = GoEnv(5)
    texts = ["A5", "B5", "C3", "A4", "pass", "pass", "C4", "D4", "E5", "D3", "E3"]
    moves = [(1 - 2 * (i % 2), env.from_text(text)) for i, text in enumerate(texts)]
    game, expected = GtpGame(env, 1.5), []
    for move in moves:
        game.play(*move)
        expected.append(draw(game.position))
    for last in range(4, len(moves) + 1):
        found = positions_after(GtpGame(env, 1.5), moves[:last], [last])[last]
        assert (draw(found), found.moves) == (expected[last - 1], tuple(action for _, action in moves[:last]))
    with pytest.raises(QueryError, match=f"Illegal move {len(moves)}: "):
        positions_after(GtpGame(env, 1.5), [*moves, moves[-1]], [0])


def test_boards_that_are_turned_have_one_symmetric_hash(net: NeuralNet) -> None:
    found = answers(net, *({**QUERY, "moves": [["B", point]], "maxVisits": 1} for point in ("B2", "D4", "C3")))
    assert len({reply["rootInfo"]["symHash"] for reply in found}) == 2


def test_reports_while_it_searches(net: NeuralNet) -> None:
    client = Client(net)
    client.send({**ENDLESS, "reportDuringSearchEvery": 0.01})
    first, second = client.next(), client.next()
    assert (first["isDuringSearch"], second["isDuringSearch"]) == (True, True)
    client.send({"id": "t", "action": "terminate", "terminateId": "endless"})
    (last,) = (reply for reply in client.rest() if reply.get("isDuringSearch") is False)
    assert last["rootInfo"]["visits"] >= second["rootInfo"]["visits"] >= first["rootInfo"]["visits"] > 0


def test_terminate_echoes_and_ends_what_waits(net: NeuralNet) -> None:
    """One thread is held by endless queries; what has not begun ends with noResults."""
    terminate = {"id": "t", "action": "terminate", "terminateId": "late", "turnNumbers": [1]}
    busy = [{**QUERY, "id": "busy", "maxVisits": 900, "analyzeTurns": [0]} for _ in range(64)]
    late = {**QUERY, "id": "late", "priority": -5, "analyzeTurns": [0, 1]}
    found = answers(net, *busy, late, terminate, {"id": "u", "action": "terminate_all"}, threads=1)
    assert next(reply for reply in found if reply.get("id") == "t") == terminate
    ends = [(reply["id"], reply["turnNumber"]) for reply in found if reply.get("isDuringSearch") is False]
    assert sorted(ends) == sorted([("busy", 0)] * 64 + [("late", 0), ("late", 1)])
    assert all(reply.get("noResults") or "rootInfo" in reply for reply in found if reply["id"] == "late")


def test_what_the_analyst_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each field as the analyst takes it, whose own tests have what follows from it."""
    asked: list[dict[str, Any]] = []
    client = Client(HashEvaluator(), threads=1, limits=Limits(slots=3, kinds=2, tree_bytes=10**6))
    monkeypatch.setattr(client.engine.analyst, "ask", lambda position, **options: asked.append(options))
    allowed = {"player": "W", "moves": ["A5", "pass"], "untilDepth": 2}
    avoided = [{"player": "B", "moves": ["(1,0)"], "untilDepth": 1}]
    query = {**QUERY, "reportDuringSearchEvery": 2, "firstReportDuringSearchAfter": 1, "reuse": True}
    query |= {"analyzeTurns": [1, 3], "priorities": [5, -1], "includeMovesOwnershipStdev": True}
    client.send({**query, "avoidMoves": avoided, "allowMoves": [allowed], "overrideSettings": {"maxTime": 4}}, QUERY)
    rules = [Forbidden(1, frozenset({1}), 1), Forbidden(-1, frozenset(range(1, 25)), 2)]
    given = {"limit": Limit(19, 4), "avoid": rules, "every": 2, "first": 1, "move_ownership": True, "reuse": True}
    usual = {"limit": Limit(19, None), "avoid": [], "every": None, "first": None}
    usual |= {"move_ownership": False, "reuse": False, "priority": 0}
    assert all(options.pop("tell") for options in asked)
    assert asked == [{**given, "priority": 5}, {**given, "priority": -1}, usual]
    analyst = client.engine.analyst
    assert (analyst.slots, analyst.kinds, analyst.tree_bytes) == (3, 2, 10**6)
    analyst.close()


@pytest.mark.parametrize(
    ("rules", "warned"),
    [
        *((name, False) for name in ("tromp-taylor", "chinese", "Chinese-KGS", "bga")),
        *((name, True) for name in ("AGA-button", "japanese", "Korean", "stone-scoring")),
        *((f"koSIMPLEscoreAREAtax{end}", False) for end in ("NONEsui0", "NONEsui0button0")),
        *((f"koSIMPLEscoreAREAtax{end}", True) for end in ("ALLsui0", "NONEsui0button1")),
        ({"ko": "SIMPLE", "scoring": "TERRITORY", "suicide": False, "tax": "SEKI"}, True),
        ({"ko": "POSITIONAL", "scoring": "AREA", "suicide": True, "tax": "NONE"}, False),
        ({"ko": "SIMPLE", "score": "TERRITORY"}, True),  # KataGo takes both words
        ({"ko": "SIMPLE", "score": "AREA", "friendlyPassOk": True}, False),
    ],
)
def test_what_is_not_played_is_warned_of(net: NeuralNet, rules: Any, warned: bool) -> None:
    """A warning, with the query's id, and the analysis all the same: KaTrain begins with Japanese rules."""
    *warnings, reply = answers(net, {**QUERY, "rules": rules})
    assert [(one["field"], one["id"], "warning" in one) for one in warnings] == [("rules", "a", True)] * warned
    assert "rootInfo" in reply


@pytest.mark.parametrize(
    ("stones", "moves", "has_handicap"),
    [
        ("", "B B2, B D4, W C3", True),
        ("B B2, B D4", "W C3", True),
        ("", "", False),
        ("", "B B2, W C3", False),
        ("B A1, B B2, W C1", "", False),
    ],
)
def test_that_handicap_stones_are_worth_no_points_is_told(stones: str, moves: str, has_handicap: bool) -> None:
    """By rules of any name, as in GTP, in files and on the page."""
    plays = [[play.split() for play in text.split(", ") if play] for text in (stones, moves)]
    query = {**QUERY, "maxVisits": 2, "komi": 0.5, "initialStones": plays[0], "moves": plays[1]}
    named = "koPOSITIONALscoreAREAtaxNONEsui0whiteHandicapBonusN"
    for rules in ("tromp-taylor", "aga", "chinese", named):
        *warnings, _ = answers(HashEvaluator(), {**query, "rules": rules})
        has_bonus = has_handicap and rules != "tromp-taylor"
        assert [warning["warning"] for warning in warnings] == [NO_BONUS] * has_bonus


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": 7}, "id"),
        ({"boardXSize": 29, "boardYSize": 29}, "boardXSize"),
        ({"boardYSize": 4}, "boardYSize"),
        ({"rules": "mine"}, "rules"),
        ({"rules": None}, "rules"),
        ({"komi": 1.25}, "komi"),
        ({"moves": [["B", "Z9"]]}, "moves"),
        ({"moves": [["X", "A1"]]}, "moves"),
        ({"moves": ["B A1"]}, "moves"),
        ({"moves": None}, "moves"),
        ({"moves": [["B", "A1"], ["W", "A1"]]}, "moves"),
        ({"initialStones": [["B", "A1"], ["W", "A1"]]}, "initialStones"),
        ({"initialPlayer": 1}, "initialPlayer"),
        ({"analyzeTurns": [4]}, "analyzeTurns"),
        ({"analyzeTurns": 1}, "analyzeTurns"),
        ({"analyzeTurns": []}, "analyzeTurns"),  # without turns there would be no reply at all
        ({"rules": {"koRule": "SIMPLE", "scoringRule": "TERRITORY"}}, "rules"),
        ({"maxVisits": 0}, "maxVisits"),
        ({"priority": "high"}, "priority"),
        ({"priorities": [1, 2]}, "priorities"),
        ({"includePolicy": 1}, "includePolicy"),
        ({"reportDuringSearchEvery": -1}, "reportDuringSearchEvery"),
        ({"avoidMoves": [{"player": "B", "moves": ["C4"]}]}, "avoidMoves"),
        ({"allowMoves": [{}, {}]}, "allowMoves"),
        ({"allowMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 1}] * 2}, "allowMoves"),
        ({"overrideSettings": 3}, "overrideSettings"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "RED"}}, "overrideSettings"),
    ],
    ids=str,
)
def test_a_bad_query_names_its_field(net: NeuralNet, change: dict, field: str) -> None:
    found = answers(net, {**QUERY, **change}, {**QUERY, "id": "fine", "maxVisits": 1}, threads=1)
    errors = [reply for reply in found if "error" in reply]
    assert [reply["field"] for reply in errors] == [field]
    if field != "id":
        assert errors[0]["id"] == "a"
    assert [reply["id"] for reply in found if "rootInfo" in reply] == ["fine"]


@pytest.mark.parametrize("line", ["{", "[]", "3", "nonsense", "{" * 100_000, "list_commands"])
def test_what_is_no_query(net: NeuralNet, line: str) -> None:
    (reply,) = answers(net, line, threads=1)
    assert list(reply) == ["error"]
    is_gtp = reply["error"] == "this is the JSON analysis protocol; `alphago gtp` speaks GTP"
    assert is_gtp == (line == "list_commands")


def test_unknown_fields_are_warned_of_once(net: NeuralNet) -> None:
    found = answers(net, *({**QUERY, "id": str(i), "maxVisit": 3, "maxVisits": 2} for i in range(3)), threads=1)
    assert [reply["field"] for reply in found if "warning" in reply] == ["maxVisit"]
    assert sum("rootInfo" in reply for reply in found) == 3


def test_nothing_left_to_search(net: NeuralNet) -> None:
    error, reply = answers(net, {**QUERY, "allowMoves": [{"player": "W", "moves": ["C3"], "untilDepth": 1}]})
    assert "a legal move must be left" in error["error"]
    assert reply == {"id": "a", "isDuringSearch": False, "turnNumber": 3, "noResults": True}


def test_a_network_that_breaks_ends_its_queries(capsys: pytest.CaptureFixture) -> None:
    def broken(position: Any) -> Any:
        raise RuntimeError("a broken network")

    found = answers(broken, QUERY, {**QUERY, "id": "b"}, threads=1)
    assert {reply["id"] for reply in found if reply.get("noResults")} == {"a", "b"}
    assert any("a broken network" in reply.get("error", "") for reply in found)
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(("problem", "every"), [(BrokenPipeError, 999), (RuntimeError, 0.01)])
def test_replies_that_cannot_be_sent(net: NeuralNet, problem: type[Exception], every: float) -> None:
    """No thread is lost to them; when the client has gone, the other searches end too."""
    client = Client(net, threads=2)
    client.engine._write = Mock(side_effect=problem)
    client.send(QUERY, {**ENDLESS, "reportDuringSearchEvery": every})
    assert ThreadPoolExecutor(1).submit(client.rest).result(600) == []


def test_actions(net: NeuralNet) -> None:
    actions = {"v": "query_version", "c": "clear_cache", "m": "query_models", "x": "dance", "y": "terminate"}
    queries = [{"id": name, "action": action} for name, action in actions.items()]
    queries[1]["more"] = 1  # type: ignore[assignment]
    found = answers(net, *queries, {"action": "query_version"})
    assert found[0] == {"id": "v", "action": "query_version", "version": __version__, "git_hash": "<omitted>"}
    assert found[1] == {"id": "c", "action": "clear_cache", "more": 1}
    assert found[2]["models"]
    assert [reply["field"] for reply in found[3:]] == ["action", "terminateId", "id"]


def test_networks_of_the_same_sizes_have_different_names() -> None:
    """So labels and exams that one of them began are not continued by another."""
    nets = [NeuralNet(GoEnv(5), tower_height=0, channels=4) for _ in range(2)]
    query = {"id": "m", "action": "query_models"}
    names = [answers(each, query)[0]["models"][0]["name"] for each in (*nets, nets[0])]
    assert names[0] == names[2] != names[1]
    nets[0].taught_by = "KataGo"  # which a student of this one should tell whole
    assert answers(nets[0], query)[0]["models"][0]["name"].startswith("a network taught by KataGo ")


def test_networks_without_forecasts_have_no_scores() -> None:
    (reply,) = answers(HashEvaluator(), {**QUERY, "includeOwnership": True})
    assert (reply["rootInfo"]["scoreLead"], set(reply["ownership"])) == (0.0, {0.0})


def test_positions_that_wait() -> None:
    client = Client(HashEvaluator(), threads=1, limits=Limits(positions=3))
    client.send(ENDLESS, {**QUERY, "analyzeTurns": [0, 1, 2]}, {**QUERY, "id": "b", "analyzeTurns": [0, 1, 2, 3]})
    found = [client.next(), client.next()]
    client.engine.close()
    assert [(reply["id"], reply["field"]) for reply in found] == [("a", "analyzeTurns"), ("b", "analyzeTurns")]
    assert found[0]["error"] == "at most 3 positions may wait, got 3 more than 1"
    assert found[1]["error"] == "analyzeTurns must be at most 3 here, got 4"


def test_visits_are_cut_with_a_warning() -> None:
    warning, reply = answers(HashEvaluator(), ENDLESS, limits=Limits(visits=50))
    assert warning["warning"] == "visits are limited to 50 here"
    assert reply["rootInfo"]["visits"] == 50


def test_notes_stand_in_the_first_reply(net: NeuralNet) -> None:
    """Where a client cannot tell a warning from a result, it comes with one, and once."""
    query = {**QUERY, "rules": "japanese", "analyzeTurns": [0, 1], "colour": "red"}
    found = answers(net, query, {**query, "id": "b"}, threads=1, notes=True)
    assert len(found) == 4
    assert all("rootInfo" in reply for reply in found)
    assert [reply["warning"].count(";") for reply in found if "warning" in reply] == [1]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "visits", "replies"), [([], 5, 1), (["-quit-without-waiting"], 10_000_000, 0)])
def test_a_process_whose_input_ends(words: list[str], visits: int, replies: int) -> None:
    """It answers all that it was asked, unless it is to quit at once."""
    query = json.dumps({**QUERY, "boardXSize": 7, "boardYSize": 7, "maxVisits": visits})
    done = run("analysis", "7x7", *words, sent=f"{query}\n".encode())
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    assert [json.loads(line)["rootInfo"]["visits"] for line in done.stdout.splitlines()] == [visits] * replies
