"""Other programs as players: good ones, and all the ways in which they can be bad."""

import os
import re
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.arena.engine import EngineError, EngineRefusal, GtpEngine, GtpProgram, gnugo, gnugo_rules, named_program
from alphago.arena.engine_player import GIVES_UP, GtpPlayer, margin
from alphago.arena.match import MatchResult, evaluate
from alphago.arena.players import contestant, seat
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from examples.tic_tac_toe import TicTacToeEnv

ROOT = Path(__file__).parents[2]
GO = GoEnv(3, komi=0.5)

# Answers every command with success; genmove plays the points of its first argument in turn, then passes.
ENGINE = """
import sys, time
moves = sys.argv[1].split()
def reply(text=""):
    print("= " + text + "\\n", flush=True)
print("hello from the engine", file=sys.stderr, flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "genmove":
        {genmove}
    elif words[0] == "play":
        {play}
    elif words[0] == "final_score":
        {final_score}
    elif words[0] == "quit":
        reply()
        break
    else:
        reply()
"""


needs_fork = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch):
    """No test leaves a process or a thread behind."""
    started: list[GtpEngine] = []
    original = GtpEngine.__init__

    def remembered(self, *arguments, **options) -> None:
        original(self, *arguments, **options)
        started.append(self)

    monkeypatch.setattr(GtpEngine, "__init__", remembered)
    threads = threading.active_count()
    yield started
    for engine in started:
        assert engine.process.returncode is not None, f"{engine.name} still runs"
        with pytest.raises(ProcessLookupError):
            os.kill(engine.process.pid, 0)
    assert threading.active_count() == threads


def write(folder: Path, name: str = "engine", **bodies: str) -> Path:
    """An engine's script; `genmove`, `play` and `final_score` are what it does then, in Python."""
    default = {
        "genmove": 'reply(moves.pop(0) if moves else "pass")',
        "play": "reply()",
        "final_score": 'reply("B+8.5")',
    }
    path = folder / f"{name}.py"
    path.write_text(ENGINE.format(**{**default, **bodies}))
    return path


def program(folder: Path, moves: str = "", *, timeout: float = 20.0, name: str = "engine", **bodies: str) -> GtpProgram:
    command = (sys.executable, str(write(folder, name, **bodies)), moves, "{seed}")
    return GtpProgram(name, command, timeout=timeout)


