"""Settings of self-play and training: what is refused, what a run chooses by itself, what a file keeps."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import GoEnv, Gumbel, Puct, SearchSettings
from alphago.system.cores import available_cores
from alphago.system.settings import change_settings, to_data
from alphago.training.judges.prediction import HeldOut
from alphago.training.settings.judge_settings import Gate
from alphago.training.settings.learning_settings import Window
from alphago.training.settings.run_settings import RunSettings
from alphago.training.settings.saved_settings import from_data
from tests.training.small_runs import run, run_settings, started


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"memory_size": 30}, r"start_training_after \(1000\) is more than memory_size \(30\)"),
        ({"max_minutes": 1, "max_processor_minutes": 2.5}, "max_processor_minutes must be None, got 1 and 2.5"),
        ({"gate": 0.55, "judges": [HeldOut([], 1)]}, r"one that chooses self-play's network, got \[.*Gate"),
        ({"memory": Gate()}, r"memory must be settings with a method make_memory, got Gate\("),
        ({"targets": 3}, r"targets must be a LambdaReturns, .* got 3"),
        ({"targets": "lambda"}, r"targets must be a LambdaReturns, .* got 'lambda'"),
        ({"judges": [0.55]}, r"judges must be a list of settings with a method make_judge, got \[0.55\]"),
    ],
)
def test_what_does_not_go_together(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        run_settings(**given)


class TestGamesInFlight:
    @pytest.mark.parametrize(
        ("device", "num_games", "flight"),
        [("cpu", games, flight) for games, flight in ((1, 1), (7, 1), (8, 1), (100, 12), (1024, 128), (25_000, 256))]
        + [("cuda", games, flight) for games, flight in ((100, 12), (25_000, 3125), (None, 8192))],
    )
    def test_several_generations(self, device: str, num_games: int | None, flight: int) -> None:
        """Never so many side by side that all are played by the untrained network; a GPU is given more."""
        settings = run_settings(num_games=num_games, max_minutes=1)
        assert settings.completed(device).selfplay.games_in_flight == flight

    @pytest.mark.parametrize(
        ("device", "given", "chosen"),
        [
            ("cuda", {}, (8192, 256, 2, 50_000)),
            ("cuda", {"ckp_freq": 7, "groups": 3, "games_in_flight": 9}, (9, 256, 3, 7)),
            ("cpu", {}, (256, 64, available_cores(), 2000)),
        ],
    )
    def test_what_a_run_begins_with(self, device: str, given: dict[str, Any], chosen: tuple[Any, ...]) -> None:
        """What the call says goes before what the recipe says of GPUs."""
        small = {"tower_height": 1, "channels": 4}
        settings = started(GoEnv(7), given, device=device, **small).settings
        assert isinstance(settings, RunSettings)
        play = settings.selfplay
        assert (play.games_in_flight, settings.first_games_in_flight, play.groups, settings.ckp_freq) == chosen

    def test_few_at_the_beginning(self) -> None:
        """A sixteenth of the games so far."""
        for most, first, side_by_side in (
            (256, 64, {0: 64, 2048: 128, 10**6: 256}),
            (256, None, {0: 256}),
            (12, 64, {10**6: 12}),
            (5, 1, {0: 1}),
        ):
            settings = run_settings(games_in_flight=most, first_games_in_flight=first)
            assert {games: settings.side_by_side(games) for games in side_by_side} == side_by_side

    def test_a_resumed_run_keeps_them(self) -> None:
        """Whatever the device, and however long it becomes; a search of its own is as suits them."""
        before = run_settings(num_games=80, readouts=32).completed("cpu")
        longer = change_settings(before, {"num_games": 8000, "groups": None, "games_in_flight": None, "search": "puct"})
        settings = longer.completed("cuda", before)
        assert (settings.selfplay.games_in_flight, settings.selfplay.groups) == (10, available_cores())
        assert settings.selfplay.search == Puct(leaves=2)
        of_puct = run_settings(readouts=32, search="puct", temperature_plies=3).completed("cpu").selfplay
        assert of_puct.usual_search == run_settings(readouts=32).completed("cpu").selfplay.search


def search_of(games: int, **given: Any) -> SearchSettings:
    """The search of a run with so many games in parallel."""
    return run_settings(games_in_flight=games, **given).completed("cpu").selfplay.search


class TestSearch:
    def test_the_usual_one(self) -> None:
        assert search_of(64, readouts=20) == Gumbel(considered=10, leaves=1)

    def test_a_part_of_it(self) -> None:
        assert search_of(1, c_scale=np.float32(0.5)) == Gumbel(considered=16, leaves=8, c_scale=0.5)
        assert search_of(1, search={"c_scale": 0.5}, leaves=3) == Gumbel(considered=16, leaves=3, c_scale=0.5)

    def test_by_name(self) -> None:
        assert search_of(1, search="puct") == Puct(leaves=8)
        assert search_of(64, search={"kind": "puct", "c_puct": 2.0}, temperature_plies=3) == Puct(c_puct=2.0, leaves=2)
        assert search_of(64, search="puct", c_puct=2.0) == Puct(c_puct=2.0, leaves=2)

    @pytest.mark.parametrize("search", [None, "gumbel", Gumbel(), {"c_scale": 0.5}])
    def test_temperature_in_gumbel_search(self, search: Any) -> None:
        sentence = '^temperature_plies is a setting of Puct, but this search is Gumbel: give search="puct"$'
        with pytest.raises(ValueError, match=sentence):
            run_settings(temperature_plies=4, search=search)
        run_settings(temperature_plies=4, search="puct")


def test_the_search_that_is_set_plays(tmp_path: Path) -> None:
    usual: dict[str, Any] = {"readouts": 16, "opening_plies": 0, "start_training_after": 500}
    searches = ({}, {"c_scale": 40.0}, {"search": Puct()}, {"search": Puct(), "temperature_plies": 8})
    played = [
        [record.moves.tolist() for record in run(tmp_path / str(number), 3, GoEnv(4), **usual, **given)[1].records]
        for number, given in enumerate(searches)
    ]
    assert all(played.count(games) == 1 for games in played)


@pytest.mark.parametrize(
    "given",
    [
        {"memory": Window(7), "start_training_after": 5},
        {"memory_size": 5000, "losses": "cgzero", "schedule": ((0.5, 0.1),)},
        {"gate": {"win_rate": 0.6, "games": 10}, "search": Puct(c_puct=2), "watch": "random@0,rave:10"},
    ],
    ids=str,
)
def test_what_is_saved_is_read(given: dict[str, Any]) -> None:
    settings = run_settings(**given).completed("cpu")
    assert from_data(RunSettings, json.loads(json.dumps(to_data(settings))), {}, "the run") == settings
