"""GTP's analysis, as clients read it: Sabaki's, LizGoban's and Lizzie's rules are applied to each line."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from alphago import GoEnv, NeuralNet, Position
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.opponent import StrengthEstimator
from alphago.ui.gtp.game_commands import GoEngine
from tests.diagrams import draw
from tests.networks import prefers
from tests.ui.gtp.engine import Controller, ask, converses, engine
from tests.ui.own_games import OwnedByBlack


@pytest.fixture
def gtp(net: NeuralNet) -> GoEngine:
    return GoEngine(GoEnv(5), net, 24, device="cpu")


@pytest.fixture
def black_owns() -> GoEngine:
    return GoEngine(GoEnv(5), OwnedByBlack(), 4, device="cpu")


@pytest.fixture
def controller(gtp: GoEngine) -> Iterator[Controller]:
    made = Controller(gtp)
    yield made
    made.end()


def moves_of(line: str) -> list[dict[str, list[str]]]:
    """Return the fields of each `info` of a line; a field's values are the words up to the next name."""
    infos = re.split(r"\binfo\b", re.split(r"\b(?:rootInfo|ownership|ownershipStdev)\b", line)[0])[1:]
    field = re.compile(r"(?!pass\b)\b([a-z]\w*)((?: (?:pass\b|[^a-z\s]\S*))*)")
    return [{name: words.split() for name, words in field.findall(info)} for info in infos]


def numbers_after(line: str, name: str) -> list[float]:
    return [float(word) for word in re.search(rf"\b{name}((?: -?\d\S*)+)", line)[1].split()]


def test_kata_analyze(controller: Controller) -> None:
    """Every field that a client reads, and the line of play last, since Sabaki reads to the end of it."""
    controller.ask("play b C3")
    line = controller.analyse("kata-analyze w 1")
    for order, move in enumerate(moves_of(line)):
        assert list(move)[-1] == "pv"
        assert move["order"] == [str(order)]
        assert move["pv"][0] == move["move"][0]
        assert 0 <= float(move["prior"][0]) <= 1
        assert float(move["lcb"][0]) <= float(move["winrate"][0])
        for name in ("scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay", "utility", "utilityLcb", "weight"):
            float(move[name][0])
        assert move["visits"] == move["edgeVisits"]
    visits = [int(move["visits"][0]) for move in moves_of(line)]
    assert visits == sorted(visits, reverse=True)
    assert sum(visits) > 0


def test_lz_analyze(controller: Controller) -> None:
    """Leela Zero's integers of ten thousandths, in its order."""
    line = controller.analyse("lz-analyze 1")
    number = r"-?\d+"
    form = rf"info move \S+ visits {number} winrate {number} prior {number} lcb {number} order \d+ pv( \S+)+?"
    assert re.fullmatch(rf"{form}( {form})*", line)
    assert all(0 <= int(move["winrate"][0]) <= 10_000 for move in moves_of(line))


def test_everything_else_that_kata_analyze_may_be_asked_for(controller: Controller) -> None:
    flags = "ownership ownershipStdev movesOwnership movesOwnershipStdev pvVisits pvEdgeVisits rootInfo"
    line = controller.analyse("kata-analyze interval 1 " + " ".join(f"{flag} true" for flag in flags.split()))
    for name in ("ownership", "ownershipStdev"):
        values = numbers_after(line, name)
        assert len(values) == 25
        assert np.abs(values).max() <= 1
    for move in moves_of(line):
        assert len(move["pvVisits"]) == len(move["pv"]) == len(move["pvEdgeVisits"])
        assert move["pvVisits"][0] == move["visits"][0]
        assert len(move["movesOwnership"]) == len(move["movesOwnershipStdev"]) == 25
        assert list(move)[list(move).index("pv") :][:2] == ["pv", "pvVisits"]  # LizzieYzy
    root = re.search(r"rootInfo visits (\d+) utility (\S+) winrate (\S+) scoreMean (\S+)", line)
    assert int(root[1]) == 1 + sum(int(move["visits"][0]) for move in moves_of(line))


