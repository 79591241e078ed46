"""The desk in Node.js over a server's answers: playing, going back, engines, studying, and what is refused."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from go_variants import OutlineGoEnv
from gomoku_swap2 import GomokuSwap2Env
from hex import HexEnv

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.ui.web.engines import PLAYOUTS
from alphago.ui.web.new_game import open_link
from alphago.ui.web.views import game_view
from tests.ui.own_games import LeaningEnv, NimEnv, OwnedByBlack, RingEnv
from tests.ui.web.desks import GO5, Guest, stones
from tests.ui.web.test_answers import Broken

GAMES: list[GameEnv] = [GomokuEnv(6, 3), ConnectFourEnv(), ReversiEnv(4), OwareEnv(60)]
GAMES += [TicTacToeEnv(), LeaningEnv(), RingEnv(), OutlineGoEnv(3, 4, "B2"), HexEnv(3), GomokuSwap2Env(5, 4)]


@pytest.fixture
def guest() -> Iterator[Guest]:
    with Guest() as guest:
        yield guest


def test_dead_stones_are_proposed_and_corrected() -> None:
    with Guest(network=OwnedByBlack()) as guest:
        guest.play("B2 D4 C2 D5 pass")
        guest.post("play", move="pass")
        guest.post("step", count=-1)  # which ends the count
        guest.post("step", count=1)
        found = guest.until("state", lambda state: state["count"] and not state["busy"])
        dead = [GO5.from_text(point) for point in ("D5", "D4")]
        assert found["count"]["dead"] == dead
        assert found["count"]["points"] == [25, 0]
        assert found["result"] == {"text": "Black wins by 24.5", "winner": 1, "short": "B+24.5"}
        alive = guest.ask("dead", point=dead[1])
        assert alive["count"]["dead"] == []
        assert (alive["count"]["points"], alive["result"]["short"]) == ([2, 2], "W+0.5")
        assert guest.ask("dead", point=GO5.from_text("C2"))["result"]["short"] == "W+25.5"
        assert "RE[W+25.5]" in guest.saved()
        assert guest.ask("all-alive")["result"]["short"] == "W+0.5"
        assert guest.refused("dead", point=0) == "A point with a stone must be named, got A5."
        assert guest.ask("undo")["count"] is None
        assert guest.refused("dead", point=dead[0]).startswith("Stones are counted after")
        assert guest.ask("redo")["count"]["dead"] == []  # as it was agreed


def test_two_passes_end_the_game_and_say_that_stones_count(guest: Guest) -> None:
    guest.post("play", move="C3")
    guest.post("play", move=25)
    assert guest.until("notice")["text"].startswith("After two passes the game is counted")
    guest.until("state")
    state = guest.ask("play", move="pass")
    assert state["over"]
    assert state["result"] == {"text": "Black wins by 24.5", "winner": 1, "short": "B+24.5"}
    assert guest.refused("play", move="A1").startswith("Illegal move A1: the game is over")


FILED = "(;FF[4]CA[UTF-8]DT[1999]KM[0.5]PB[Ann]RE[W+T]SZ[5]XX[mine];B[aa]C[so];W[bb](;B[];W[])(;B[cc]LB[aa:x]))"


def test_what_was_not_touched_is_saved_as_it_was_opened(guest: Guest) -> None:
    """The file's result too, until the game goes another way or is counted; and the page tells it."""
    guest.ask("open", text=FILED)
    assert guest.saved() == FILED
    state = guest.ask("step", count=4)
    assert state["over"]
    assert state["result"] == {"text": "The file says W+T", "winner": -1, "short": "W+T"}
    guest.ask("step", count=-3)
    guest.play("D4")  # a variation
    assert guest.saved() == FILED.replace(";W[bb](", "(;W[bb](")[:-1] + ")(;W[db]))"