def our_engine(size: int, readouts: int = 8) -> GtpProgram:
    """`alphago gtp` in a process of its own, which plays all games out."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from alphago.cli import main; sys.exit(main())"
    options = ("gtp", "--board-size", str(size), "--readouts", str(readouts), "--seed", "{seed}", "--resign", "-1")
    return GtpProgram("alphago", (sys.executable, "-c", code, *options))


def text(env: GoEnv, moves: tuple[int, ...]) -> str:
    return " ".join(env.to_text(action) for action in moves)


class TestEngine:
    def test_questions_and_answers(self, tmp_path: Path) -> None:
        with program(tmp_path, "A1 B2", final_score='print("\\n=\\tB+3.5  \\nsecond\\n  third\\n", flush=True)').start(
            7, Rules()
        ) as one:
            assert one.ask("genmove b") == "A1"
            assert one.ask("boardsize 3") == ""
            assert one.ask("genmove w") == "B2"
            assert one.ask("final_score") == "B+3.5\nsecond\nthird"
            assert one.process.args[-1] == "7"

    def test_a_refusal_is_no_end(self, tmp_path: Path) -> None:
        with program(tmp_path, play='print("? illegal move\\n", flush=True)').start(1, Rules()) as one:
            with pytest.raises(EngineRefusal, match=r"^engine refused 'play b A1': illegal move$"):
                one.ask("play b A1")
            assert one.ask("genmove b") == "pass"

    def test_a_missing_program(self) -> None:
        with pytest.raises(EngineError, match=r"^nosuch cannot be started: No such file or directory \(/nosuch\)$"):
            GtpEngine(["/nosuch"])

    def test_crash(self, tmp_path: Path) -> None:
        body = 'print("out of", "cheese", file=sys.stderr); sys.exit(3)'
        with (
            program(tmp_path, genmove=body).start(1, Rules()) as one,
            pytest.raises(EngineError) as error,
        ):
            one.ask("genmove b")
        assert str(error.value) == (
            "engine: 'genmove b' was sent, the process has ended (exit status 3); "
            "the end of its stderr: hello from the engine | out of cheese"
        )
        with pytest.raises(EngineError, match="the process has ended"):
            one.ask("genmove b")

    def test_crash_in_the_middle_of_an_answer(self, tmp_path: Path) -> None:
        with (
            program(tmp_path, genmove='print("= A", flush=True); sys.exit(0)').start(1, Rules()) as one,
            pytest.raises(EngineError, match="ended after '= A'"),
        ):
            one.ask("genmove b")

    def test_time_out(self, tmp_path: Path) -> None:
        bodies = {"play": 'print("hmm", file=sys.stderr, flush=True); reply()', "genmove": "time.sleep(1000)"}
        with program(tmp_path, **bodies, timeout=0.3).start(1, Rules()) as one:
            one.ask("play b b2")  # the first answer may take as long as a start
            with pytest.raises(EngineError, match=r"'genmove b' was sent, no answer came in 0.3 s; .*engine \| hmm$"):
                one.ask("genmove b")
            assert one.process.returncode is not None

    def test_time_out_at_start(self, tmp_path: Path) -> None:
        path = tmp_path / "sleeps.py"
        path.write_text("import time; time.sleep(1000)")
        with (
            GtpEngine([sys.executable, str(path)], name="sleeps", start_timeout=0.3) as one,
            pytest.raises(EngineError, match=r"^sleeps: 'name' was sent, no answer came in 0.3 s; nothing on stderr$"),
        ):
            one.ask("name")

    @pytest.mark.parametrize(
        ("body", "came"),
        [
            ('print("I think A1", flush=True)', "'I think A1' came, which is no answer in GTP"),
            ('sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()', "came, which is no answer in GTP"),
            ('print("= " + "\\n".join("x" * 2000), flush=True)', "an answer of more than 1000 lines came"),
        ],
    )
    def test_nonsense(self, tmp_path: Path, body: str, came: str) -> None:
        with (
            program(tmp_path, genmove=body).start(1, Rules()) as one,
            pytest.raises(EngineError, match=f"'genmove b' was sent, .*{came}"),
        ):
            one.ask("genmove b")

    def test_much_on_stderr(self, tmp_path: Path) -> None:
        """It is read all the time: a full pipe would stop the engine."""
        body = 'sys.stderr.write("chatter\\n" * 100_000); sys.stderr.flush(); reply("A1")'
        with program(tmp_path, genmove=body).start(1, Rules()) as one:
            assert one.ask("genmove b") == "A1"

    @needs_fork
    def test_one_that_will_not_go(self, tmp_path: Path) -> None:
        """It ignores quit, the end of its input and SIGTERM, and so does its child."""
        path = tmp_path / "stays.py"
        path.write_text(
            "import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "child = os.fork()\n"
            "if child: print(f'= {child}\\n', flush=True)\n"
            "while True: time.sleep(1)\n"
        )
        with GtpEngine([sys.executable, str(path)]) as one:
            child = int(one.ask("name"))
        assert not is_running(child)
        one.close()  # a second time does nothing

    @needs_fork
    def test_a_child_that_outlives_its_engine(self, tmp_path: Path) -> None:
        """The engine obeys quit; what it started would stay, with its end of the pipes."""
        with GtpEngine([sys.executable, str(with_a_child(tmp_path, 'print("= ", flush=True); break'))]) as one:
            child = int(one.ask("name"))
        assert one.process.returncode == 0
        assert not is_running(child)

    @needs_fork
    def test_a_crash_that_a_child_survives(self, tmp_path: Path) -> None:
        """Its stdout does not end, but nobody will answer any more."""
        body = 'print("= A", flush=True); sys.exit(3)'
        with GtpEngine([sys.executable, str(with_a_child(tmp_path, body))], timeout=60) as one:
            child = int(one.ask("name"))
            with pytest.raises(EngineError, match=r"the process has ended after '= A' \(exit status 3\)"):
                one.ask("genmove b")
        assert not is_running(child)

    def test_one_goes_after_many_glances(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An engine that thinks for longer than we wait between two looks at it still answers."""
        monkeypatch.setattr("alphago.arena.engine.GLANCE", 0.01)
        with program(tmp_path, genmove='time.sleep(0.3); reply("A1")').start(1, Rules()) as one:
            assert one.ask("genmove b") == "A1"


