"""`plot` and `alphago plot`: what is drawn of which file, what damaged files do, and that the picture is readable."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from alphago.cli import main
from alphago.drawing.axes import SHARE
from alphago.drawing.curves import CurvePanel, legend_labels, panel_title
from alphago.drawing.shapes import Text, flat
from alphago.training.history import read_history, read_rows
from alphago.training.settings.judge_settings import Opponent
from alphago.training.watch.plots import MATCHES, TRAINING, list_panels, match_panels, plot, row_name
from tests.drawing.reading import shapes, texts
from tests.training.small_runs import RandomGames, Small, run


def metrics(number: int, **changes: Any) -> dict[str, Any]:
    """One line of metrics.jsonl: half a minute, 10 games and 100 positions each."""
    row = {"iteration": number, "seconds": 30.0 * number, "games": 10 * number, "positions": 100 * number}
    return row | {"policy_loss": 4 - 0.1 * number, "value_loss": 1 - 0.1 * number} | changes


def match(number: int, opponent: str = "gnugo:10", **changes: Any) -> dict[str, Any]:
    """One line of evaluations.jsonl, from the same moment."""
    row = {"seconds": 30.0 * number, "games": 10 * number, "positions": 100 * number, "opponent": opponent}
    row |= {"readouts": 64, "played": 40, "wins": 20, "draws": 0, "losses": 20, "win_rate": 0.5, "low": 0.35}
    return row | {"high": 0.65, "score": -2.5, "captures": 12.0, "captured": 15.0} | changes


def make(folder: Path, rows: list[dict[str, Any]], matches: Sequence[dict[str, Any]] = ()) -> Path:
    folder.mkdir(parents=True)
    for name, log in (("metrics", rows), ("evaluations", matches)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    return folder


def panels(*runs: Path, x: str = "minutes") -> dict[str, CurvePanel]:
    """The panels that `plot` draws of runs, by their titles."""
    return {panel_title(panel): panel for panel in list_panels([read_history(run) for run in runs], x)}


def points(panel: CurvePanel) -> list[tuple[list[float], list[float]]]:
    return [(list(curve.x), list(curve.y)) for curve in panel.curves]


# --- what is drawn -----------------------------------------------------------------------------------


def test_exams(tmp_path: Path) -> None:
    """The curve of each exam with its interval, over games or processor seconds, beside opponents and alone."""
    numbers = {"exam_points_low": 0.5, "exam_points_high": 2.0, "exam_blunders": 0.2}
    rows = [
        {**numbers, "seconds": 30.0 * n, "processor_seconds": 60.0 * n, "games": 10 * n, "positions": 100 * n}
        | {"opponent": "exam", "readouts": readouts, "exam_points": 1.5 / n}
        for n in (1, 2)
        for readouts in (0, 64)
    ]
    folder = make(tmp_path / "run", [metrics(n) for n in (1, 2)], [*rows, match(2)])
    for x, expected in (("games", [10.0, 20.0]), ("processor", [1.0, 2.0])):
        (panel,) = [one for title, one in panels(folder, x=x).items() if title.startswith("Points lost a move")]
        assert points(panel).count((expected, [1.5, 0.75])) == 2
    drawn = [panel for panel in match_panels([read_history(folder)] * 2, "games", MATCHES) if panel.curves]
    assert {panel.title for panel in drawn} >= {"Points lost a move in the exam, exam@0", "Win rate, gnugo:10@64"}
    assert not any(panel.title.startswith("Win rate, exam") for panel in drawn)


@pytest.mark.parametrize(
    ("x", "step", "label"),
    [
        ("minutes", 0.5, "minutes of training"),
        ("games", 10, "games of self-play"),
        ("positions", 100, "positions of self-play"),
    ],
)
def test_the_x_axis(tmp_path: Path, x: str, step: float, label: str) -> None:
    folder = make(tmp_path / "run", [metrics(i) for i in (1, 2, 3)], [match(i) for i in (1, 2, 3)])
    drawn, expected = panels(folder, x=x), [step, 2 * step, 3 * step]
    assert points(drawn["Policy loss: trained on [nats]"]) == [(expected, [3.9, 3.8, 3.7])]
    assert points(drawn["Score, gnugo:10@64 [points]"]) == [(expected, [-2.5, -2.5, -2.5])]
    assert label in texts(plot(folder, x=x))


def test_supervised_runs_do_not_speak_of_self_play(tmp_path: Path) -> None:
    """They read given games: neither titles nor legends nor axes name self-play or search."""
    changes = {"black_wins": 0.5, "draws": 0.0, "moves_per_second": 9.0, "selfplay_share": 0.1}
    changes |= {"top_move_agreement": 0.3, "fresh_policy_loss": 3.0}
    judged = {"judge": "held-out", "win_rate": None, "readouts": None, "accuracy": 0.3}
    held_out = [match(i, "held-out games", **judged) for i in (1, 2)]
    run = make(tmp_path / "run", [metrics(i, **changes) for i in (1, 2)], held_out)
    for x, label in (("games", "given games"), ("positions", "positions of given games")):
        words = texts(plot(run, x=x))
        assert label in words
        assert not [text for text in words if "elf-play" in text or "search" in text]
        titles = " ".join(panels(run, x=x))
        for title in ("Results of the given games", "Speed of reading games", "Policy's top move: as played"):
            assert title in titles
    other = make(tmp_path / "other", [metrics(i, moves_per_second=9.0) for i in (1, 2)], [match(1)])
    assert "games" in texts(plot([run, other], x="games"))
    assert "Speed of playing or reading games [moves/s]" in panels(run, other)
    assert "games of self-play" in texts(plot(other, x="games"))


def test_several_runs_share_their_axes(tmp_path: Path) -> None:
    first = make(tmp_path / "a" / "run", [metrics(i, value_correlation=0.5) for i in (1, 2)])
    second = make(tmp_path / "other", [metrics(i, fresh_value_loss=0.7) for i in (1, 2, 3)])
    drawn = panels(first, second)
    curves_of_both = ["Value error [squared]", "Pearson's r of value and result", "Policy loss: trained on [nats]"]
    assert list(drawn) == curves_of_both
    assert [y for _, y in points(drawn["Value error [squared]"])] == [[0.9, 0.8], [0.9, 0.8, 0.7], [0.7, 0.7, 0.7]]
    assert len(points(drawn["Pearson's r of value and result"])) == 1  # only one run measured it
    blue, orange, fresh = drawn["Value error [squared]"].curves
    assert blue.colour != orange.colour == fresh.colour
    assert orange.dash != fresh.dash
    assert legend_labels(drawn["Value error [squared]"]) == [("trained on", "-"), ("new games", ":")]
    svg = plot([first, second])
    assert texts(svg)[:2] == ["run", "other"]
    assert [line.get("stroke") for line in shapes(svg, "polyline", stroke_width=4)] == [blue.colour, orange.colour]


def test_matches_against_one_opponent(tmp_path: Path) -> None:
    matches = [match(1, win_rate=0.2, low=0.1, high=0.4), match(2)]
    drawn = panels(make(tmp_path / "run", [metrics(1), metrics(2)], matches))
    titles = ["Win rate, gnugo:10@64", "Score, gnugo:10@64 [points]", "Captures, gnugo:10@64 [stones]"]
    titles.append("Captures by the opponent, gnugo:10@64 [stones]")
    assert [title for title in drawn if "," in title] == titles
    rate = drawn["Win rate, gnugo:10@64"]
    assert (rate.unit, rate.level) == (SHARE, 0.5)
    assert (rate.curves[0].low, rate.curves[0].high) == ([0.1, 0.35], [0.4, 0.65])
    (taken,) = points(drawn["Captures, gnugo:10@64 [stones]"])
    assert taken[1] == [12.0, 12.0]


def test_opponents_of_one_run_share_panels(tmp_path: Path) -> None:
    """Each has a colour; dashed where the policy played alone; each curve has its name at its end."""
    pairs = (("random", 0), ("gnugo:10", 0), ("gnugo:10", 64), ("runs/old", 16))
    matches = [match(i, name, readouts=n, win_rate=i / 4) for i in (0, 1, 2) for name, n in pairs]
    matches += [match(i, "records:kgs", readouts=None, win_rate=None, accuracy=0.1 * i) for i in (0, 1, 2)]
    drawn = panels(make(tmp_path / "run", [metrics(1), metrics(2)], matches), x="games")
    rates = drawn["Win rate (dashed: the policy alone)"]
    assert [curve.name for curve in rates.curves] == [f"{name}@{n}" for name, n in pairs]
    assert [curve.dash for curve in rates.curves] == ["--", "--", "-", "-"]
    assert [curve.colour for curve in rates.curves][:3] == ["#20242c", "#86692f", "#86692f"]
    assert [curve.name for curve in drawn["Moves of the records that are the policy's first"].curves] == ["records:kgs"]


def test_final_boards(tmp_path: Path) -> None:
    """Of the newest games of each opponent, with what came out for the network."""
    run(tmp_path, 8, watch=["random@0"], watch_share=0.9, source=RandomGames)
    *_, row = read_rows(tmp_path / "evaluations.jsonl", "opponent")
    picture = panels(tmp_path)["Final boards, random@0, 8 games"].picture
    assert picture is not None
    words = [shape.text for shape in flat(picture.layers) if isinstance(shape, Text)]
    assert set(words) <= set(texts(plot(tmp_path)))
    assert len(words) == min(6, row["played"])
    for i, (text, game) in enumerate(zip(words, row["moves"], strict=False)):
        result = "won" if game["outcome"] > 0 else "lost"
        assert text.startswith(f"{i + 1}: {('Black', 'White')[i % 2]}, {result} by ")


def test_the_command(
    finished_run: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "run", [metrics(1)])
    make(tmp_path / "other", [metrics(1)])
    assert main(["plot", "run"]) == 0
    assert main(["plot", "run", "other", "--out", "both.svg", "--x", "games"]) == 0
    assert main(["plot", str(finished_run.folder), "--games"]) == 0
    assert main(["plot", str(finished_run.folder), "--network", "--out", "mine.svg"]) == 0
    assert capsys.readouterr().out == "curves.png\nboth.svg\ngames.svg\nmine.svg\n"
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    for name, word in (("both", "games of self-play"), ("games", "Self-play of"), ("mine", "features")):
        assert word in (tmp_path / f"{name}.svg").read_text()


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    make(tmp_path / "run", [metrics(1)])
    assert main(["plot", "run"]) == 2
    assert "painted with Pillow, which is missing: pip install 'alphago[plot]'" in capsys.readouterr().err
    assert main(["plot", "run", "--out", "curves.svg"]) == 0


def test_every_curve_has_a_metric_that_runs_write(tmp_path: Path) -> None:
    opponent = Opponent("random", readouts=0, first=0.0, every=60.0, most_games=20)
    _, listener = run(tmp_path, 12, until=opponent, source=RandomGames)
    drawn_keys = {key for panel in TRAINING for key in panel.keys}
    assert {key for key in drawn_keys if not key.startswith(("workers", "tasks", "lag"))} <= listener.last.keys()
    drawn = match_panels([read_history(tmp_path)], "minutes", MATCHES)
    names = ["Win rate", "Score", "Captures", "Captures by the opponent", "Length of the games", "Elo"]
    assert [panel.title for panel in drawn if panel.curves] == [f"{name}, random@0" for name in names]


def test_a_long_name_is_cut_at_its_beginning() -> None:
    assert row_name(match(1, "runs/" + "a" * 40 + "/new")) == "…" + "a" * 22 + "/new@64"


def test_elo_with_an_end_that_is_not_known(tmp_path: Path) -> None:
    """After 40 wins of 40 the rating has no upper end; JSON lines then hold null or Infinity."""
    elos = [(100, 50, None), (300, 200, float("inf")), (200, 150, 260)]
    matches = [match(i, elo=elo, elo_low=low, elo_high=high) for i, (elo, low, high) in enumerate(elos, 1)]
    matches.append(match(4))
    (curve,) = panels(make(tmp_path / "run", [metrics(1)], matches))["Elo, gnugo:10@64"].curves
    assert (curve.low, curve.high) == ([50, 200, 150], [100, 300, 260])


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x must be one of minutes, processor, games, positions, got 'hours'"):
        plot(make(tmp_path / "run", [metrics(1)]), x="hours")
    with pytest.raises(ValueError, match="runs must be the folder"):
        plot([])