def test_a_file_that_is_scored_by_territory_is_told(guest: Guest) -> None:
    guest.post("open", text="(;SZ[5]RU[Japanese];B[aa])")
    assert guest.until("notice")["text"].startswith("Games are scored by area, and not as the file says: rules must")
    assert guest.refused("open", text=" {") == "The file must be a game that this page saved."


def test_a_new_game_by_its_options() -> None:
    """A handicap has a komi of its own unless one is told."""
    with Guest(GoEnv(9).match_variant()) as guest:
        for komi, told in ((None, 0.5), (7.5, 7.5), ("7.5", 7.5)):
            options = {"board_size": 9, "komi": komi, "rules": "AGA"}
            guest.post("new", game="go", options=options, setup={"handicap": 3}, black="human", white="human")
            game = guest.until("game")["game"]
            options = {option["name"]: option["value"] for option in game["options"]}
            assert options == {"board_size": 9, "komi": told, "rules": "AGA", "handicap": 0}
            state = guest.until("state")
            assert (game["title"], state["view"]["toPlay"], state["view"]["stones"].count("X")) == ("Go 9x9", -1, 3)
        assert "komi=0.5" in guest.ask("new", options={"board_size": 7}, setup={"handicap": 2})["link"]
        assert "komi=9.0" in guest.ask("new", options={"board_size": 7}, setup={"handicap": 0})["link"]


def test_turns_that_are_skipped_are_in_files_and_links(guest: Guest) -> None:
    guest.ask("open", text="(;SZ[5]KM[0.5];B[aa];B[ee];W[cc];W[bb])")
    state = guest.ask("step", count=4)
    assert stones(state) == "X.... .O... ..O.. ..... ....X"
    assert state["view"]["moves"] == 4
    assert state["link"].endswith("moves=A5._.E1.C3._.B4")
    again = open_link(state["link"], {"go": GO5})
    assert again.moves_text() == "B A5, B E1, W C3, W B4"
    assert ";B[aa];B[ee];W[cc];W[bb]" in guest.saved()


def test_undo_redo_and_variations(guest: Guest) -> None:
    """What was taken back stays in the tree, and redo follows what was looked at last."""
    guest.play("C3 C4")
    assert guest.ask("undo")["node"] == 1
    state = guest.play("D4")
    assert [state["node"], state["line"]] == [3, [0, 1, 3]]
    guest.ask("undo")
    assert guest.ask("redo")["node"] == 3
    assert guest.ask("go", node=2)["line"] == [0, 1, 2]
    guest.ask("go", node=1)
    assert guest.ask("play", move="C4")["node"] == 2
    assert guest.ask("go", node=0)["line"] == [0, 1, 2]
    assert guest.refused("undo") == "There is no move to take back."


def test_steps_count_from_where_the_board_is_when_they_arrive(guest: Guest) -> None:
    """Keys come faster than answers: a page cannot know the node that its next step begins at."""
    guest.play("C3 C4 D4")
    guest.ask("go", node=2)
    guest.play("B2")
    names = {"step": "count", "variation": "direction"}
    for command in ("step -1", "variation -1", "step -1", "step 1", "step 1", "variation 1", "variation -1"):
        kind, by = command.split()
        guest.post(kind, **{names[kind]: int(by)})
    nodes = [guest.until("state")["node"] for _ in range(5)]
    assert nodes == [2, 1, 2, 4, 3]
    assert guest.ask("step", count=-4000)["line"] == [0, 1, 2, 3]
    assert guest.ask("step", count=4000)["node"] == 3


def test_study_and_analysis_are_turned_on_and_off_without_knowing_which_they_are(guest: Guest) -> None:
    assert guest.ask("toggle", what="study")["study"]
    guest.post("toggle", what="analysing")
    guest.post("toggle", what="study")
    guest.post("toggle", what="analysing")
    state = guest.until("state", lambda state: not state["analysing"] and not state["study"])
    assert not state["busy"]
    guest.post("toggle", what="analysing")
    assert guest.until("state", lambda state: state["analysing"])["study"]
    guest.ask("stop")