def with_a_child(folder: Path, body: str) -> Path:
    """An engine that forks, tells its child's number first, and then does `body` for every command."""
    path = folder / "parent.py"
    path.write_text(
        "import os, sys, time\n"
        "child = os.fork()\n"
        "while not child: time.sleep(1)\n"
        "input(); print(f'= {child}\\n', flush=True)\n"
        f"for line in sys.stdin: {body}\n"
    )
    return path


def is_running(pid: int) -> bool:
    """Whether a process (not ours, so perhaps a zombie for a while) is at work."""
    status = Path(f"/proc/{pid}/stat")
    for _ in range(600):
        if not status.exists() or status.read_text().split(") ")[1][0] in "ZX":
            return False
        time.sleep(0.1)
    return True


class TestPlayer:
    def test_setup_and_moves(self, tmp_path: Path) -> None:
        """What the engine is told, in order."""
        log = tmp_path / "log"
        body = f'open({str(log)!r}, "a").write(line); reply(moves.pop(0))'
        note = f'open({str(log)!r}, "a").write(line); reply()'
        who = program(tmp_path, "b2 PASS", genmove=body, play=note)
        player = GtpPlayer(GO, who, [5])
        one = np.zeros(1, np.int64)
        try:
            assert player.choose(one, np.zeros(1, np.bool_), np.zeros(1)).tolist() == [4]
            player.follow(one, np.array([4], np.int32))
            player.follow(one, np.array([0], np.int32))
            assert player.choose(one, np.zeros(1, np.bool_), np.zeros(1)).tolist() == [9]
            player.follow(one, np.array([9], np.int32))
            player.follow(one, np.array([9], np.int32))
        finally:
            player.close()
        assert log.read_text().splitlines() == ["genmove b", "play w A3", "genmove b", "play w pass"]
        assert player.scores == {0: "B+8.5"}

    def test_several_games(self, tmp_path: Path) -> None:
        """Each has an engine and a seed of its own."""
        who = program(tmp_path, genmove='reply("ABC"[int(sys.argv[2]) - 1] + "1")')
        player = GtpPlayer(GO, who, [1, 2, 3])
        try:
            actions = player.choose(np.array([1, 2]), np.zeros(2, np.bool_), np.zeros(2))
            assert [GO.to_text(action) for action in actions] == ["B1", "C1"]
        finally:
            player.close()

    def test_rules(self, tmp_path: Path) -> None:
        """A program that can be told rules hears of the match's."""
        who = replace(program(tmp_path), rule_options=lambda rules: (rules.ko, str(rules.suicide)))
        for env in (GoEnv(3), GoEnv(3, ko="simple", suicide=True)):
            player = GtpPlayer(env, who, [1])
            player.close()
            assert player.engines[0].process.args[-2:] == [env.ko, str(env.suicide)]

    def test_setup_that_fails(self, tmp_path: Path) -> None:
        path = tmp_path / "small.py"
        path.write_text("for _ in range(9): input(); print('? unacceptable size\\n', flush=True)")
        with pytest.raises(EngineError, match="small refused 'boardsize 3': unacceptable size"):
            GtpPlayer(GO, GtpProgram("small", (sys.executable, str(path))), [1, 2])

    def test_one_of_several_fails(self, tmp_path: Path) -> None:
        who = program(tmp_path, "A1", genmove='sys.exit(1) if sys.argv[2] == "2" else reply("A1")')
        player = GtpPlayer(GO, who, [1, 2, 3])
        try:
            actions = player.choose(np.arange(3), np.zeros(3, np.bool_), np.zeros(3))
            assert actions.tolist() == [6, GIVES_UP, 6]
            assert list(player.faults) == [1]
        finally:
            player.close()

    @pytest.mark.parametrize(
        ("score", "black"),
        [("B+3.5", 3.5), ("w+10", -10), ("0", 0), ("Draw", 0), ("B+R", None), ("?", None), ("", None)],
    )
    def test_margin(self, score: str, black: float | None) -> None:
        assert margin(score) == black


