"""`plot` and `alphago plot`: what is drawn of which file, what damaged files do, and that the picture is readable."""

import itertools
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text as MplText

from alphago.cli import main
from alphago.drawing.shapes import Text, flat
from alphago.training.history import number, read_history, read_rows
from alphago.training.judges.criteria import Opponent
from alphago.training.watch.board_panels import board_panels
from alphago.training.watch.match_panels import match_panels
from alphago.training.watch.panels import smooth, spread
from alphago.training.watch.plots import TRAINING, plot
from tests.training.small_runs import RandomGames, Small, run

PNG = b"\x89PNG\r\n\x1a\n"


def metrics(number: int, **changes: Any) -> dict[str, Any]:
    """One line of metrics.jsonl: half a minute, 10 games and 100 positions each."""
    row = {"iteration": number, "seconds": 30.0 * number, "games": 10 * number, "positions": 100 * number}
    return row | {"policy_loss": 4 - 0.1 * number, "value_loss": 1 - 0.1 * number} | changes


def match(number: int, opponent: str = "gnugo:10", **changes: Any) -> dict[str, Any]:
    """One line of evaluations.jsonl, from the same moment."""
    row = {"seconds": 30.0 * number, "games": 10 * number, "positions": 100 * number, "opponent": opponent}
    row |= {"readouts": 64, "played": 40, "wins": 20, "draws": 0, "losses": 20, "win_rate": 0.5, "low": 0.35}
    return row | {"high": 0.65, "score": -2.5, "captures": 12.0, "captured": 15.0} | changes


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def make(folder: Path, rows: list[dict[str, Any]], matches: list[dict[str, Any]] | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(lines(rows))
    if matches is not None:
        (folder / "evaluations.jsonl").write_text(lines(matches))
    return folder


def panels(figure: Figure) -> dict[str, Axes]:
    return {axes.get_title(): axes for axes in figure.axes}


def curves(axes: Axes) -> list[tuple[list[float], list[float]]]:
    """The points of the lines that are no mark of a level, which spans the axes."""
    drawn = [line for line in axes.lines if line.get_transform() == axes.transData]
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in drawn]


# --- what is drawn -----------------------------------------------------------------------------------


def test_a_run_of_training(finished_run: Small) -> None:
    """The keys that `train` writes are the keys that are drawn."""
    drawn = panels(plot(finished_run.folder))
    names = {title.split(":")[0].split(" [")[0] for title in drawn}
    assert names >= {
        "Value error", "Pearson's r of value and result", "Policy loss", "Policy's top move", "Entropy",
        "Game length", "Passes", "Results of self-play", "Games that were not played out", "Speed of self-play",
        "Memory", "Self-play's share of the time", "Learning rate",
    }  # fmt: skip
    rows = finished_run.listener.rows
    assert curves(drawn["Game length [moves]"])[0][1] == [row["game_length"] for row in rows if row["game_length"]]


def test_exams(tmp_path: Path) -> None:
    """The curve of each exam with its interval, over games or processor seconds, beside opponents and alone."""
    numbers = {"exam_points_low": 0.5, "exam_points_high": 2.0, "exam_blunders": 0.2}
    times = [
        {"seconds": 30.0 * n, "processor_seconds": 60.0 * n, "games": 10 * n, "positions": 100 * n} for n in (1, 2)
    ]
    rows = [
        {**at, **numbers, "opponent": "exam", "readouts": readouts, "exam_points": points}
        for at, points in zip(times, (1.5, 0.75), strict=True)
        for readouts in (0, 64)
    ]
    folder = make(tmp_path / "run", [metrics(n) for n in (1, 2)], [*rows, match(2)])
    for x, expected in (("games", [10.0, 20.0]), ("processor", [1.0, 2.0])):
        (axes,) = [one for title, one in panels(plot(folder, x=x)).items() if title.startswith("Points lost a move")]
        assert curves(axes).count((expected, [1.5, 0.75])) == 2
    drawn = match_panels([read_history(folder), read_history(folder)], "games")
    assert {panel.title for panel in drawn} >= {"Points lost a move in the exam, exam@0", "Win rate, gnugo:10@64"}
    assert not any(panel.title.startswith("Win rate, exam") for panel in drawn)


