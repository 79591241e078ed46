"""Engine processes: good ones, and all the ways in which they can be bad; and GNU Go."""

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, evaluate
from alphago.arena.engine import Engine, EngineError, gnugo, gnugo_rules
from alphago.arena.entrant import find_player, resolve_player
from alphago.env.go_rules import Rules
from alphago.mcts.evaluator import UniformEvaluator
from tests.arena.playing import installed_gnugo, scripted

pytestmark = pytest.mark.usefixtures("no_engine_is_left")
needs_fork = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


class TestEngine:
    def test_questions_and_answers(self, tmp_path: Path) -> None:
        with scripted(tmp_path, "A1 B2", final_score='print("\\n=\\tB+3.5  \\nsecond\\n  third\\n", flush=True)').start(
            7, Rules()
        ) as one:
            assert one.ask("genmove b") == "A1"
            assert one.ask("boardsize 3") == ""
            assert one.ask("genmove w") == "B2"
            assert one.ask("final_score") == "B+3.5\nsecond\nthird"
            assert one.process.args[-1] == "7"

    def test_a_refusal_is_no_end(self, tmp_path: Path) -> None:
        with scripted(tmp_path, play='print("? illegal move\\n", flush=True)').start(1, Rules()) as one:
            with pytest.raises(EngineError, match=r"^engine refused 'play b A1': illegal move$"):
                one.ask("play b A1")
            assert one.ask("genmove b") == "pass"

    def test_a_missing_program(self) -> None:
        with pytest.raises(EngineError, match=r"^nosuch cannot be started: No such file or directory \(/nosuch\)$"):
            Engine("nosuch", ("/nosuch",)).start(1, Rules())

    def test_crash(self, tmp_path: Path) -> None:
        body = 'print("out of", "cheese", file=sys.stderr); sys.exit(3)'
        with scripted(tmp_path, genmove=body).start(1, Rules()) as one, pytest.raises(EngineError) as error:
            one.ask("genmove b")
        assert "'genmove b' was sent, the process has ended (exit status 3)" in str(error.value)
        assert str(error.value).endswith("hello from the engine | out of cheese")
        with pytest.raises(EngineError, match="the process has ended"):
            one.ask("genmove b")

    def test_time_out_at_start(self) -> None:
        command = sys.executable, "-c", "import time; time.sleep(1000)"
        with (
            Engine("sleeps", command, start_timeout=0.3).start(1, Rules()) as one,
            pytest.raises(EngineError, match=r"^sleeps: .* no reply within 0.3 s; nothing on stderr$"),
        ):
            one.ask("name")

    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ('print("I think A1", flush=True)', "'I think A1' is not GTP"),
            ('sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()', "is not GTP"),
            ('print("= " + "\\n".join("x" * 2000), flush=True)', "more than 1000 lines"),
        ],
    )
    def test_nonsense(self, tmp_path: Path, body: str, why: str) -> None:
        with (
            scripted(tmp_path, genmove=body).start(1, Rules()) as one,
            pytest.raises(EngineError, match=f"'genmove b' was sent, .*{why}"),
        ):
            one.ask("genmove b")

    @pytest.mark.parametrize(
        "before", ['sys.stderr.write("chatter\\n" * 100_000); sys.stderr.flush()', "time.sleep(0.6)"]
    )
    def test_much_on_stderr_and_a_slow_reply(self, tmp_path: Path, before: str) -> None:
        """A full pipe would stop the engine; it may think for longer than the time between two polls of its process."""
        with scripted(tmp_path, genmove=f'{before}; reply("A1")').start(1, Rules()) as one:
            assert one.ask("genmove b") == "A1"

    @pytest.mark.slow
    @needs_fork
    def test_one_that_will_not_end(self) -> None:
        """It ignores quit, the end of its input and SIGTERM, and so does its child."""
        text = (
            "import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "child = os.fork()\n"
            "if child: print(f'= {child}\\n', flush=True)\n"
            "while True: time.sleep(1)\n"
        )
        with Engine("stays", (sys.executable, "-c", text)).start(1, Rules()) as one:
            child = int(one.ask("name"))
        assert not is_running(child)
        one.close()  # a second time does nothing

    @needs_fork
    def test_a_child_that_outlives_its_engine(self) -> None:
        """The engine obeys quit; its child would stay, with its end of the pipes."""
        with with_a_child('print("= ", flush=True); break').start(1, Rules()) as one:
            child = int(one.ask("name"))
        assert one.process.returncode == 0
        assert not is_running(child)

    @needs_fork
    def test_a_crash_that_a_child_survives(self) -> None:
        """Its stdout does not end, but no reply will come."""
        body = 'print("= A", flush=True); sys.exit(3)'
        with with_a_child(body).start(1, Rules()) as one:
            child = int(one.ask("name"))
            with pytest.raises(EngineError, match=r"the process has ended \(exit status 3\)"):
                one.ask("genmove b")
        assert not is_running(child)

    @pytest.mark.parametrize("command", ["gnugo --mode gtp", (), ("gnugo", "--level", 1), None])
    def test_a_command_that_is_none(self, command: Any) -> None:
        with pytest.raises(ValueError, match=f"command must be strings .*, got {re.escape(repr(command))}"):
            Engine("engine", command)


def with_a_child(body: str) -> Engine:
    """An engine that forks, replies first with its child's process id, and then runs `body` for every command."""
    text = (
        "import os, sys, time\n"
        "child = os.fork()\n"
        "while not child: time.sleep(1)\n"
        "input(); print(f'= {child}\\n', flush=True)\n"
        f"for line in sys.stdin: {body}\n"
    )
    return Engine("parent", (sys.executable, "-c", text), timeout=60)


def is_running(pid: int) -> bool:
    """Whether a process (no child of ours, so perhaps a zombie for a while) runs."""
    status = Path(f"/proc/{pid}/stat")
    for _ in range(600):
        if not status.exists() or status.read_text().split(") ")[1][0] in "ZX":
            return False
        time.sleep(0.1)
    return True


# The last move is the suicide of two stones, or gives a board that was there before one took two and two took one.
SUICIDE = "A1 A2 D4 B2 D3 C1 B1"
SEND_TWO = "B5 A4 D5 B4 C4 E1 A5 C5 B5"


class TestGnuGo:
    def test_names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.which", lambda name, path: "/usr/games/gnugo")
        assert find_player("gnugo") == gnugo(10)
        assert resolve_player("gnugo:7").name == "gnugo:7"
        rules = "--chinese-rules --capture-all-dead --play-out-aftermath --never-resign"
        assert " ".join(gnugo(1).command) == f"/usr/games/gnugo --mode gtp {rules} --level 1 --seed {{seed}}"
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
        *before, last = moves.split()
        position = env.position().after(before)
        with installed_gnugo().start(1, env.rules) as engine:
            engine.ask("boardsize 5")
            for i, move in enumerate(before):
                engine.ask(f"play {'bw'[i % 2]} {move}")
            if position.legal_mask[env.from_text(last)]:
                engine.ask(f"play b {last}")
            else:
                with pytest.raises(EngineError, match=f"refused 'play b {last}': illegal move"):
                    engine.ask(f"play b {last}")

    def test_where_it_is_looked_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looked: list[str] = []
        monkeypatch.setattr("shutil.which", lambda name, path: looked.append(path))
        monkeypatch.setenv("PATH", "/here")
        with pytest.raises(EngineError, match=r"^GNU Go is not installed: .* \(`apt install gnugo` or `brew"):
            evaluate(GoEnv(3), UniformEvaluator(), "gnugo", 2)
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