class TestMatch:
    def test_a_good_engine(self, tmp_path: Path) -> None:
        """It plays B2, A1 and passes, against somebody who always passes."""
        match = evaluate(
            GO, program(tmp_path, "B2 A1"), lambda position: (passes(position), 0.0), 4, 0, opening_plies=0
        )
        assert [text(GO, game) for game in match.games] == ["B2 pass A1 pass pass", "pass B2 pass A1 pass pass"] * 2
        assert match.outcomes.tolist() == [1, 1, 1, 1]
        assert match.forfeits == {}
        # As Black it has 9 points and 0.5 less; as White 9.5 more, where it says B+8.5 like before.
        assert match.counted == 4
        assert match.disagreements == dict.fromkeys((1, 3), "W+9.5 on the board, B+8.5 says engine")
        assert str(match).endswith("; an engine counted 4 final boards and 2 of them otherwise")

    def test_an_engine_that_counts_nothing(self, tmp_path: Path) -> None:
        for answer in ('print("? cannot score\\n", flush=True)', 'reply("who knows")', "sys.exit(1)"):
            match = evaluate(GO, program(tmp_path, "B2", final_score=answer), "random", 1)
            assert match.counted == 0
            assert match.forfeits == {}

    @pytest.mark.parametrize(
        ("bodies", "why"),
        [
            ({"genmove": "sys.exit(3)"}, r"'genmove [bw]' was sent, the process has ended \(exit status 3\); the end"),
            ({"genmove": 'reply("B9")'}, "answered 'B9' to genmove: 'B9' is no point of GoEnv"),
            ({"genmove": 'reply("")'}, "answered '' to genmove: '' is no point"),
            ({"genmove": 'print("B2?")'}, "'B2\\?' came, which is no answer in GTP"),
            ({"genmove": 'print("? I would rather not\\n", flush=True)'}, "refused 'genmove [bw]': I would rather not"),
            ({"play": 'print("? illegal move\\n", flush=True)'}, "refused 'play [bw] pass': illegal move"),
            ({"play": "sys.exit(0)"}, "'play [bw] pass' was sent, the process has ended"),
        ],
    )
    def test_a_fault_loses_the_game_and_is_told(self, tmp_path: Path, bodies: dict, why: str) -> None:
        match = evaluate(GO, program(tmp_path, "B2 A1", **bodies), lambda position: (passes(position), 0.0), 2, 0)
        assert match.outcomes.tolist() == [-1, -1]
        assert list(match.forfeits) == [0, 1]
        for fault in match.forfeits.values():
            assert re.match(f"engine:? .*{why}", fault)
        assert "; 2 games were lost by an engine's fault, the first of them game 0: engine" in str(match)

    def test_an_illegal_move(self, tmp_path: Path) -> None:
        match = evaluate(GO, "random", program(tmp_path, "B2 B2"), 2, opening_plies=0, seed=3)
        assert match.outcomes.tolist() == [1, 1]
        for fault in match.forfeits.values():
            assert "answered 'B2' to genmove: illegal move B2: " in fault
            assert "has a stone there, in GoEnv(3, komi=0.5, max_moves=36) after B " in fault

    def test_a_fault_of_the_other_seat(self, tmp_path: Path) -> None:
        """Who loses does not depend on the seat."""
        bad = program(tmp_path, genmove="sys.exit(1)")
        assert evaluate(GO, UniformEvaluator(), bad, 3, 4).outcomes.tolist() == [1, 1, 1]
        assert evaluate(GO, bad, UniformEvaluator(), 3, 4).outcomes.tolist() == [-1, -1, -1]

    def test_resigning_is_no_fault(self, tmp_path: Path) -> None:
        match = evaluate(GO, program(tmp_path, "Resign"), "random", 2)
        assert match.outcomes.tolist() == [-1, -1]
        assert match.forfeits == {}

    def test_faults_of_some_games_only(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("alphago.arena.match.available_cores", lambda: 1)
        body = 'sys.exit(1) if int(sys.argv[2]) % 3 == 0 else reply(moves.pop(0) if moves else "pass")'
        heard: list[int] = []
        match = evaluate(
            GO, program(tmp_path, "B2 A1", genmove=body), lambda position: (passes(position), 0.0), 6, 0,
            progress=heard.append, opening_plies=0,
        )  # fmt: skip
        assert match.outcomes.tolist() == [1, 1, -1, 1, 1, -1]  # seeds count from 1
        assert sorted(match.forfeits) == [2, 5]
        assert sorted(heard) == [0, 1, 2, 3, 4, 5]

    @pytest.mark.parametrize(("cores", "limits"), [(1, [2]), (2, [1]), (2, [3]), (1, [32, 2]), (2, [1, 32])])
    def test_engines_side_by_side_are_limited(
        self, tmp_path: Path, nothing_is_left: list[GtpEngine], monkeypatch: pytest.MonkeyPatch,
        cores: int, limits: list[int],
    ) -> None:  # fmt: skip
        """Those of each program, on any number of cores; one of two programs may be content with fewer."""
        most = [0] * len(limits)
        original = GtpEngine.ask

        def counted(self, command):
            running = [engine.name for engine in nothing_is_left if engine.process.poll() is None]
            for i in range(len(limits)):
                most[i] = max(most[i], running.count(f"engine{i}"))
            time.sleep(0.01)  # so that the games of both threads overlap
            return original(self, command)

        monkeypatch.setattr(GtpEngine, "ask", counted)
        monkeypatch.setattr("alphago.arena.match.available_cores", lambda: cores)
        players = [replace(program(tmp_path, "B2", name=f"engine{i}"), at_once=limit) for i, limit in enumerate(limits)]
        match = evaluate(GO, players[0], (*players, "random")[1], 5)
        assert len(nothing_is_left) == 5 * len(limits)
        assert max(most) <= min(limits)
        if cores == 1:  # two threads need not be at work at the same moment
            assert max(most) == min(limits)
        assert len([game for game in match.games if game]) == 5

    def test_none_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="at_once must be an integer >= 1, got 0"):
            GtpProgram("engine", program(tmp_path).command, at_once=0)

    @pytest.mark.parametrize("command", ["gnugo --mode gtp", (), ("gnugo", "--level", 1), None])
    def test_a_command_that_is_none(self, command: Any) -> None:
        with pytest.raises(ValueError, match=f"command is a tuple of texts .*, got {re.escape(repr(command))}"):
            GtpProgram("engine", command)

    def test_an_error_of_ours_ends_the_engines(self, tmp_path: Path) -> None:
        class Fails(UniformEvaluator):
            def evaluate(self, batch, slots, priors, values) -> None:
                raise RuntimeError("out of luck")

        with pytest.raises(RuntimeError, match="out of luck"):
            evaluate(GO, program(tmp_path, "B2"), Fails(), 4, 4)

    def test_other_games(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"engine plays Go, got TicTacToeEnv\(\)"):
            evaluate(TicTacToeEnv(), program(tmp_path), "random", 2)
        with pytest.raises(ValueError, match=r"engine plays Go, got TicTacToeEnv\(\)"):
            seat(TicTacToeEnv(), program(tmp_path), 2, 0, 1)

    def test_options_of_self_play_do_not_hold(self, tmp_path: Path) -> None:
        """A ply limit and a first legal pass, which no engine would know of."""
        env = GoEnv(3, komi=0.5, max_moves=2, first_pass=6)
        match = evaluate(env, program(tmp_path, "B2 A1"), lambda position: (passes(position), 0.0), 1, 0)
        assert text(env, match.games[0]) == "B2 pass A1 pass pass"


