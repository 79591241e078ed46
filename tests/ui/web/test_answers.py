"""What a page asks without a desk: replies of KataGo's protocol for any game, views, counts, and what is refused."""

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameBatch, GameEnv, GoEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.questions import Limit
from alphago.system.kernels.cache import compiling_time
from alphago.ui.web import answers
from alphago.ui.web.answers import analysis_fields
from alphago.ui.web.guard import most_readouts
from tests.ui.own_games import NimEnv, OwnedByBlack
from tests.ui.web.desks import GO5, PATIENCE, Asker, about, engines


class Broken(HashEvaluator):
    """An engine that fails from some evaluation on."""

    def __init__(self, good: int) -> None:
        self.left = good

    def evaluate(self, batch: GameBatch, slots: np.ndarray, priors: np.ndarray, values: np.ndarray) -> None:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the cable has come off")
        super().evaluate(batch, slots, priors, values)


@pytest.mark.parametrize("env", [GO5, ConnectFourEnv(), TicTacToeEnv(), NimEnv()], ids=lambda env: env.name)
def test_any_game_has_replies_of_katagos_protocol(env: GameEnv) -> None:
    """The policy is below 0 for illegal moves; the moves are legal and in order."""
    with Asker(env) as asker:
        first = asker.start.env.to_text(0)
        reply = asker.ask(moves=first, maxVisits=33)
        assert reply["rootInfo"]["visits"] == 33
        assert (reply["searched"], reply["rootInfo"]["currentPlayer"]) == (32, "W")
        after = asker.start.play(first)
        assert [prior >= 0 for prior in reply["policy"]] == after.legal_mask.tolist()
        legal = {after.env.to_text(int(action)) for action in np.flatnonzero(after.legal_mask)}
        assert {info["move"] for info in reply["moveInfos"]} <= legal
        assert all(info["pv"][0] == info["move"] for info in reply["moveInfos"])
        assert "ownership" not in reply  # none of these engines forecasts it


def test_a_reply_has_the_view_of_black() -> None:
    engine = engines(OwnedByBlack()).engine("hash", GO5)
    fields = analysis_fields(engine.analyst.ask(GO5, ["C3"], Limit(8)).last().found)
    assert set(fields["ownership"]) == {1.0}
    assert fields["rootInfo"]["scoreLead"] == 20
    assert {info["scoreLead"] for info in fields["moveInfos"]} == {20}


def test_a_move_is_chosen_by_search_by_level_or_by_the_network_alone() -> None:
    with Asker() as asker:
        best = asker.ask(maxVisits=101, play=True)
        visits = {info["move"]: info["visits"] for info in best["moveInfos"]}
        assert visits[best["play"]] == max(visits.values())
        alone = asker.ask(moves="C3", maxVisits=1, play=True)
        assert (alone["searched"], alone["play"]) == (0, GO5.to_text(int(np.argmax(alone["policy"]))))
        level = asker.ask(moves="C3 C4", level=1, play=True)
        assert (GO5.from_text(level["play"]) >= 0, level["opponent"]) == (True, "")
        even = asker.ask(moves="C3 C4", level="even", play=True)
        assert even["opponent"].startswith("You have made 1 of 5 moves ")
        asker.post(action="why", **about(asker.start.after(["A2", "B1", "A1"], [1, 1, 1])), network="hash")
        assert asker.next()["move"] == "A1"  # which would be suicide for White


def test_growing_replies_end_when_they_are_ended() -> None:
    with Asker() as asker:
        number = asker.post(**about(asker.start), network="hash", reportDuringSearchEvery=0.001)
        seen = [asker.next() for _ in range(3)]
        assert all(reply["id"] == number and reply["isDuringSearch"] for reply in seen)
        visits = [reply["rootInfo"]["visits"] for reply in seen]
        assert visits == sorted(visits)
        asker.post(action="terminate", terminateId=number)
        assert asker.ask("view")["view"]["moves"] == 0
        assert asker.told.empty()  # nothing more of the search follows


def test_a_tree_is_kept_from_query_to_query() -> None:
    with Asker() as asker:
        move = asker.ask(maxVisits=201)["moveInfos"][0]
        assert asker.ask(moves=move["move"], maxVisits=1)["rootInfo"]["visits"] == move["visits"]


def test_what_is_asked_wrongly_is_a_sentence() -> None:
    other = {"network": "hash", "moves": []}
    with Asker() as asker:
        for query, sentence in (
            ({"action": "jump"}, "Action must be one of 'hello', "),
            ({"action": "view", **about(asker.start), "moves": ["C3"]}, 'A move must be such as ["B", "C3"]'),
            ({"action": "view", **about(asker.start), "moves": [["B", "Z9"]]}, "'Z9' is not a point of Go 5x5; moves"),
            ({"action": "view", "game": 5}, "Game must be an object, got 5"),
            ({"action": "view", "game": {"name": "chess"}}, "There is no game 'chess'"),
            ({"action": "view", "game": {"name": "go", "config": {"board_size": 99}}}, "Board_size must be"),
            ({"action": "view", "game": {"name": "go", "config": {"x": 9}}}, "Go cannot be played so"),
            ({"action": "new", "name": "chess"}, "There is no game 'chess'"),
            ({"action": "new", "options": {"board_size": 26}}, "Board_size must be an integer from 2 to 25, got 26"),
            ({"action": "new", "options": [5]}, "Options must be an object"),
            ({"action": "why"}, "There is no move to explain"),
            ({"action": "count", **about(asker.start)}, "Stones are counted after"),
            ({"action": "view", **about(asker.start), "point": 3}, "Stones are counted after"),
            ({"action": "run-game"}, "No run was given to this server"),
            ({"action": "open"}, "A file must be a text"),
            ({**about(asker.start), "network": "../../etc/passwd"}, "Network must be one of hash, playouts"),
            ({**about(asker.start), **other, "maxVisits": 10**9}, "MaxVisits must be an integer from 1 to"),
            ({**about(asker.start), **other, "maxTime": -1}, "MaxTime must be"),
            ({**about(asker.start), **other, "level": 11, "play": True}, "Level must be a number from 1 to 10"),
        ):
            number = asker.post(**query)
            answer = asker.next()
            assert (answer["id"], answer["error"][: len(sentence)]) == (number, sentence)
        asker.page.receive("5")
        assert asker.next() == {"id": None, "error": "A query must be a JSON object, got 5."}


def test_a_page_is_told_that_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, and once; in the end its line is as usual."""
    spent = iter(range(10**6))
    monkeypatch.setattr(answers, "LOOK_SECONDS", 0.01)
    # The answer comes only once the page was told.
    monkeypatch.setitem(answers.ACTIONS, "why", lambda *_: {"before": asker.told.get(timeout=PATIENCE)})
    monkeypatch.setattr(type(compiling_time), "spent", property(lambda self: next(spent)))
    with Asker() as asker:
        asker.post(action="why", **about(asker.start.play("C3")))
        later = [asker.told.get(timeout=PATIENCE) for _ in range(2)]
        [answer] = [message for message in later if "before" in message]
        assert answer["before"] == {"status": answers.COMPILING}
        assert {"status": ""} in later


def test_readouts_are_limited_by_memory() -> None:
    assert most_readouts(GoEnv(5)) == 100_000
    assert most_readouts(GoEnv(25)) * 626 * 5 <= 128 * 1024 * 1024
