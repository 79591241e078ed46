"""GTP's Go commands, as a controller sees them."""

import contextlib
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from alphago import GoEnv, NeuralNet
from alphago.env.go_rules import NO_BONUS
from alphago.mcts.evaluator import UniformEvaluator
from alphago.nn.model_files import ModelError
from alphago.ui.gtp.game_commands import GoEngine
from tests.networks import prefers
from tests.ui.gtp.engine import ask, converses, engine, turns_until_resignation

# Black takes nothing back but what White took: the third move repeats the board, with White to play.
SEND_TWO = "play b B5; play w A4; play b D5; play w B4; play b C4; play w E1; play b A5; play w C5; play b B5"
SIMPLE = "koSIMPLEscoreAREAtaxNONEsui0"
SIZES = """boardsize 2; play b a1; genmove w = *; boardsize 9; play b j9; boardsize 1 = ? unacceptable size
boardsize 26 = ? unacceptable size; boardsize 9 9; play b j9; boardsize 9 x; play b j9; play w j9 = ? illegal move"""
SCORES = """komi 7; final_score = W+7; komi -2; final_score = B+2; komi .5; final_score = W+0.5; komi 1e2
final_score = W+100; play b b2; komi 9; final_score = 0; komi 6.5; final_score = B+2.5; komi 9.5; final_score = W+0.5
komi 0; final_score = B+9"""
FIXED = """fixed_handicap 3 = C3 G7 C7; play w E5; undo; genmove w = *; play b C7 = ? illegal move
fixed_handicap 2 = ? board not empty; clear_board; final_score = W+7.5; place_free_handicap 12 = *; clear_board
fixed_handicap 2 = *; play w E5; final_score = B+0.5; clear_board; komi 7.5; fixed_handicap 2 = *; play w E5
final_score = W+6.5"""
FREE = """place_free_handicap 12 = C3 G7 C7 G3 C5 G5 E7 E3 E5; clear_board; set_free_handicap A1 b2 J9
play b C3; play w D4; moves = B C3, W D4; boardsize 5; place_free_handicap 2 = ? invalid number of stones"""


@pytest.mark.parametrize(
    ("size", "options", "dialogue"),
    [
        (5, {}, SIZES),
        (5, {}, "komi 5 x; play b c3 d4; moves = B C3; name x = alphago"),  # surplus arguments are ignored
        (5, {}, "final_score = W+7.5; play b c3; komi 0.5; final_score = B+24.5; moves = B C3; clear_board"),
        (5, {}, "komi 0.5; clear_board; final_score = W+0.5; boardsize 7; final_score = W+0.5"),
        # A komi that is given holds for every board, also where it is the usual one of the first.
        (5, {"komi": 7.5}, "boardsize 7; final_score = W+7.5; komi 1; boardsize 5; final_score = W+1"),
        (3, {}, SCORES),
        (5, {}, "play b c3; play WHITE D3; play Black pass; play w PASS; moves = B C3, W D3, B pass, W pass"),
        (5, {}, "play b c3; genmove w = *; play b pass; undo; undo; undo; undo = ? cannot undo; moves = "),
        (5, {}, "play w c3; clear_board; undo = ? cannot undo; moves = "),
        # Stones of one colour, and passes of one, which end no game.
        (5, {}, "play w c3; play w d3; play w d2; play b c2; moves = W C3, W D3, W D2, B C2"),
        (5, {}, "play b c3; play b pass; play b pass; play w d4; moves = B C3, B pass, B pass, W D4"),
        (9, {}, FIXED),
        (9, {}, FREE),
        # Rules stay: sending two and returning one is legal under simple and situational ko.
        *(
            (5, {}, f"kgs-rules {rules}; clear_board; {SEND_TWO}{reply}")
            for rules, reply in (("aga", ""), ("chinese", " = ? illegal move"), (SIMPLE, ""), ("new_zealand", ""))
        ),
        # During a game they change unless it would have been illegal; then nothing does.
        (5, {}, f"kgs-rules {SIMPLE}; {SEND_TWO}; kgs-rules chinese = ? the game is illegal under these rules"),
        (5, {}, f"kgs-rules {SIMPLE}; {SEND_TWO}; kata-set-rules aga; undo; play b B5"),
    ],
)
def test_dialogues(size: int, options: dict[str, Any], dialogue: str) -> None:
    converses(GoEngine(GoEnv(size), None, 4, **options), *dialogue.split("\n"))