@pytest.mark.parametrize(("x", "expected", "label"), [
    ("minutes", [0.5, 1.0, 1.5], "minutes of training"),
    ("games", [10, 20, 30], "games of self-play"),
    ("positions", [100, 200, 300], "positions of self-play"),
])  # fmt: skip
def test_the_x_axis(tmp_path: Path, x: str, expected: list[float], label: str) -> None:
    folder = make(tmp_path / "run", [metrics(i) for i in (1, 2, 3)], [match(i) for i in (1, 2, 3)])
    figure = plot(folder, x=x)
    drawn = panels(figure)
    ((at, losses),) = curves(drawn["Policy loss: trained on [nats]"])
    assert at == expected
    assert losses == [3.9, 3.8, 3.7]
    assert curves(drawn["Score, gnugo:10@64 [points]"]) == [(expected, [-2.5, -2.5, -2.5])]
    assert figure.get_supxlabel() == label


def supervised(folder: Path, **changes: Any) -> Path:
    """A run on given games: it examines its network on games held out."""
    rows = [metrics(i, top_move_agreement=0.3, fresh_policy_loss=3.0, black_wins=0.5, draws=0.0, moves_per_second=9.0,
                    selfplay_share=0.1, **changes) for i in (1, 2)]  # fmt: skip
    judged = {"judge": "held-out", "win_rate": None, "readouts": None, "accuracy": 0.3}
    held_out = [match(i, "held-out games", **judged) for i in (1, 2)]
    return make(folder, rows, held_out)


def test_supervised_runs_do_not_speak_of_self_play(tmp_path: Path) -> None:
    """They read given games: neither titles nor legends nor axes name self-play or search."""
    run = supervised(tmp_path / "run")
    for x, label in (("games", "given games"), ("positions", "positions of given games")):
        figure = plot(run, x=x)
        assert figure.get_supxlabel() == label
        texts = [text.get_text() for axes in figure.axes for text in axes.findobj(MplText)]
        assert not [text for text in texts if "elf-play" in text or "search" in text]
        titles = " ".join(panels(figure))
        for title in ("Results of the given games", "Speed of reading games", "Policy's top move: as played"):
            assert title in titles
    other = make(tmp_path / "other", [metrics(i, moves_per_second=9.0) for i in (1, 2)], [match(1)])
    both = plot([run, other], x="games")
    assert both.get_supxlabel() == "games"
    assert "Speed of playing or reading games [moves/s]" in panels(both)
    assert plot(other, x="games").get_supxlabel() == "games of self-play"


def test_several_runs_share_their_axes(tmp_path: Path) -> None:
    first = make(tmp_path / "a" / "run", [metrics(i, value_correlation=0.5) for i in (1, 2)])
    second = make(tmp_path / "other", [metrics(i, fresh_value_loss=0.7) for i in (1, 2, 3)])
    figure = plot([first, second])
    drawn = panels(figure)
    assert list(drawn) == [
        "Value error [squared]", "Pearson's r of value and result", "Policy loss: trained on [nats]",
    ]  # fmt: skip
    assert [y for _, y in curves(drawn["Value error [squared]"])] == [[0.9, 0.8], [0.9, 0.8, 0.7], [0.7, 0.7, 0.7]]
    assert len(curves(drawn["Pearson's r of value and result"])) == 1  # only one run measured it
    blue, orange, fresh = drawn["Value error [squared]"].lines
    assert blue.get_color() != orange.get_color() == fresh.get_color()
    assert orange.get_linestyle() != fresh.get_linestyle()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["run", "other"]
    assert [handle.get_color() for handle in legend.get_lines()] == [blue.get_color(), orange.get_color()]
    kinds = drawn["Value error [squared]"].get_legend()
    assert kinds is not None
    assert [text.get_text() for text in kinds.get_texts()] == ["trained on", "new games"]


def test_runs_of_the_same_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    folders = [make(tmp_path / parent / "run", [metrics(1)]) for parent in "ab"]
    legend = plot(folders).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [str(folder) for folder in folders]


def test_many_runs_have_many_colours(tmp_path: Path) -> None:
    figure = plot([make(tmp_path / f"run{i}", [metrics(1)]) for i in range(13)])
    assert len({tuple(handle.get_color()) for handle in figure.legends[0].get_lines()}) == 13


