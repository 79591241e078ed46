"""GTP's Go commands, as a controller sees them."""

import contextlib
import json
from collections import Counter

import pytest

from alphago import GoEnv, NeuralNet
from alphago.env.go_rules import NO_BONUS
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.nn.model_files import ModelError
from alphago.ui.gtp.game_commands import GoEngine
from tests.diagrams import draw
from tests.networks import prefers
from tests.ui.gtp.engine import BLACK, WHITE, ask, engine, turns_until_resignation

# Black takes nothing back but what White took: the third move repeats the board, with White to play.
SEND_TWO = "b B5, w A4, b D5, w B4, b C4, w E1, b A5, w C5, b B5"


class TestSetup:
    def test_boardsize_with_a_network(self) -> None:
        gtp = engine(5)
        assert ask(gtp, "play b c3", "boardsize 5") == ["", ""]
        assert not gtp.game.position.board.any()
        assert ask(gtp, "boardsize 5 5") == [""]  # as KataGo's rectangle

    def test_boardsize_without_one(self, capsys: pytest.CaptureFixture) -> None:
        gtp = GoEngine(GoEnv(5), None, 4)
        assert capsys.readouterr().err == ("alphago gtp: no model was given: playing with a search without a network\n")
        for size in (2, 7, 9):
            assert ask(gtp, f"boardsize {size}", "play b a1", "genmove w")[1] == ""
            assert gtp.game.position.board.shape == (size, size)
        assert ask(gtp, "boardsize 1", "boardsize 26") == ["? unacceptable size"] * 2
        assert gtp.game.env.N == 9

    def test_surplus_arguments_are_ignored(self) -> None:
        assert ask(engine(), "boardsize 5 x", "komi 5 x", "play b c3 d4", "name x") == ["", "", "", "alphago"]

    def test_komi_holds_from_then_on(self) -> None:
        gtp = GoEngine(GoEnv(5), None, 0)
        assert ask(gtp, "final_score") == ["W+7.5"]
        assert ask(gtp, "play b c3", "komi 0.5", "final_score") == ["", "", "B+24.5"]
        assert gtp.game.position.moves_text() == "B C3"
        assert ask(gtp, "clear_board", "final_score", "boardsize 7", "final_score") == ["", "W+0.5", "", "W+0.5"]

    def test_komi_that_was_given(self) -> None:
        """It holds for every board, also where it is the usual one of the first."""
        gtp = GoEngine(GoEnv(5, komi=7.5), None, 0, komi=7.5)
        assert GoEnv(5).komi == 7.5
        commands = ("boardsize 7", "final_score", "komi 1", "boardsize 5", "final_score")
        assert ask(gtp, *commands) == ["", "W+7.5", "", "", "W+1"]


class TestPlay:
    def test_colours_and_points_in_any_case(self) -> None:
        gtp = engine()
        assert ask(gtp, "play b c3", "play WHITE D3", "play Black pass", "play w PASS") == [""] * 4
        assert gtp.game.position.moves_text() == "B C3, W D3, B pass, W pass"

    def test_illegal_moves(self, capsys: pytest.CaptureFixture) -> None:
        gtp = engine()
        assert ask(gtp, "play b c3", "play w c3") == ["", "? illegal move"]
        assert ask(gtp, "play b a2", "play b b1", "play w a1") == ["", "", "? illegal move"]
        told = capsys.readouterr().err.splitlines()
        assert told[0].startswith("alphago gtp: illegal move C3: Black has a stone there, in GoEnv(5")
        assert "illegal move A1: suicide" in told[1]
        assert gtp.game.position.moves_text() == "B C3, B A2, B B1"

    def test_undo(self) -> None:
        gtp = engine()
        ask(gtp, "play b c3", "play w d3", "genmove b", "play w pass")
        assert ask(gtp, "undo", "undo", "undo", "undo", "undo") == [""] * 4 + ["? cannot undo"]
        assert gtp.game.position.moves == ()
        assert ask(gtp, "play w c3", "clear_board", "undo") == ["", "", "? cannot undo"]

    @pytest.mark.parametrize(
        ("komi", "moves", "score"),
        [
            *(("7", "", "W+7"), ("9", "b b2", "0"), ("6.5", "b b2", "B+2.5"), ("9.5", "b b2", "W+0.5")),
            *(("-2", "", "B+2"), (".5", "", "W+0.5"), ("1e2", "", "W+100"), ("0", "b b2", "B+9")),
        ],
    )
    def test_komi_and_final_score(self, komi: str, moves: str, score: str) -> None:
        gtp = engine(3)
        ask(gtp, f"komi {komi}", *([f"play {moves}"] if moves else []))
        assert ask(gtp, "final_score") == [score]


