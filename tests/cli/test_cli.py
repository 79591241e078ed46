"""The command `alphago` and its help."""

import subprocess
import sys
from pathlib import Path

import pytest

import alphago
from alphago.cli import VERBS, main

ROOT = Path(__file__).parents[2]


def test_overview(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in VERBS)
    assert main([]) == 2
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize("verb", VERBS)
def test_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([verb, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: alphago {verb} ")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("play --readouts x", "argument --readouts: must be an integer, got 'x'"),
        ("train --gate-sprt 40", "argument --gate-sprt: must be a pair such as 0:40, got '40'"),
        ("train --bfloat16 maybe", "argument --bfloat16/--no-bfloat16: must be none, got 'maybe'"),
        ("train --search gumbel", "argument --search: must be none, got 'gumbel'"),
        ("train --readouts none", "argument --readouts: must be an integer, got 'none'"),
    ],
)
def test_a_mistyped_value(command: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(command.split())
    assert capsys.readouterr().err == f"alphago {command.split()[0]}: {sentence}\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"alphago {alphago.__version__}\n"


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("trian", "no command 'trian': did you mean train?"),
        ("zzz", "no command 'zzz': there are train, selfplay, play,"),
    ],
)
def test_an_unknown_verb(word: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 2
    assert capsys.readouterr().err.startswith(f"alphago: {sentence}")


def test_help_loads_no_library() -> None:
    """Neither torch nor numba is loaded for it."""
    code = (
        "import sys, alphago.cli; alphago.cli.main(['--help']); "
        "sys.exit(bool({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode == 0