def test_against_the_engine_undo_goes_back_to_the_persons_own_move(guest: Guest) -> None:
    guest.ask("strength", readouts=8, level="even")
    guest.ask("players", white="engine")
    state = guest.play("C3")
    assert state["view"]["moves"] == 2
    assert guest.ask("play", move=state["view"]["legal"][0])["view"]["moves"] == 4
    assert guest.ask("undo")["view"]["moves"] == 2
    assert guest.ask("undo")["view"]["moves"] == 0
    assert guest.ask("redo")["view"]["moves"] == 2
    assert state["opponent"].startswith("You have made 1 of 5 moves")
    assert guest.ask("new", black="human")["opponent"] == ""


def test_the_engine_shows_its_thinking_and_the_network_alone_does_not_search(guest: Guest) -> None:
    guest.ask("strength", readouts=60)
    guest.post("move")
    thought = guest.until("thinking", lambda message: message["readouts"] == 60)
    assert thought["analysis"]["moves"][0]["visits"] > 0
    assert 0 < thought["analysis"]["win"] < 1
    played = guest.until("state", lambda state: not state["busy"])
    assert played["view"]["last"] == thought["analysis"]["moves"][0]["move"]
    guest.ask("strength", tree=False, seconds=1)
    guest.post("move")
    alone = guest.until("thinking")
    assert (alone["readouts"], alone["limit"]) == (0, None)
    probable = max(alone["analysis"]["moves"], key=lambda move: move["prior"])
    assert guest.until("state", lambda state: not state["busy"])["view"]["last"] == probable["move"]


def test_commands_that_do_not_fit_are_answered_in_a_sentence(guest: Guest) -> None:
    for message, sentence in {
        "jump": "There is no command jump",
        "go": "There is no position undefined",
        "play": "'undefined' is not a point of Go 5x5",
        "redo": "There is no move to play again",
    }.items():
        assert guest.refused(message).startswith(sentence), message
    told = "'Z9' is not a point of Go 5x5; moves are A1 to E5 (no column I) or pass."
    assert guest.refused("play", move="Z9") == told
    assert guest.refused("hello", link="game=go&board_size=5&komi=2.5&moves=Z9") == told
    assert guest.refused("strength", readouts=10**9).startswith("Readouts must be an integer from 1 to")
    guest.play("C3")
    options = {"options": {"board_size": 9}, "setup": {"handicap": 77}}
    assert guest.refused("new", **options).startswith("Handicap must be an integer from 0 to 9")
    assert guest.ask("go", node=1)["view"]["moves"] == 1  # the game stays


def test_a_resignation_can_be_taken_back(guest: Guest) -> None:
    state = guest.ask("resign")
    assert state["result"]["short"] == "W+R"
    assert guest.refused("play", move="C3").startswith("The game is over by resignation")
    assert not guest.ask("undo")["over"]
    assert guest.play("C3")["view"]["moves"] == 1


def test_an_engine_that_fails_says_so_and_the_board_stays_usable() -> None:
    with Guest(network=Broken(3)) as guest:
        guest.ask("strength", readouts=400)
        assert guest.refused("move") == "The engine has failed: RuntimeError: the cable has come off."
        state = guest.play("C3")
        assert [state["view"]["moves"], state["busy"]] == [1, ""]


def test_study_evaluates_what_is_looked_at_and_review_the_whole_line(guest: Guest) -> None:
    guest.play("C3 B2 D4")
    state = guest.ask("study", study=True)
    assert state["analysis"]["visits"] == 1
    guest.post("review", readouts=20)
    reviewed = {}
    while len(reviewed) < 4:
        thought = guest.until("thinking")
        if thought["analysis"]["visits"] >= 20:
            reviewed[thought["node"]] = thought["analysis"]["win"]
    assert sorted(reviewed) == [0, 1, 2, 3]
    assert guest.until("state", lambda state: not state["busy"])["node"] == 3
    guest.ask("open", text='(;SZ[5];B[cc]SBKV[20]AGO[{"visits": 40}])')  # no fewer visits replace these
    assert guest.ask("step", count=1)["analysis"]["visits"] == 41
    assert guest.ask("strength", network=PLAYOUTS)["analysis"]["visits"] == 1


