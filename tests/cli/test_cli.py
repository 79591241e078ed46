"""The command `alphago` and its help."""

import ast
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import alphago
from alphago.cli import VERBS, main, make_parser, repeated_interrupts
from alphago.cli.analysis_protocol import engine_settings
from alphago.cli.errors import error_text
from alphago.nn.model_files import ModelError

ROOT = Path(__file__).parents[2]


def test_overview(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in VERBS)
    assert main([]) == 2
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize("verb", VERBS)
def test_usage_names_every_argument(verb: str) -> None:
    parser = make_parser(verb)
    arguments = [str(action.metavar or action.dest) for action in parser._actions if not action.option_strings]
    assert [name for name in arguments if not re.search(rf"[ \[|]{re.escape(name)}\b", str(parser.usage))] == []


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_screen_and_speaks_the_shells_words(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No names, values and sentences of Python; and no flag that takes nothing but none."""
    monkeypatch.setenv("COLUMNS", "80")
    parser = make_parser(verb)
    assert len(parser.format_help().splitlines()) <= 40
    for text in (parser.format_help(), make_parser(verb, in_full=True).format_help()):
        words = re.sub(r"docs/\S+|alphago\.records\.record\.load_records|query_version|runs/\S+", "", text)
        words = re.sub(r"\b(?:losses|search|until)\.\w+", "PATH", words)  # paths of settings
        of_python = r"\b(?:None|True|False|[a-z]+_[a-z_]+)\b|`|dictionary| ,|alphago\.(?:training|env)|\(\(|\(see |=="
        assert re.findall(rf"{of_python}|\{{none\}}|\[none\]", words) == []


def test_overridden_settings_of_the_analysis_protocol() -> None:
    """An option wins over `-override-config`, also one with an invalid value, which the engine then refuses."""

    def settings(line: str) -> dict[str, object]:
        return engine_settings(make_parser("analysis").parse_args(line.split()))

    config = "-override-config maxVisits=9,threads=4 -override-config reportAnalysisWinratesAs=white"
    assert settings(config) == {"visits": 9, "side": "WHITE"}
    assert settings(f"{config} --visits 0") == {"visits": 0, "side": "WHITE"}
    with pytest.raises(ValueError, match=r"^maxVisits must be an integer, got 'many'$"):
        settings("-override-config maxVisits=many")


@pytest.mark.parametrize(
    ("words", "code", "out", "error"),
    [
        ("--version", 0, f"alphago {alphago.__version__}\n", ""),
        ("help", 0, "usage: alphago COMMAND", ""),
        ("help play", 0, "usage: alphago play ", ""),
        ("trian", 2, "", "alphago: no command 'trian': did you mean train?"),
        ("zzz", 2, "", "alphago: no command 'zzz': there are train, selfplay, play,"),
    ],
)
def test_words_that_are_no_verb(words: str, code: int, out: str, error: str, capsys: pytest.CaptureFixture) -> None:
    with contextlib.suppress(SystemExit):
        assert main(words.split()) == code
    told = capsys.readouterr()
    assert told.out.startswith(out)
    assert told.err.startswith(error)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device", "runs/a"), "runs/a cannot be used: No space left on device"),
        (OSError(28, "No space left on device"), "its output cannot be written: No space left on device"),
        (ValueError("board_size must be 9, got 8"), "--board-size must be 9, got 8"),
        (ValueError("num_games or max_minutes must be set"), "--games or --minutes must be set"),
        (ValueError("a network must be small"), "a network must be small"),
        (MemoryError(), "there is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: tried to allocate 3600000000 bytes"), "there is not enough memory: 3.6"),
        (RuntimeError("could not create a primitive"), "there may be too little memory: could not create a primitive"),
        (ChildProcessError("the worker processes ended early"), "the worker processes ended early"),
    ],
)
def test_errors_as_sentences(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("alphago.training.call.train_call.train", fail)
    assert main(["train"]) == 2
    assert capsys.readouterr().err.startswith(f"alphago train: {sentence}")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")
@pytest.mark.parametrize(("kilobytes", "warned"), [(2_500_000, True), (4_000_000, False)])
def test_little_memory_is_told_before_a_library_fails(kilobytes: int, warned: bool) -> None:
    words = "from alphago.cli import main; import sys; sys.exit(main())"
    command = f'ulimit -v {kilobytes}; exec {sys.executable} -c "{words}" plot nothing'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stderr.startswith("alphago: this process may use only 2.6 GB of memory (ulimit -v): ") == warned
    assert done.returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
def test_a_full_disk_behind_the_output() -> None:
    """One sentence, and no line that Python adds at its end."""
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "alphago", "info", "7x7"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=600)
    assert done.returncode == 2
    assert done.stderr.decode() == "alphago info: its output cannot be written: No space left on device\n"


def test_a_fault_of_the_program_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alphago.training.call.train_call.train", lambda *_, **__: {}["missing"])
    with pytest.raises(KeyError):
        main(["train"])


WHILE_IMPORTING = """import os, signal, sys
class Interrupting:
    def find_spec(self, name, *rest):
        if name == "MODULE": os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ['play', '--readouts', '1']
import alphago.__main__; sys.exit(alphago.__main__.main())"""
AT_THE_END = """import atexit, os, signal, sys
import alphago.cli, alphago.cli.info
def interrupt(*_): os.kill(os.getpid(), signal.SIGINT)
atexit.register(interrupt)
def stopped(_): raise KeyboardInterrupt
alphago.cli.info.run = stopped
sys.argv[1:] = ['info']
sys.exit(alphago.cli.main())"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("module", ["argparse", "numpy", "numba", "torch", None])
def test_ctrl_c_while_libraries_are_imported_and_while_the_process_ends(module: str | None) -> None:
    """No traceback from their midst, and the exit code of an interrupt; exit handlers are not interrupted."""
    command = [sys.executable, "-c", WHILE_IMPORTING.replace("MODULE", module) if module else AT_THE_END]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=600, stdin=subprocess.DEVNULL, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slow
def test_a_closed_terminal_ends_a_run_as_its_signal_does(tmp_path: Path) -> None:
    """It is saved, and the code is that of SIGHUP although the last words cannot be written; some may be before it."""
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))  # not on Windows
    terminal, side = pty.openpty()
    words = "train --board-size 3 --tower-height 0 --channels 4 --readouts 2 --games 100000 --folder"

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if these tests run under nohup

    process = subprocess.Popen(
        [sys.executable, "-m", "alphago", *words.split(), str(tmp_path / "run")],
        stdin=side, stdout=side, stderr=side, cwd=ROOT, start_new_session=True, preexec_fn=take_terminal,
    )  # fmt: skip
    os.close(side)
    until = time.monotonic() + 600
    while not (tmp_path / "run" / "metrics.jsonl").exists() and time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            os.read(terminal, 65536)
    os.close(terminal)
    assert process.wait(600) in (129, -signal.SIGHUP)
    assert main(["info", str(tmp_path / "run")]) == 0


