"""The games of a run over time on one sheet, and `alphago plot` of games and networks."""

from pathlib import Path

import pytest

from alphago.env.go import GoEnv
from alphago.records.record import load_records
from alphago.training.runs.config import read_config, write_config
from alphago.training.watch.game_sheet import game_sheet
from tests.drawing.reading import shapes, texts
from tests.training.small_runs import Small


def test_from_the_first_games_to_the_newest(finished_run: Small) -> None:
    shards = sorted((finished_run.folder / "games").iterdir())
    ends_of_files = [int(path.stem.split("-")[2]) for path in shards]
    assert len(shards) > 1
    rows = min(len(shards), 3)
    svg = game_sheet(finished_run.folder, rows=3, columns=2)
    ends = [text for text in texts(svg) if text.startswith("game ")]
    assert len(ends) == rows
    first, last = load_records(shards[0])[-1], load_records(shards[-1])[-1]
    assert ends[0] == f"game {ends_of_files[0]}, {len(first)} moves: {first.result_string}"
    assert ends[-1] == f"game {ends_of_files[-1]}, {len(last)} moves: {last.result_string}"
    assert len(shapes(svg, "rect", fill="#eacf9a")) == 2 * rows


def test_a_smaller_board_of_a_curriculum(finished_run: Small, tmp_path: Path) -> None:
    """Its games are drawn on their own board."""
    folder = tmp_path / "run"
    (folder / "games").mkdir(parents=True)
    write_config(folder, {**read_config(finished_run.folder), "env": GoEnv(5).config})
    shard = min((finished_run.folder / "games").iterdir())
    (folder / "games" / shard.name).write_bytes(shard.read_bytes())
    assert len(shapes(game_sheet(folder, columns=1), "polyline")) == 3 + 3  # the lines of one board of 3x3


def test_a_folder_without_games(finished_run: Small, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="a run must be a folder that alphago train wrote, got"):
        game_sheet(tmp_path / "none")
    with pytest.raises(ValueError, match=r"config\.json is gone"):
        game_sheet(tmp_path)
    write_config(tmp_path, read_config(finished_run.folder))
    with pytest.raises(ValueError, match="has no games yet: they are written with the first checkpoint"):
        game_sheet(tmp_path)