def passes(position) -> np.ndarray:
    return np.eye(position.env.action_space)[-1]


class TestRandomOpenings:
    def test_pairs_share_them(self) -> None:
        env = GoEnv(7)
        match = evaluate(env, UniformEvaluator(), HashEvaluator(), 12, 0, random_opening=3)
        openings = [game[:3] for game in match.games]
        assert openings[::2] == openings[1::2]
        assert len(set(openings)) == 6
        for action in {action for opening in openings for action in opening}:
            row, column = divmod(action, 7)
            assert 0 < row < 6
            assert 0 < column < 6
        again = evaluate(env, UniformEvaluator(), HashEvaluator(), 12, 0, random_opening=3)
        assert again.games == match.games
        assert evaluate(env, "random", "random", 12, random_opening=3, seed=1).games[0][:3] != openings[0]

    def test_nothing_else_is_by_chance_then(self) -> None:
        env = GoEnv(5)
        match = evaluate(env, HashEvaluator(), HashEvaluator(), 8, 0, random_opening=2)
        assert match.games[::2] == match.games[1::2]

    def test_where_there_is_no_inner_point(self) -> None:
        match = evaluate(GoEnv(2), "random", "random", 8, random_opening=2)
        assert all(match.games)
        assert evaluate(TicTacToeEnv(), HashEvaluator(), HashEvaluator(), 6, 4, random_opening=2).distinct > 1

    def test_engines_hear_of_them(self, tmp_path: Path) -> None:
        """As moves of both sides, before they are asked for one; both colours in turn."""
        note = f'open({str(tmp_path / "log")!r} + sys.argv[2], "a").write(line); '
        env = GoEnv(5)
        who = program(tmp_path, genmove=note + 'reply("pass")', play=note + "reply()")
        match = evaluate(env, who, "random", 2, random_opening=2)
        assert match.forfeits == {}
        assert match.games[0][:2] == match.games[1][:2]
        first, second = (env.to_text(action) for action in match.games[0][:2])
        heard = [path.read_text().splitlines() for path in tmp_path.glob("log*")]
        assert [lines[:2] for lines in heard] == [[f"play b {first}", f"play w {second}"]] * 2

    def test_argument(self) -> None:
        with pytest.raises(ValueError, match="random_opening must be an integer >= 0, got -1"):
            evaluate(GO, "random", "random", 2, random_opening=-1)