def test_why_a_move_is_bad(guest: Guest) -> None:
    assert guest.refused("why") == "There is no move to explain."
    guest.play("C3 D4")
    guest.post("why")
    told = guest.until("why")
    assert (told["node"], told["move"], told["points"]) == (1, GO5.from_text("D4"), None)
    assert "D4" in told["sentences"][0]


def test_a_bad_move_is_explained_before_the_engine_answers(guest: Guest) -> None:
    guest.ask("teach", points=0.1)
    state = guest.ask("players", white="engine")
    for move in state["view"]["legal"]:  # of a network that knows nothing some are bad
        guest.post("play", move=move)
        state = guest.until("state", lambda state: state["view"]["moves"] > 0 and not state["busy"])
        if state["lesson"]:
            break
        guest.ask("undo")
    assert (state["lesson"], state["view"]["moves"]) == (True, 1)
    assert guest.ask("undo")["view"]["moves"] == 0
    guest.post("play", move=move)
    why = guest.until("why")
    assert (why["move"], why["best"] != move) == (move, True)
    assert why["points"] is None or why["points"] > 0
    assert not any("is better" in sentence for sentence in why["sentences"])  # the page says so above them
    guest.post("move")
    guest.until("state", lambda state: state["view"]["moves"] == 2 and not state["lesson"])
    assert guest.ask("teach", points=None)["teach"] is None


def test_study_is_off_when_a_game_against_the_engine_begins(guest: Guest) -> None:
    guest.ask("study", study=True)
    assert guest.ask("new", game="go", options={}, black="human", white="human")["study"]
    assert not guest.ask("new", game="go", options={}, black="human", white="engine")["study"]


@pytest.mark.parametrize("env", GAMES, ids=lambda env: env.name)
def test_every_game_is_played_to_its_end(env: GameEnv, games_as_before: None) -> None:
    """Black by chance, White by playouts, as a page would: by what the view calls legal."""
    generator = np.random.default_rng(1)
    with Guest(env) as guest:
        guest.ask("strength", readouts=4)
        guest.ask("players", white="engine")
        state = guest.ask("go", node=0)
        while not state["over"]:
            state = guest.ask("play", move=int(generator.choice(state["view"]["legal"])))
        assert re.match(r"[\w ]+ wins|A draw", state["result"]["text"])
        link = state["link"]
        position = open_link(link, {env.name: env})
        assert position.is_over
        guest.post("save")
        file = guest.until("file")
        assert file["name"] == f"{env.name}.json"
    with Guest(env) as other:
        assert other.ask("hello", link=link)["link"] == link
        opened = other.ask("open", text=file["text"])
        assert [opened["node"], len(opened["line"])] == [0, len(position.moves) + 1]


def test_a_game_without_a_board_is_played_by_buttons() -> None:
    """Its only plane is drawn; who can take the last match is found by playouts."""
    with Guest(NimEnv()) as guest:
        state = guest.play("0 1 1")
        assert game_view(NimEnv())["surface"] == "text"
        assert state["view"]["drawing"] == "X X . . . . .\nmove 3: White to play; X is White"
        guest.post("move")
        state = guest.until("state", lambda state: not state["busy"])
        assert state["result"] == {"text": "White wins", "winner": -1, "short": "W+1"}


def test_territory_is_of_games_whose_stones_do_not_fill_the_board() -> None:
    told = [game_view(env)["territory"] for env in (GoEnv(5), ReversiEnv(), GomokuEnv())]
    assert told == [True, False, False]