def test_matches_against_one_opponent(tmp_path: Path) -> None:
    matches = [match(1, win_rate=0.2, low=0.1, high=0.4), match(2)]
    drawn = panels(plot(make(tmp_path / "run", [metrics(1), metrics(2)], matches)))
    assert [title for title in drawn if "," in title] == [
        "Win rate, gnugo:10@64", "Score, gnugo:10@64 [points]", "Captures, gnugo:10@64 [stones]",
    ]  # fmt: skip
    axes = drawn["Win rate, gnugo:10@64"]
    (bars,) = axes.containers
    assert [list(segment[:, 1]) for segment in bars[2][0].get_segments()] == [
        pytest.approx([0.1, 0.4]), pytest.approx([0.35, 0.65]),
    ]  # fmt: skip
    assert axes.yaxis.get_major_formatter()(0.25) == "25%"
    taken, lost = curves(drawn["Captures, gnugo:10@64 [stones]"])
    assert (taken[1], lost[1]) == ([12.0, 12.0], [15.0, 15.0])


def test_opponents_of_one_run_share_panels(tmp_path: Path) -> None:
    """GNU Go dark and random light; dashed where the policy played alone; each curve has its name at its end."""
    pairs = (("random", 0), ("gnugo:10", 0), ("gnugo:10", 64), ("runs/old", 16))
    matches = [match(i, name, readouts=n, win_rate=i / 4) for i in (0, 1, 2) for name, n in pairs]
    matches += [match(i, "records:kgs", readouts=None, win_rate=None, accuracy=0.1 * i) for i in (0, 1, 2)]
    drawn = panels(plot(make(tmp_path / "run", [metrics(1), metrics(2)], matches), x="games"))
    rates = drawn["Win rate (dashed: the policy alone)"]
    looks = {bars.lines[0].get_color(): bars.lines[0].get_linestyle() for bars in rates.containers}
    names = [text.get_text() for text in rates.texts]
    assert sorted(names) == sorted(f"{name}@{n}" for name, n in pairs)
    assert looks["#b59a6a"] == "--"
    assert [bars.lines[0].get_linestyle() for bars in rates.containers] == ["--", "--", "-", "-"]
    heights = sorted(text.get_position()[1] for text in rates.texts)
    assert all(above - below > 0.07 for below, above in itertools.pairwise(heights))
    assert drawn["Win rate by minutes"].get_xlabel() == "minutes of training"
    assert [text.get_text() for text in drawn["Moves of the records that are the policy's first"].texts] == [
        "records:kgs"
    ]  # fmt: skip