def test_how_many_moves_are_reported(gtp: GoEngine, controller: Controller) -> None:
    line = controller.analyse("kata-analyze 1 minmoves 26")
    assert len(moves_of(line)) == 26
    assert {move["move"][0] for move in moves_of(line)} == set(gtp.game.env.action_names)
    assert len(moves_of(controller.analyse("lz-analyze 1 maxmoves 2"))) <= 2


def test_whose_view(black_owns: GoEngine) -> None:
    """The side to move's unless `reportAnalysisWinratesAs` says otherwise."""
    controller = Controller(black_owns)
    for side, owner in (("BLACK", 1), ("SIDETOMOVE", -1), ("WHITE", -1)):
        controller.ask(f"kata-set-param reportAnalysisWinratesAs {side}")
        line = controller.analyse("kata-analyze w 1 ownership true")
        assert np.mean(numbers_after(line, "ownership")) * owner > 0
        controller.stop("name")
        assert controller.rest() == ["= alphago"]
    controller.end()


def test_avoid_and_allow(controller: Controller) -> None:
    line = controller.analyse("kata-analyze b 1 allow B A1,B2,pass 1")
    assert {move["move"][0] for move in moves_of(line)} <= {"A1", "B2", "pass"}
    line = controller.analyse("lz-analyze b 1 avoid B A1,B2 2 avoid W C3 1")
    assert not {move["move"][0] for move in moves_of(line)} & {"A1", "B2"}
    line = controller.analyse("kata-analyze b 1 allow B A1,B2 1 allow W A1,B2 1")  # as LizGoban shows a region
    assert {move["move"][0] for move in moves_of(line)} <= {"A1", "B2"}


@pytest.mark.parametrize("command", ["name", "play b A1", "", "# a comment", "kata-analyze 1", "genmove b"])
def test_the_next_line_interrupts_an_analysis(controller: Controller, command: str) -> None:
    """An endless analysis ends with an empty line, and the next command is answered."""
    controller.analyse("kata-analyze 1")
    if command.startswith("kata"):
        assert controller.analyse(command).startswith("info")
        command = "name"
    controller.stop(command)
    if command and command[0] != "#":
        assert controller.rest()[0].startswith("=")
    assert controller.ask("3 name") == "3 alphago"


def test_without_an_interval_it_only_searches(controller: Controller) -> None:
    controller.send("kata-analyze b")
    assert controller.line() == "="
    controller.send("name")
    assert (controller.rest(), controller.rest()) == ([], ["= alphago"])


def test_the_end_of_input_ends_an_analysis(gtp: GoEngine) -> None:
    assert ask(gtp, "lz-analyze") == ["="]


def test_it_may_be_called_katago() -> None:
    """Lizzie asks KataGo's questions of an engine of this name, LizzieYzy those of its version."""
    assert ask(engine(name="KataGo", version="1.16.4"), "name", "version") == ["KataGo", "1.16.4"]


@pytest.mark.parametrize("dialect", ["lz", "kata"])
def test_genmove_analyze_moves(gtp: GoEngine, dialect: str) -> None:
    """It is not interrupted: the next command is answered after the move."""
    reply, name = ask(gtp, f"{dialect}-genmove_analyze b 1", "name")
    lines = reply.splitlines()
    assert lines[0] == "="
    assert lines[1:-1]
    assert all(line.startswith("info move") for line in lines[1:-1])
    word, move = lines[-1].split()
    assert (word, name) == ("play", "alphago")
    assert gtp.game.position.moves_text() == f"B {move}"


def test_genmove_analyze_resigns() -> None:
    gtp = engine(network=prefers("C3", value=-1.0), resign_threshold=-0.9)
    ask(gtp, *["genmove b", "genmove w"] * 5)
    assert ask(gtp, "kata-genmove_analyze b 1")[0].splitlines()[-1] == "play resign"
    assert len(gtp.game.plays) == 10
    ask(gtp, "kata-set-param allowResignation false")
    assert ask(gtp, "kata-genmove_analyze b 1")[0].splitlines()[-1] != "play resign"