def test_advice_that_names_an_option_is_for_commands_that_have_it() -> None:
    """What a file of a user's own game says; exams are of Go."""
    error = ModelError("x holds a network for A(), which does not come with the package: give the game, in Python to "
                       "load_model as env=…, on the command line as --game a:A")  # fmt: skip
    assert error_text(error, make_parser("play")) == str(error)
    for verb, why in {"exam": "exams are of Go", "review": "games to review are games of Go"}.items():
        text = str(error_text(error, make_parser(verb)))
        assert text.startswith(f"x holds a network for A(), which does not come with the package: {why}")
        assert "--game" not in text


# Options of GNU Go, make, Ray, nvcc, git and pip; and one that `train` explains, since Python's keyword is called so.
FOREIGN = """
--capture-all-dead --chinese-rules --forbid-suicide --level --mode --allow-suicide --never-resign --simple-ko
--play-out-aftermath --positional-superko --situational-superko --always-make --address --block --num-cpus --fmad
--argument --user --max-minutes --short --no-deps
"""


def test_every_option_that_the_package_names_exists() -> None:
    """In each text of its sources but docstrings, the help of commands apart; behind `alphago VERB` are its options."""
    parsers = {verb: set(make_parser(verb)._option_string_actions) | {"--help-all"} for verb in VERBS}
    foreign = set(FOREIGN.split())
    every = set().union(*parsers.values(), foreign, {"--version"})
    flag = r"(?<![\w-])--[a-z][a-z-]*[a-z](?![\w-])"
    wrong = []
    for path in sorted(Path(alphago.__file__).parent.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        if path.parent.name == "cli":
            docstrings -= {id(one.body[0].value) for one in nodes if getattr(one, "name", "") == "run"}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                wrong += [(path.name, name) for name in re.findall(flag, node.value) if name not in every]
                for verb, rest in re.findall(r"alphago (\w+)((?: [^`.:;]*)?)", node.value):
                    allowed = parsers.get(verb, every) | foreign
                    wrong += [(path.name, verb, name) for name in re.findall(flag, rest) if name not in allowed]
    assert not wrong


class Dying:
    def __del__(self) -> None:
        raise KeyboardInterrupt


def lose_one() -> None:
    Dying()
    time.sleep(60)


def test_an_interrupt_that_a_destructor_loses_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    """At once: it ends the wait."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background processes ignore
    with pytest.raises(KeyboardInterrupt), repeated_interrupts():
        lose_one()
    assert capsys.readouterr().err == ""