def test_names_are_kept_apart() -> None:
    assert spread([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert spread([1.0, 1.0, 1.0], 0.1) == pytest.approx([0.75, 0.85, 0.95])
    assert spread([0.0, 0.0, 0.5], 0.1) == pytest.approx([0.0, 0.1, 0.5])


def test_final_boards(tmp_path: Path) -> None:
    """Of the newest games of each opponent, with what came out for the network."""
    run(tmp_path, 8, watch=["random@0"], watch_share=0.9, source=RandomGames)
    *_, row = read_rows(tmp_path / "evaluations.jsonl", "opponent")
    axes = panels(plot(tmp_path))["Final boards, random@0, 8 games"]
    assert len(axes.collections) > 1
    (panel,) = board_panels(read_history(tmp_path))
    assert isinstance(panel.draw, partial)
    texts = [shape.text for shape in flat(panel.draw.keywords["drawing"].layers) if isinstance(shape, Text)]
    assert len(texts) == min(6, row["played"])
    for i, (text, game) in enumerate(zip(texts, row["moves"], strict=False)):
        result = "won" if game["outcome"] > 0 else "lost"
        assert text.startswith(f"{i + 1}: {('Black', 'White')[i % 2]}, {result} by ")


def test_the_same_opponent_with_more_readouts_is_another_one(tmp_path: Path) -> None:
    matches = [match(1, readouts=0), match(1, readouts=64), match(1, readouts=None)]
    folders = [make(tmp_path / name, [metrics(1)], matches) for name in "ab"]
    assert [title for title in panels(plot(folders)) if title.startswith("Win")] == [
        "Win rate, gnugo:10@0", "Win rate, gnugo:10@64", "Win rate, gnugo:10",
    ]  # fmt: skip


def test_elo_with_an_end_that_is_not_known(tmp_path: Path) -> None:
    """After 40 wins of 40 the rating has no upper end; JSON lines then hold null or Infinity."""
    matches = [match(1, elo=100, elo_low=50, elo_high=None), match(2, elo=300, elo_low=200, elo_high=float("inf")),
               match(3, elo=200, elo_low=150, elo_high=260), match(4)]  # fmt: skip
    axes = panels(plot(make(tmp_path / "run", [metrics(1)], matches)))["Elo: gnugo:10@64"]
    (bars,) = axes.containers
    assert [list(segment[:, 1]) for segment in bars[2][0].get_segments()] == [[50, 100], [200, 300], [150, 260]]


def test_an_interval_that_misses_its_point_by_a_rounding_error(tmp_path: Path) -> None:
    matches = [match(1, win_rate=0.0, low=1e-17, high=0.1), match(2, win_rate=1.0, low=0.9, high=1 - 1e-16)]
    axes = panels(plot(make(tmp_path / "run", [metrics(1)], matches)))["Win rate, gnugo:10@64"]
    assert len(axes.containers) == 1


def test_long_curves_are_smoothed(tmp_path: Path) -> None:
    rows = [metrics(i, policy_loss=3.0 + i % 2) for i in range(1, 201)]
    raw, mean = curves(panels(plot(make(tmp_path / "run", rows)))["Policy loss: trained on [nats]"])
    assert set(raw[1]) == {3.0, 4.0}
    assert all(3.4 < value < 3.6 for value in mean[1][5:-5])


def test_smoothing_keeps_ends_and_straight_lines() -> None:
    assert smooth([1.0, 5.0, 2.0]) == [1.0, 5.0, 2.0]  # few points are left alone
    line = [0.5 * i for i in range(200)]
    assert smooth(line) == pytest.approx(line)
    steps = [0.0] * 100 + [1.0] * 100
    assert smooth(steps)[95:105] == pytest.approx([1 / 11 * k for k in range(1, 11)])


# --- a picture ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "start"), [("c.png", PNG), ("c.SVG", b"<?xml"), ("c.pdf", b"%PDF")])
def test_the_suffix_says_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    plot([make(tmp_path / "run", [metrics(1), metrics(2)])], tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_notebook_shows_the_figure(tmp_path: Path) -> None:
    figure = plot(make(tmp_path / "run", [metrics(1), metrics(2)]))
    assert figure._repr_png_().startswith(PNG)


def test_nothing_overlaps(tmp_path: Path) -> None:
    """Titles, numbers and legends of neighbours keep apart, with long names and large numbers too."""
    path = "runs/go7-20261121-021824/weights/games-0010000.safetensors"
    big = [metrics(i, positions=90_000 * i, memory=90_000 * i, learning_rate=0.00123, moves_per_second=56_789 + i)
           for i in range(1, 11)]  # fmt: skip
    matches = [match(i, name, positions=90_000 * i) for i in range(1, 11) for name in (path, "gnugo:10")]
    runs = [make(tmp_path / f"a-run-of-some-length-{i}", big, matches) for i in range(6)]
    figure = plot(runs, x="positions")
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in figure.axes] + [figure.legends[0].get_window_extent()]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    for axes in figure.axes:
        numbers = [text.get_window_extent() for text in axes.get_xticklabels()]
        numbers = [box for box in numbers if axes.bbox.x0 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1]
        assert not any(one.overlaps(other) for one, other in itertools.pairwise(numbers))


# --- damaged and missing files -----------------------------------------------------------------------


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    """A run that was killed tears its last line; when it goes on, its next line is joined to that."""
    whole = [metrics(1), metrics(2)]
    folder = make(tmp_path / "run", whole, [match(1)])
    for torn in ('{"iteration": 3, "seco', '{"iteration": 3', "\x00\xff"):
        (folder / "metrics.jsonl").write_text(lines(whole) + torn)
        assert read_history(folder).metrics == whole
    (folder / "metrics.jsonl").write_text(lines(whole) + '{"iteration": 3, "seco' + lines([metrics(3), metrics(4)]))
    assert [row["iteration"] for row in read_history(folder).metrics] == [1, 2, 4]
    (folder / "evaluations.jsonl").write_text('{"opponent": "gnu')
    assert read_history(folder).evaluations == []
    assert "Value error: trained on [squared]" in panels(plot(folder))


def test_values_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    values = [None, 1.5, float("nan"), float("inf"), "2.5", True, 2]
    assert [number({"a": value}, "a") for value in values] == [None, 1.5, None, None, None, None, 2.0]
    assert number({}, "a") is None
    folder = make(tmp_path / "run", [metrics(i, policy_loss=value) for i, value in enumerate(values)])
    assert curves(panels(plot(folder))["Policy loss: trained on [nats]"]) == [([0.5, 3.0], [1.5, 2.0])]


def test_a_run_without_matches_has_no_panels_of_them(tmp_path: Path) -> None:
    assert read_history(make(tmp_path / "run", [metrics(1)])).evaluations == []
    assert read_history(make(tmp_path / "other", [metrics(1)], [])).evaluations == []
    assert not any("," in title for title in panels(plot(tmp_path / "other")))


@pytest.mark.parametrize("content", ["hello\n", "[1, 2]\n3\n", '{"moves": 7}\n', '{"iteration": 1}\n{"torn'])
def test_a_file_of_another_kind(tmp_path: Path, content: str) -> None:
    (tmp_path / "metrics.jsonl").write_text(content)
    with pytest.raises(ValueError, match=r"metrics.jsonl is not what a run writes: no line .* with 'seconds'"):
        read_rows(tmp_path / "metrics.jsonl", "seconds")


def test_binary_files(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ValueError, match="is not what a run writes"):
        plot(tmp_path)


@pytest.mark.parametrize(("arguments", "message"), [
    (["nowhere"], "a run must be a folder with metrics.jsonl, got nowhere"),
    (["."], "a run must be a folder with metrics.jsonl, got ."),
    (["empty"], "empty/metrics.jsonl has no complete line: no iteration of training is over yet"),
    (["run", "empty"], "empty/metrics.jsonl has no complete line"),
    (["still"], "nothing to draw: no row of still has 'seconds' and a metric"),
    (["run", "--out", "curves.txt"], "--out must end in one of .eps,"),
    (["run", "--out", "curves"], "--out must end in one of .eps,"),
    (["run", "--out", "no/curves.png"], "no/curves.png cannot be written: there is no folder no"),
])  # fmt: skip
def test_errors_are_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "run", [metrics(1)])
    make(tmp_path / "still", [{"iteration": 1, "seconds": 1.0}])
    make(tmp_path / "empty", [])
    assert main(["plot", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"alphago plot: {message}")
    assert printed.err.count("\n") == 1


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "run", [metrics(1)])
    make(tmp_path / "other", [metrics(1)])
    assert main(["plot", "run"]) == 0
    assert main(["plot", "run", "other", "--out", "both.svg", "--x", "games"]) == 0
    assert capsys.readouterr().out == "curves.png\nboth.svg\n"
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)
    assert "games of self-play" in (tmp_path / "both.svg").read_text()


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x must be one of minutes, processor, games, positions, got 'hours'"):
        plot(make(tmp_path / "run", [metrics(1)]), x="hours")
    with pytest.raises(ValueError, match="runs must be the folder"):
        plot([])