def test_raw_network(gtp: GoEngine, net: NeuralNet) -> None:
    """The network's numbers from White's view, in each symmetry."""
    ask(gtp, "play b C3")
    text = ask(gtp, "kata-raw-nn 0")[0]
    position = GoEnv(5).position().play("C3")
    policy, black = net(position)
    forecast = net.forecast(position)
    assert float(re.search(r"whiteWin (\S+)", text)[1]) == pytest.approx((1 - black) / 2, abs=0.05)
    assert float(re.search(r"whiteLead (\S+)", text)[1]) == pytest.approx(-forecast.score, abs=0.5)
    told = re.search(r"policy\n(.*)\npolicyPass (\S+)\nwhiteOwnership\n(.*)", text, re.DOTALL)
    priors = [float(word) for word in told[1].split()]
    assert np.isnan(priors[12])
    assert np.nan_to_num(priors) == pytest.approx(policy[:-1], abs=0.05)
    assert -np.array(told[3].split(), float) == pytest.approx(forecast.ownership.ravel(), abs=0.1)
    assert [int(word) for word in re.findall(r"symmetry (\d)", ask(gtp, "kata-raw-nn w all")[0])] == list(range(8))
    assert ask(gtp, "kata-raw-nn b 0")[0] != text


def test_parameters_are_read_and_set(gtp: GoEngine) -> None:
    for name in ask(gtp, "kata-list-params")[0].split():
        value = ask(gtp, f"kata-get-param {name}")[0]
        assert ask(gtp, f"kata-set-param {name} {value}", f"kata-get-param {name}") == ["", value]
    assert ask(gtp, "kata-set-param maxVisits 7", "kata-get-param maxVisits") == ["", "7"]
    ask(gtp, "genmove b")
    assert gtp.kept_analysis(GoEnv(5).position()).root_visits[0] <= 8
    ask(gtp, "kata-set-param cpuctExploration 2.5")
    assert gtp.analyst.settings.c_puct == 2.5