def test_a_handicap_is_set_up() -> None:
    gtp = engine(9)
    converses(gtp, "set_free_handicap A1 b2 J9")
    assert gtp.game.position.setup == {"black": "J9 B2 A1", "to_play": "white", "komi": 0.5}


def test_an_engine_without_a_network_says_so(capsys: pytest.CaptureFixture) -> None:
    GoEngine(GoEnv(5), None, 4)
    assert capsys.readouterr().err == "alphago gtp: no model was given: playing with a search without a network\n"


def test_illegal_moves(capsys: pytest.CaptureFixture) -> None:
    gtp = engine()
    converses(gtp, "play b c3; play w c3 = ? illegal move; play b a2; play b b1; play w a1 = ? illegal move")
    converses(gtp, "moves = B C3, B A2, B B1")
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("alphago gtp: illegal move C3: Black has a stone there, in GoEnv(5")
    assert "illegal move A1: suicide" in told[1]


def test_rules_are_told() -> None:
    rules = {"hasButton": False, "ko": "POSITIONAL", "scoring": "AREA", "suicide": False, "tax": "NONE"}
    assert json.loads(ask(engine(), "kata-get-rules")[0]) == {**rules, "whiteHandicapBonus": "0"}
    game = GoEngine(GoEnv(5, ko="simple", suicide=True), UniformEvaluator(), 0)
    told = ask(game, "kata-get-rules")[0]
    assert json.loads(told)["ko"] == "SIMPLE"
    assert ask(game, f"kata-set-rules {told}", "kata-get-rules", "kata-set-rules {}") == ["", told, ""]
    given = '{"hasButton":false,"ko":"SIMPLE", "scoring":"AREA","suicide":true,"tax":"SEKI"}'
    assert ask(game, f"kata-set-rules {given}", "kata-get-rules")[1] == told  # no tax is counted


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
def test_rules_that_would_give_white_points_are_told(lines: str, told: int, capsys: pytest.CaptureFixture[str]) -> None:
    """As in the JSON protocol; programs read of it on standard error."""
    assert not any(reply.startswith("?") for reply in ask(engine(9), *lines.split(", ")))
    assert capsys.readouterr().err.count(f"alphago gtp: {NO_BONUS}") == told


def test_moves_at_random() -> None:
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
def test_a_broken_note_on_resigning(threshold: float | None, raises: bool) -> None:
    """It ends the start, and not a game, unless the controller says when to resign."""
    net = NeuralNet(GoEnv(3), tower_height=0, channels=4)
    net.notes = {"resign_threshold": "nan"}
    with pytest.raises(ModelError, match="resign_threshold") if raises else contextlib.nullcontext():
        GoEngine(GoEnv(3), net, 2, resign_threshold=threshold)


def test_raw_policy() -> None:
    """No search: the most probable legal action; Black, who has lost, passes.  Games go on after two passes."""
    converses(
        engine(network=prefers("C3", "D3", "pass", value=-1.0), readouts=0),
        "genmove b = C3; genmove w = D3; genmove b = pass; play w pass; genmove b = pass; genmove w = pass",
        "play b a1; genmove w = *; final_score = *",
    )


@pytest.mark.parametrize("readouts", [0, 8])
def test_resign(readouts: int) -> None:
    """Below the controller's threshold in any game, below the network's in games like those it was measured in."""
    lost = prefers("C3", value=-1.0)  # White has won
    gtp = engine(network=lost, readouts=readouts, resign_threshold=-0.9)
    assert turns_until_resignation(gtp) == len(gtp.game.plays) == 10
    assert ask(gtp, "genmove w") != ["resign"]
    assert ask(gtp, "reg_genmove b") != ["resign"]  # which only names a move, and plays none
    assert len(gtp.game.plays) == 11
    assert turns_until_resignation(engine(network=lost, readouts=readouts), 12) is None
    lost.resign_threshold = -0.75
    gtp = engine(network=lost, readouts=readouts)
    for begin, turns in (("play b D4", 9), ("set_free_handicap B2 D4", None)):
        ask(gtp, "clear_board", begin)
        assert turns_until_resignation(gtp, 14) == turns


def test_readouts() -> None:
    with pytest.raises(ValueError, match=r"readouts must be an integer .*, got -1"):
        engine(readouts=-1)