SIMPLE = "koSIMPLEscoreAREAtaxNONEsui0"


class TestRules:
    def test_they_are_told(self) -> None:
        rules = {"hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE"}
        assert json.loads(ask(engine(), "kata-get-rules")[0]) == {**rules, "whiteHandicapBonus": "0"}
        game = GoEngine(GoEnv(5, ko="simple", suicide=True), UniformEvaluator(), 0)
        told = ask(game, "kata-get-rules")[0]
        assert json.loads(told)["ko"] == "SIMPLE"
        assert ask(game, f"kata-set-rules {told}", "kata-get-rules", "kata-set-rules {}") == ["", told, ""]
        given = '{"hasButton":false,"ko":"SIMPLE", "scoring":"AREA","suicide":true,"tax":"SEKI"}'
        assert ask(game, f"kata-set-rules {given}", "kata-get-rules")[1] == told  # no tax is counted

    def test_they_are_taken_and_stay(self) -> None:
        """Sending two and returning one is legal under simple and situational ko."""
        gtp = engine()
        moves = [f"play {move}" for move in SEND_TWO.split(", ")]
        for rules, last in (("aga", ""), ("chinese", "? illegal move"), (SIMPLE, ""), ("new_zealand", "")):
            assert ask(gtp, "clear_board", f"kgs-rules {rules}", *moves)[-1] == last
        assert ask(gtp, "clear_board", *moves)[-1] == ""

    def test_during_a_game(self) -> None:
        """The game goes on, unless it would have been illegal; then nothing changes."""
        gtp = engine()
        assert ask(gtp, f"kata-set-rules {SIMPLE}", *[f"play {move}" for move in SEND_TWO.split(", ")])[-1] == ""
        before = draw(gtp.game.position)
        assert ask(gtp, "kata-set-rules chinese") == ["? the game is illegal under these rules"]
        assert ask(gtp, "kata-set-rules aga") == [""]
        assert draw(gtp.game.position) == before
        assert json.loads(ask(gtp, "kata-get-rules")[0])["ko"] == "SITUATIONAL"