class TestOurEngine:
    def test_against_itself(self) -> None:
        """Two processes of ours play a whole game on 5x5, and count it as we do."""
        env = GoEnv(5)
        match = evaluate(env, our_engine(5, 30), our_engine(5, 30), 1)
        assert match.forfeits == {}
        assert match.counted == 1
        assert match.disagreements == {}
        (game,) = match.games
        assert len(game) > 10
        assert game[-2:] == (25, 25)


# The last move is the suicide of two stones, or gives a board that was there before one took two and two took one.
SUICIDE = "A1 A2 D4 B2 D3 C1 B1"
SEND_TWO = "B5 A4 D5 B4 C4 E1 A5 C5 B5"


def installed_gnugo() -> GtpProgram:
    """GNU Go at its lowest level; skips the test where there is none."""
    try:
        return gnugo(1)
    except EngineError as error:
        pytest.skip(str(error))


class TestGnuGo:
    def test_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: "/usr/games/gnugo")
        assert named_program("gnugo") == gnugo(10)
        assert named_program("gnugo:3") == gnugo(3)
        for name in ("gnugo:", "gnugo:x", "gnugo:-1", "GNUGO", "pachi"):
            assert named_program(name) is None
        assert contestant("gnugo:7").name == "gnugo:7"
        assert " ".join(gnugo(1).command) == (
            "/usr/games/gnugo --mode gtp --chinese-rules --capture-all-dead --play-out-aftermath "
            "--never-resign --level 1 --seed {seed}"
        )
        assert gnugo(1).rule_options is gnugo_rules

    def test_the_rules_it_is_started_with(self) -> None:
        assert gnugo_rules(Rules()) == ("--positional-superko", "--forbid-suicide")
        assert gnugo_rules(Rules("situational", True)) == ("--situational-superko", "--allow-suicide")
        assert gnugo_rules(Rules("simple", False)) == ("--simple-ko", "--forbid-suicide")

    @pytest.mark.parametrize("suicide", [False, True])
    @pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
    @pytest.mark.parametrize("moves", [SUICIDE, SEND_TWO])
    def test_it_knows_the_rules_of_the_match(self, moves: str, ko: str, suicide: bool) -> None:
        """Of moves that some rules forbid it takes those that are legal here, and no others."""
        env = GoEnv(5, ko=ko, suicide=suicide)
        position, last = env.position(), moves.split()[-1]
        for move in moves.split()[:-1]:
            position = position.play(env.from_text(move))
        with installed_gnugo().start(1, env.rules) as engine:
            engine.ask("boardsize 5")
            for i, move in enumerate(moves.split()[:-1]):
                engine.ask(f"play {'bw'[i % 2]} {move}")
            if position.legal_mask[env.from_text(last)]:
                engine.ask(f"play b {last}")
            else:
                with pytest.raises(EngineRefusal, match=f"refused 'play b {last}': illegal move"):
                    engine.ask(f"play b {last}")

    def test_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: None)
        with pytest.raises(EngineError, match=r"^GNU Go is not installed: .* \(`apt install gnugo`, or `brew"):
            evaluate(GO, UniformEvaluator(), "gnugo", 2)

    def test_where_it_is_looked_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looked: list[str] = []
        monkeypatch.setattr("shutil.which", lambda name, path: looked.append(path) or "/x/gnugo")
        monkeypatch.setenv("PATH", "/here")
        gnugo()
        assert looked == [os.pathsep.join(["/here", "/usr/games", "/usr/local/games"])]

    @pytest.mark.slow
    def test_a_real_match(self) -> None:
        """Two games on 7x7 from one opening, played out until the board as it stands can be counted."""
        installed_gnugo()
        match = evaluate(GoEnv(7), UniformEvaluator(), "gnugo:1", 2, 50, random_opening=2)
        assert match.forfeits == {}
        assert match.losses == 2
        assert match.counted == 2
        assert match.games[0][:2] == match.games[1][:2]
        assert all(game[-2:] == (49, 49) for game in match.games)