# What is refused on a board of 9x9: the failure, which may go on, and commands.
REFUSED = """
unacceptable size <- boardsize 7; boardsize 0; boardsize -5; boardsize 9 7
syntax error <- boardsize; boardsize x; boardsize 9.0; genmove; play; play b; fixed_handicap; kgs-rules
syntax error <- komi; komi x; komi nan; komi inf; komi 1_0; komi 5,5; komi 0x1; kata-set-param maxVisits
syntax error <- time_settings 1 2; time_settings 1 2 x; time_settings -1 0 0; time_settings 1.5 0 0; lz-analyze 1e999
syntax error <- time_left b 5; time_left b x 0; time_left b 1 x; kgs-time_settings byoyomi 1; kgs-time_settings later 1
komi must be a multiple of 0.5 from -1000 to 1000, got 6.25 <- komi 6.25
unknown command <- undo_; 1name
this is GTP, the Go Text Protocol; `alphago analysis` speaks JSON <- {"id":"a","action":"query_version"}
cannot undo <- undo
invalid color or coordinate <- play x c3; play b i3; play b z9; play b k1; play b a0; play b a10; play b 33; play b c33
invalid color or coordinate <- play b resign; time_left x 1 0; genmove x
unknown rules <- kgs-rules mine; kata-set-rules 7; kata-set-rules {"ko":"NONE"}; kata-set-rules {ko
rules must <- kata-set-rules japanese; kata-set-rules Korean; kata-set-rules koSIMPLEscoreTERRITORYtaxSEKIsui0
rules must <- kata-set-rules {"scoring": "TERRITORY"}; kata-set-rules {"hasButton": true}
invalid number of stones <- fixed_handicap 1; fixed_handicap 10; place_free_handicap 1
bad vertex list <- set_free_handicap A1; set_free_handicap A1 A1; set_free_handicap A1 pass; set_free_handicap A1 K9
the status must be one of alive, dead, seki, got lost <- final_status_list lost
cannot load file <- loadsgf no/where.sgf
cannot save file <- printsgf no/where.sgf
unknown key noResultValue <- kata-analyze 1 noResultValue true
unknown key nonsense <- kata-analyze nonsense
unknown key -1 <- kata-analyze -1
unknown key ownership <- lz-analyze 1 ownership true
ownership must be true or false, got maybe <- kata-analyze 1 ownership maybe
ownership needs a value <- kata-analyze 1 ownership
minmoves must be at least 0, got -1 <- kata-analyze 1 minmoves -1
interval must be at least 0, got -1 <- kata-analyze interval -1
avoid needs a player, vertices and a depth <- kata-analyze 1 avoid B D4
avoid needs vertices such as D4,Q16, got Z9 <- kata-analyze 1 avoid B Z9 1
avoid needs a depth >= 1, got 0 <- kata-analyze 1 avoid B D4 0
allow must be given once for a player, and without avoid <- kata-analyze 1 avoid B D4 1 allow B D4 1
allow must be given once for a player, and without avoid <- kata-analyze b 1 allow B C3,C3 1 allow B D4 1
no legal move is left to analyse <- kata-analyze 1 allow B , 1; kata-genmove_analyze w 1 allow W , 1
the symmetry must be 0 to 7 or all, got 8 <- kata-raw-nn 8
unknown parameter nothing <- kata-get-param nothing
level must be a number from 1 to 10, or 'even', got '11' <- kata-set-param level 11
maxVisits must be an integer from 0 <- kata-set-param maxVisits -1
cpuctExploration must be a number from 0 to 1e+09, got 1e+90 <- kata-set-param cpuctExploration 1e90
maxTime must be a number > 0 <- kata-set-param maxTime 0
the value must be true or false <- kata-set-param ponderingEnabled perhaps
reportAnalysisWinratesAs must be one of <- kata-set-param reportAnalysisWinratesAs RED
playoutDoublingAdvantage must be 0 <- kata-set-param playoutDoublingAdvantage 1
"""
ENGINE = engine(9)


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_is_refused(line: str) -> None:
    """The reply is the failure, and the game is as it was."""
    failure, _, commands = line.partition(" <- ")
    game = ENGINE.game
    before = game.env, game.position, game.komi, replace(ENGINE.parameters)
    for command in commands.split("; "):
        assert ask(ENGINE, command)[0].startswith(f"? {failure}"), command
        assert (game.env, game.position, game.komi, ENGINE.parameters) == before
        assert ENGINE.game is game
