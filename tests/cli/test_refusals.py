"""What a command refuses by itself: a line says why, the exit code is 2, and nothing is left behind.

Values out of their range are in tests/test_setting_ranges.py, what other calls refuse is beside these.
"""

from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet
from alphago.cli import main
from tests.exams.small_exams import row, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Networks of several games and boards, an exam on 3x3, and runs with a row, without, and in a folder."""
    path = tmp_path_factory.mktemp("refused")
    games = {"go": GoEnv(3, komi=0.5), "seven": GoEnv(3, komi=7), "size": GoEnv(4, komi=0.5)}
    games |= {"turns": GoEnv(3, komi=0, turns=5, first_pass=10, planes="turns"), "four": ConnectFourEnv()}
    for name, env in games.items():
        NeuralNet(env, tower_height=0, channels=4).save(path / name)
    write(path / "exam", row())
    (path / "ada.py").touch()
    rows = {"run": '{"seconds": 30.0, "policy_loss": 3.9}\n', "still": '{"seconds": 1.0}\n', "empty": ""}
    for name, text in (rows | {"swept/usual/0": rows["run"]}).items():
        (path / name).mkdir(parents=True)
        (path / name / "metrics.jsonl").write_text(text)
    return path


REFUSED = """
train --connect-row 3 -> go has no connect_row, got 3
train --game connect-four --board-size 8 -> connect-four has no board_size, got 8
train --gate none --gate-games 4 -> --gate-games must be left out where gate is None, got 4
train --c-puct 4 -> --c-puct is a setting of Puct, but this search is Gumbel: add --search puct
train --watch-share 0.1 -> --watch must be names such as "random@0" and "gnugo:10@64", got none
train --loss-value -1 -> the loss's weight value
train --minutes none --games none -> --games or --minutes must
train --folder x --stop-after 3 --max-minutes 9 -> no option --max-minutes: --minutes is the length
train --stop-after 0 -> --stop-after, in minutes, must be
train --model go --preset oware -> go plays go, got --preset oware, which is for oware
play --rules Japanese -> --rules must score by area, as Chinese ones do, got those of 'Japanese', which
play --game oware --rules AGA -> --rules must be 'tournament' or 'cgzero', got 'AGA'
gtp --policy net --readouts 4 -> --readouts must be left out with --policy net, got 4
gtp 7x7 --policy random -> MODEL must be left out with --policy random, got 7x7
gtp --resign 2 -> --resign must be a number from -1 to 1, got 2.0
selfplay go --folder . -> . must be a new or empty folder: choose another one
selfplay go --folder seven -> seven must be a new or empty folder
evaluate random random -> random is named twice
evaluate go go@64 -> go@64 is named twice
evaluate go@5000000000 random -> --readouts must be an integer from 0 to 10000000, got 5000000000
evaluate go seven -> the networks differ in komi: 0.5 of go, 7.0 of seven; choose one with --komi
evaluate go size -> the networks differ in board_size: 3 of go, 4 of size; choose
evaluate go turns --komi 0 -> the networks differ in turns: None of go, 5 of turns; choose one with --turns
evaluate 7x7@0 random --game gomoku -> every network must be for gomoku, got 7x7 for go
exam -> there must be a network to grade, got none
exam go --file exam --json no/where -> no/where cannot be written
exam go --games x -> --make must name a file for --games, got none
exam --make x -> --make must come with --engine and --games and without networks, got no --engine and no --games
exam --make x --engine y --games z -- net -> --make must come with --engine and --games and without networks, got the
exam 9x9 --readouts few -> argument --readouts: must be integers such as 0,64, got 'few'
label nothing --to d -> there must be one teacher, --engine or --network, got none
label nothing --to d --engine x --network y -> there must be one teacher, --engine or --network, got both
evaluate random uct:5 --folder d --workers 0 -> --workers must be an integer from 1 to 10000, got 0
evaluate random ada.py --folder d --board-size 3 --workers 1 -> with workers, a player must be a network
sgf exam --to d --validation 2 -> --validation and --test must be shares
export four --out four.pt -> --format must be onnx, w32 or w16, or the end of the file's name
export four --game reversi -> four must hold a network for reversi, got one for ConnectFourEnv
export four --out none/x.w32 -> none/x.w32 cannot be used: No such file
worker -> either ADDRESS or --folder PATH must be given
worker --folder x --cores 0 -> --cores must be an integer from 1 to 1024, got 0
worker 10.0.0.1:6379 --folder x -> either ADDRESS or --folder PATH must be given
info swept -> a run must be a folder with metrics.jsonl
info run -> rows must be two or more iterations
plot nowhere -> a run must be a folder with metrics.jsonl, got nowhere
plot . -> a run must be a folder with metrics.jsonl, got .: did you mean empty or run or still?
plot swept -> a run must be a folder with metrics.jsonl, got swept: did you mean swept/usual/0?
plot empty -> empty/metrics.jsonl has no complete line: no iteration of training is over yet
plot still -> nothing to draw: no row of still has 'seconds' and a metric
plot run --out curves.txt -> --out must end in one of .svg,
plot run --out no/curves.png -> no/curves.png cannot be written: there is no folder no
plot --games a b -> --games must have one run, got 2
plot --network 7x7 --out net.png -> --out must end in .svg for --network, got net.png
plot --network 5x5 -> no network 5x5 comes with the package
"""


@pytest.mark.parametrize("line", REFUSED.strip("\n").split("\n"))
def test_what_is_refused(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    words, _, sentence = line.partition(" -> ")
    try:
        code: object = main(words.split())
    except SystemExit as end:
        code = end.code
    *_, error = capsys.readouterr().err.splitlines()
    assert code == 2
    assert error.startswith(f"alphago {words.split()[0]}: {sentence.rstrip()}")
    assert sorted(folder.iterdir()) == before