class TestFixedTurns:
    """The match ends when the turns are played and counts the board; engines know nothing of it."""

    TURNS = GoEnv(3, komi=0, turns=4)

    def test_the_board_counts_and_nobody_is_asked(self, tmp_path: Path) -> None:
        """An engine that always passes gives its turns up; two passes would have ended the game."""
        match = evaluate(self.TURNS, UniformEvaluator(), program(tmp_path, final_score='reply("W+99")'), 2, 4, seed=1)
        assert [len(game) for game in match.games] == [8, 8]
        assert match.forfeits == {}
        assert (match.counted, match.disagreements) == (0, {})
        for number, game in enumerate(match.games):
            theirs, ours = game[1 - number :: 2], game[number::2]
            assert theirs == (9,) * 4
            assert 9 not in ours  # nor does ours pass while it has a move
        assert match.wins == 2

    def test_between_our_own_players(self) -> None:
        match = evaluate(self.TURNS, "random", HashEvaluator(), 6, 0, seed=2)
        assert {len(game) for game in match.games} == {8}
        position = self.TURNS.position()
        for game in match.games:
            at = position
            for action in game:
                assert action != 9 or not at.legal_mask[:-1].any()
                at = at.play(action)

    def test_engines_are_set_up_as_ever(self, tmp_path: Path) -> None:
        """Only the programs' rules decide what they may play: a repetition loses the game."""
        match = evaluate(self.TURNS, program(tmp_path, "B2 B2", name="twice"), UniformEvaluator(), 1, 2)
        assert "illegal move B2: Black has a stone there" in match.forfeits[0]


def test_result_without_engines_reads_as_before() -> None:
    plain = MatchResult(np.ones(2, np.float32), ((1,), (2,)))
    assert plain.forfeits == plain.disagreements == {}
    assert str(plain).endswith("%")
