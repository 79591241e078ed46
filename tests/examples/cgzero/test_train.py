"""The whole recipe, small, by its own program."""

import json
import sys
from pathlib import Path

import pytest
import train

from alphago.nn.net import load_model
from alphago.records.record import load_records


@pytest.mark.slow
def test_it_trains_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(train.RECIPE, "start_training_after", 40)
    monkeypatch.setitem(train.RECIPE, "games_in_flight", 4)
    folder = tmp_path / "run"
    for games in (6, 8):
        words = f"--games {games} --readouts 3 --positions 100 --pit 2 --seed 3 --device cpu --folder {folder}"
        monkeypatch.setattr(sys, "argv", ["train.py", *words.split()])
        train.main()
        assert f"finished after {games} games" in "".join(capsys.readouterr())
    settings = json.loads((folder / "config.json").read_text())["settings"]
    assert settings["memory"] == {**settings["memory"], "kind": "pool:Pool", "positions": 100}
    assert [judge["kind"] for judge in settings["judges"]] == ["champions:Champions", "rates:GenerationRates"]
    assert settings["learning"]["losses"]["masked"]
    assert load_model(folder).num_parameters == 19_831
    records = [record for path in (folder / "games").glob("*.npz") for record in load_records(path)]
    dropped = [record for record in records if (record.weights == 0).any()]
    assert all(record.weights[-1] == 1 for record in dropped)
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["steps"] > 0