def test_levels(gtp: GoEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(gtp, "kata-get-param level") == ["10"]
    for level in ("2.5", "even"):
        assert ask(gtp, f"kata-set-param level {level}", "kata-get-param level") == ["", level]
    ask(gtp, "play b c3", "play w b2", "play b d2", "play w b4")
    for command in ("genmove b", "lz-genmove_analyze b avoid b A1 1"):
        gtp.game.env.from_text(ask(gtp, command, "undo")[0].split("play ")[-1])
        assert re.search(r"You have made 2 of 5 moves .*: level [\d.]+\.", capsys.readouterr().err)
    assert GoEngine(GoEnv(5), None, 8, level=3, device="cpu").parameters.level == 3


def test_the_clock_bounds_a_level_that_joins_a_game(gtp: GoEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def losses_by(estimator: StrengthEstimator, action: int, before: Position) -> np.ndarray:
        searched.append(action)
        time.sleep(0.2)
        return estimator.usual_losses

    monkeypatch.setattr(StrengthEstimator, "losses_by", losses_by)
    moves = ("b c3", "w b2", "b d2", "w b4", "b d4", "w a1", "b e5", "w a5")
    ask(gtp, "kata-set-param level even", "time_settings 0 1 1", *(f"play {move}" for move in moves), "genmove b")
    assert len(searched) <= 2


def test_the_tree_grows_while_the_opponent_thinks() -> None:
    gtp = engine(5, HashEvaluator(), 8, ponder=True)
    ask(gtp, "genmove b")
    position = gtp.game.position_for(-1)
    found, begin = gtp.kept_analysis(position), time.monotonic()
    while found.root_visits[0] <= 400 and time.monotonic() - begin < 60:
        controller = Controller(gtp)
        controller.ask("name")
        controller.thread.join(0.1)  # it ponders
        controller.end()
        found = gtp.kept_analysis(position)
    assert found.root_visits[0] > 400
    ask(gtp, f"play w {gtp.game.env.to_text(found.best())}", "genmove b")
    position = position.play(found.best())
    assert gtp.kept_analysis(position).root_visits[0] > 20
    ask(gtp, "clear_cache")
    assert gtp.kept_analysis(position).root_visits[0] == 1


# A file, the number of the first move that is not loaded, the reply or else the moves, and what is told.
# A file that is cut off is loaded; one with an illegal move only before it; a doubtful position never.
FAULTY = """
(;GM[1]SZ[5];B[aa];W[bb];B[c |  | B A5, W B4 | the file ends within the game
(;GM[1]SZ[5];B[aa];W[bb];B[bb];W[cc]) |  | ? cannot load file | Black B4, is illegal
(;GM[1]SZ[5];B[aa];W[bb];B[bb];W[cc]) | 4 | ? cannot load file | Black B4, is illegal
(;GM[1]SZ[5];B[aa];W[bb];B[bb];W[cc]) | 3 | B A5, W B4 | Black B4, is illegal
(;GM[1]SZ[5];B[aa];AW[cc];W[bb]) |  | ? cannot load file | set
(;GM[1]SZ[5];B[aa];AW[cc];W[bb]) | 2 | ? cannot load file | set
(;GM[1]SZ[5];B[aa])(;GM[1]SZ[5];B[bb]) |  | B A5 | several games
(;SZ[5]HA[分先]KM[6.5];B[aa];W[bb]) |  | B A5, W B4 | must be a number of stones, got '分先'
(;SZ[5]HA[three]AB[cc];W[bb]) |  | W B4 | the handicap must be a number of stones, got 'three'
(;SZ[5]HA[three];W[bb]) |  | ? cannot load file | got 'three'
(;SZ[5:3];B[aa]) |  | ? cannot load file: unacceptable size | must be a square one, got '5:3'
(;SZ[5];B[A5];W[pass]) |  | B A5, W pass | got B[A5], which is read as people write it
(;SZ[5]CA[Big5]PB[\xff\xff];B[aa]) |  | B A5 | as CA says, but is not
"""


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_game_comes_back(tmp_path: Path, quote: str) -> None:
    """Names may have spaces, and stand between quotes."""
    gtp, file = engine(5), tmp_path / "my games" / "game 1.sgf"
    file.parent.mkdir()
    path = f"{quote}{file}{quote}"
    ask(gtp, "komi 3.5", "set_free_handicap A1 B2", "play w C3", "play b D4", "play w pass", "play w D2")
    before, text = draw(gtp.game.position), ask(gtp, "printsgf")[0]
    assert ask(gtp, f"printsgf {path}", "clear_board", "komi 7.5", f"loadsgf {path}") == [""] * 4
    assert [name.name for name in file.parent.iterdir()] == [file.name]
    assert (draw(gtp.game.position), gtp.game.position.komi) == (before, 3.5)
    assert ask(gtp, "printsgf")[0] == text == file.read_text().strip()
    ask(gtp, f"loadsgf {path} 2")
    assert gtp.game.position.moves_text() == "W C3"
    assert ask(gtp, "undo", "undo") == ["", "? cannot undo"]


def test_size_and_rules_are_the_files(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[7]KM[6.5]RU[AGA]AB[aa]AW[bb];B[cc])")
    gtp = GoEngine(GoEnv(5), None, 4)
    assert ask(gtp, f"loadsgf {path}") == [""]
    assert (gtp.game.env.N, gtp.game.env.ko, gtp.game.position.komi) == (7, "situational", 6.5)
    assert ask(gtp, "genmove w")[0] != "resign"
    fixed = GoEngine(GoEnv(5), NeuralNet(GoEnv(5), size_free=False, tower_height=0, channels=4), 0)
    assert ask(fixed, f"loadsgf {path}") == ["? cannot load file: unacceptable size"]


@pytest.mark.parametrize("name", ["game.txt", "game", "letter.sgf", "folder.sgf", "device.sgf"])
def test_what_a_client_must_not_replace(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "game.txt").write_text("(;GM[1])")
    (tmp_path / "letter.sgf").write_text("Dear Sir (; or Madam)")
    (tmp_path / "folder.sgf").mkdir()
    (tmp_path / "device.sgf").symlink_to("/dev/null")
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()}
    assert ask(engine(5), f"printsgf {tmp_path / name}") == ["? cannot save file"]
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert name in capsys.readouterr().err


def test_a_game_may_replace_a_game(tmp_path: Path) -> None:
    path = tmp_path / "game.SGF"
    for text in (b"", b"  ", b"\xef\xbb\xbf\r\n( ;GM[1]SZ[5])"):
        path.write_bytes(text)
        assert ask(engine(5), f"printsgf {path}") == [""]
        assert path.read_bytes().startswith(b"(;")


@pytest.mark.parametrize("row", FAULTY.strip().splitlines())
def test_faulty_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str) -> None:
    text, number, reply, said = row.split(" | ")
    (tmp_path / "a.sgf").write_text(text, encoding="latin-1" if "Big5" in text else "utf-8")
    gtp = engine(5)
    assert (ask(gtp, f"loadsgf {tmp_path}/a.sgf {number}")[0] or gtp.game.position.moves_text()) == reply
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("readouts", "dialogue"),
    [
        # A chain is dead where its points are expected to be the other side's; GTP's three statuses.
        (4, "play w C3; play b A2; play w C4; play w E5; final_status_list dead = E5\nC4 C3"),
        (4, "play w C3; play b A2; final_status_list alive = A2 A1; final_status_list seki"),
        # After two passes the dead stones are off the board.
        (4, "play w C3; final_score = W+7.5; play b pass; play w pass; final_score = B+17.5"),
        # Then Black still takes what is dead, as kgsGtp asks, unless nothing of White's is there.
        (0, "play w C3; play b pass; play w pass; genmove b = pass; undo; kgs-genmove_cleanup b = +"),
        (0, "play w pass; kgs-genmove_cleanup b = pass"),
    ],
)
def test_dead_stones(black_owns: GoEngine, readouts: int, dialogue: str) -> None:
    black_owns.parameters.readouts = readouts
    converses(black_owns, "play b A1", dialogue)
    (text,) = ask(black_owns, "printsgf")
    assert ("RE[B+17.5]" in text) == dialogue.endswith(("B+17.5", "pass"))  # after two passes the file has the count
    assert "TW" not in text