class TestHandicap:
    def test_fixed(self) -> None:
        gtp = engine(9)
        assert ask(gtp, "fixed_handicap 3") == ["C3 G7 C7"]
        assert gtp.game.position.to_play == WHITE
        assert draw(gtp.game.position).count("X") == 3
        assert ask(gtp, "play w E5", "undo", "genmove w")[:2] == ["", ""]
        assert gtp.game.position.board[2, 2] == BLACK
        assert ask(gtp, "fixed_handicap 2") == ["? board not empty"]
        ask(gtp, "clear_board")
        assert not gtp.game.position.board.any()

    def test_free(self) -> None:
        gtp = engine(9)
        assert ask(engine(5), "place_free_handicap 2") == ["? invalid number of stones"]  # there are no places
        assert ask(gtp, "place_free_handicap 12") == ["C3 G7 C7 G3 C5 G5 E7 E3 E5"]
        assert ask(gtp, "clear_board", "set_free_handicap A1 b2 J9") == ["", ""]
        assert gtp.game.position.setup == {"black": "J9 B2 A1", "to_play": "white", "komi": 0.5}
        assert ask(gtp, "play b C3", "play w D4") == ["", ""]  # Black out of turn
        assert draw(gtp.game.position).count("X") == 4
        assert ask(gtp, "clear_board", "final_score", "komi 7.5") == ["", "W+7.5", ""]
        assert ask(gtp, "fixed_handicap 2", "play w E5", "final_score")[2] == "W+6.5"  # as the controller says

    @pytest.mark.parametrize("readouts", [0, 8])
    def test_nobody_resigns_for_it(self, readouts: int) -> None:
        """What was measured in even games says nothing here; what the command line says holds everywhere."""
        network = prefers("C3", "D3", value=1.0)  # Black wins
        network.resign_threshold = -0.75
        gtp = engine(9, network, readouts)
        assert turns_until_resignation(gtp) == 33
        ask(gtp, "clear_board", "fixed_handicap 2")
        assert turns_until_resignation(gtp, 38) is None
        gtp = engine(9, network, readouts, resign_threshold=-0.9)
        ask(gtp, "fixed_handicap 2")
        assert turns_until_resignation(gtp) == 34

    @pytest.mark.parametrize(
        ("lines", "told"),
        [
            ("kata-set-rules chinese, fixed_handicap 2", 1),
            ("kgs-rules aga, play b C3, play b G7, play w E5", 1),
            ("set_free_handicap C3 G7, kgs-rules chinese", 1),
            ("kata-set-rules tromp-taylor, fixed_handicap 2", 0),
            ("fixed_handicap 2", 0),
            ("kgs-rules chinese, play b C3, play w G7, play b E5", 0),
        ],
    )
    def test_rules_that_would_give_white_points_are_told(
        self, lines: str, told: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As in the JSON protocol; programs read of it on standard error."""
        assert not any(reply.startswith("?") for reply in ask(engine(9), *lines.split(", ")))
        assert capsys.readouterr().err.count(f"alphago gtp: {NO_BONUS}") == told


class TestGenmove:
    def test_at_random(self) -> None:
        """Every legal action equally often, on any board, and the same ones from the same seed."""
        moves = []
        for seed in (1, 1, 2):
            game = engine(network="random", seed=seed)
            assert ask(game, "boardsize 3") == [""]
            moves.append(" ".join(ask(game, *["genmove b", "genmove w"] * 4)))
        assert moves[0] == moves[1] != moves[2]
        game = engine(2, "random", seed=1)
        counts = Counter(ask(game, *["clear_board", "genmove b"] * 500)[1::2])
        assert set(counts) == {"A1", "A2", "B1", "B2", "pass"}
        assert min(counts.values()) > 50

    @pytest.mark.parametrize(("threshold", "raises"), [(None, True), (-1.0, False)])
    def test_a_broken_note_on_resigning(self, threshold: float | None, raises: bool) -> None:
        """It ends the start, and not a game, unless the controller says when to resign."""
        net = NeuralNet(GoEnv(3), tower_height=0, channels=4)
        net.notes = {"resign_threshold": "nan"}
        with pytest.raises(ModelError, match="resign_threshold") if raises else contextlib.nullcontext():
            GoEngine(GoEnv(3), net, 2, resign_threshold=threshold)

    def test_the_tree_is_kept(self) -> None:
        gtp = engine(network=HashEvaluator(), readouts=40)
        ask(gtp, "genmove b", "play w a5", "genmove b")
        before, _ = list(gtp.game.position.turns())[-1]
        assert gtp.look(before).root_visits[0] > 40

    def test_raw_policy(self) -> None:
        """No search: the most probable legal action; Black, who has lost, passes."""
        gtp = engine(network=prefers("C3", "D3", "pass", value=-1.0), readouts=0)
        assert ask(gtp, "genmove b", "genmove w", "genmove b") == ["C3", "D3", "pass"]

    def test_resign(self) -> None:
        for readouts in (0, 8):
            lost = engine(network=prefers("C3", value=-1.0), readouts=readouts, resign_threshold=-0.9)
            assert turns_until_resignation(lost) == len(lost.game.plays) == 10
            assert ask(lost, "genmove w") != ["resign"]  # White has won
            stubborn = engine(network=prefers("C3", value=-1.0), readouts=readouts)
            assert turns_until_resignation(stubborn, 12) is None

    def test_readouts(self) -> None:
        with pytest.raises(ValueError, match=r"readouts must be an integer .*, got -1"):
            engine(readouts=-1)