def test_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["plot", str(make(tmp_path / "run", [metrics(1)]))]) == 2
    assert "drawn with matplotlib, which is missing: pip install 'alphago[plot]'" in capsys.readouterr().err


def test_drawing_needs_neither_torch_nor_a_display(tmp_path: Path) -> None:
    folder = make(tmp_path / "run", [metrics(1)])
    program = (
        "import sys, alphago.training.watch.plots as plots; before = 'matplotlib' in sys.modules; "
        f"plots.plot({str(folder)!r}, {str(tmp_path / 'c.png')!r}); "
        "print(before, 'torch' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                            cwd=Path(__file__).parents[3])  # fmt: skip
    assert result.stdout.split() == ["False", "False", "False"]


def test_every_curve_has_a_metric_that_runs_write(tmp_path: Path) -> None:
    opponent = Opponent("random", readouts=0, first=0.0, every=60.0, most_games=20)
    _, listener = run(tmp_path, 12, until=opponent, source=RandomGames)
    assert {key for _, keys, _ in TRAINING for key, _ in keys} <= listener.last.keys()
    panels = match_panels([read_history(tmp_path)], "minutes")
    names = ["Win rate", "Score", "Captures", "Length of the games"]
    assert [panel.title for panel in panels] == [*(f"{name}, random@0" for name in names), "Elo"]