def test_engines_without_forecasts_count_the_board() -> None:
    converses(engine(), "play b A1; play w C3; final_status_list dead; final_status_list alive = C3\nA1")


def test_cputime() -> None:
    gtp = engine()
    assert float(ask(gtp, "cputime")[0]) == 0
    ask(gtp, "genmove b")
    assert float(ask(gtp, "cputime")[0]) > 0


def test_kgs_time_settings() -> None:
    gtp = engine()
    assert ask(gtp, "kgs-time_settings byoyomi 0 10 5", "time_left b 10 5") == ["", ""]
    assert gtp.clock.share(1, 99) == pytest.approx(0.8 * 10 - 0.05)  # five periods of one move each
    assert ask(gtp, "kgs-time_settings canadian 0 10 5", "time_left b 10 5") == ["", ""]
    assert gtp.clock.share(1, 99) == pytest.approx(0.8 * 2 - 0.05)
    assert ask(gtp, "kgs-time_settings absolute 200", "time_left b 100 0", "kgs-rules aga") == [""] * 3
    assert gtp.clock.share(1, 10) == pytest.approx(0.8 * 10 - 0.05)  # a game that goes on by other rules keeps it
    for none in ("none", "none 100 10 5"):
        assert ask(gtp, f"kgs-time_settings {none}") == [""]
        assert gtp.clock.share(1, 10) == float("inf")


def test_gogui(gtp: GoEngine) -> None:
    ask(gtp, "play b C3")
    for command in [line.split("/")[-1] for line in ask(gtp, "gogui-analyze_commands")[0].splitlines()]:
        assert ask(gtp, f"known_command {command}") == ["true"]
    for command in ("alphago-ownership", "alphago-policy"):
        assert [len(row.split()) for row in ask(gtp, command)[0].splitlines()] == [5] * 5
    ask(gtp, "lz-genmove_analyze w 1", "undo", "reg_genmove w")
    text = ask(gtp, "alphago-search")[0]
    assert re.search(r"VAR w [A-E]\d", text)
    assert "LABEL" in text
