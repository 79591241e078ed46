"""Which recipe a run takes, and what it says of an opponent."""

from pathlib import Path
from typing import Any

import pytest

from alphago import ConnectFourEnv, GoEnv, NeuralNet, OwareEnv, Puct, ReversiEnv
from alphago.mcts.rule import temperature_plies
from alphago.training.call import train_call as train_module
from alphago.training.recipes import FEW_GAMES, OTHER_GAMES, RECIPES, recipe_for
from alphago.training.runs.config import flat_settings
from tests.training.small_runs import GO, RandomGames, interrupt_at, run, run_settings, started


class TestBoards:
    def test_its_own(self) -> None:
        for name in ("7x7", "9x9", "13x13", "19x19"):
            assert recipe_for(RECIPES[name].make_env()) is RECIPES[name]
            assert not RECIPES[name].note

    @pytest.mark.parametrize(
        ("size", "lender", "curriculum"),
        [
            (6, "7x7", ((5, 0.1),)),
            (11, "13x13", ((7, 0.05), (9, 0.25))),
            (15, "19x19", ((7, 0.02), (9, 0.1), (13, 0.25))),
        ],
    )
    def test_of_the_next_larger_one(self, size: int, lender: str, curriculum: Any) -> None:
        borrowed, own = recipe_for(GoEnv(size)), RECIPES[lender]
        assert borrowed.network == own.network
        assert borrowed.settings == {**own.settings, "curriculum": curriculum}
        assert borrowed.make_env() == GoEnv(size)
        assert borrowed.note.startswith(f"{size}x{size} has no recipe of its own: it takes that of {lender}")

    def test_other_games(self) -> None:
        assert recipe_for(ReversiEnv()) is OTHER_GAMES
        for env in (ConnectFourEnv(), OwareEnv()):
            assert recipe_for(env) is RECIPES[env.name]

    def test_a_run_by_the_clock_takes_it(self) -> None:
        """It said nothing, and played by the settings of runs that count games: 800 readouts."""
        asked_for = {"max_minutes": 10}, {}, {"max_processor_minutes": 3}
        for given, limits in zip(asked_for, ((10, None), (10, None), (None, 3)), strict=True):
            plan = started(GoEnv(5), given)
            assert plan.settings.selfplay.readouts == 16
            assert (plan.settings.max_minutes, plan.settings.max_processor_minutes) == limits
            assert plan.settings.num_games is None
            assert plan.notes[0].startswith("5x5 has no recipe of its own")

    def test_train_says_so(self, tmp_path: Path) -> None:
        """Where the run begins, and not where it goes on."""
        first, second = (interrupt_at(1) for _ in range(2))
        for report in (first, second):
            run(tmp_path, None, max_minutes=1000, report=report, source=RandomGames)
        assert first.notes[:2] == [recipe_for(GO).note, f"a new run of {GO} begins in {tmp_path}"]
        assert recipe_for(GO).note not in second.notes

    def test_few_games(self) -> None:
        """A run of few games learns more from each, with the board's network."""
        plan = started(GoEnv(7), {"num_games": 100, "epochs": 2})
        chosen = {"games_in_flight": 12, "epochs": 2, "max_minutes": None}
        assert (FEW_GAMES | chosen).items() <= flat_settings(plan.config).items()
        assert plan.model.tower_height == RECIPES["7x7"].network["tower_height"]
        assert not plan.notes

    def test_many_games(self) -> None:
        """A run of many games takes the board's recipe, and ends with the games."""
        plan = started(GoEnv(7), {"num_games": 100_000})
        assert plan.config["recipe"] == "7x7"
        settings = plan.settings
        assert (settings.selfplay.readouts, settings.curriculum, settings.max_minutes) == (16, ((5, 0.1),), None)

    def test_a_recipe_by_name(self) -> None:
        """What the call says goes first, of settings and of the network."""
        plan = started(GO, {"num_games": 1, "readouts": 1, "curriculum": ()}, preset="9x9", channels=4)
        recipe = RECIPES["9x9"]
        assert (plan.settings.selfplay.readouts, plan.settings.curriculum, plan.model.channels) == (1, (), 4)
        assert plan.model.tower_height == recipe.network["tower_height"]
        assert plan.settings.memory.samples_per_position == recipe.settings["samples_per_position"]

    @pytest.mark.parametrize("name", RECIPES)
    def test_its_parts_fit_together(self, name: str) -> None:
        recipe = RECIPES[name]
        settings, env = run_settings(**recipe.settings), recipe.make_env()
        if name not in ("paper", "alphago.jl"):  # 23 million weights
            net = NeuralNet(env, **recipe.network)
            assert all(net.resized(env.resized(size)) for size, _ in settings.curriculum)


def test_alphago_jl() -> None:
    """The constants of `MCTSPlayer` and `selfplay`; a pass is not drawn while moves are drawn by squashed visits."""
    env = RECIPES["alphago.jl"].make_env()
    selfplay = run_settings(**RECIPES["alphago.jl"].settings).selfplay
    assert isinstance(env, GoEnv)
    assert (env.N, env.planes, selfplay.readouts, selfplay.resign_threshold) == (19, 17, 800, -0.9)
    assert selfplay.search == Puct(first_play_reduction=0.0, leaves=8, squash=0.98)
    assert (Puct().c_puct, Puct().dirichlet_weight) == (0.96, 0.25)
    assert env.first_pass == temperature_plies(env) == 30


def test_a_run_of_a_gpu_goes_on_elsewhere_with_its_network() -> None:
    recipe = RECIPES["9x9"]
    large = {**recipe.network_on("cuda"), "planes": "rules"}
    assert large["channels"] > recipe.network_on("cpu")["channels"]
    assert recipe.network_like(large) == recipe.network_on("cuda")
    narrow = {**recipe.network_on("cpu", short=True), "planes": "rules"}
    assert narrow["channels"] < recipe.network_on("cpu")["channels"]
    assert recipe.network_like(narrow) == recipe.network_on("cpu", short=True)
    assert recipe.network_like({"tower_height": 1, "channels": 8}) == recipe.network
    assert recipe.for_games(100).network_on("cuda") == recipe.network
    assert recipe.for_games(100).network_on("cpu", short=True) == recipe.network


@pytest.mark.parametrize(
    ("minutes", "threads", "has_amx", "is_narrow"),
    [
        ({"max_minutes": 30}, 2, False, True),
        ({"max_minutes": 30}, 8, False, False),
        ({"max_minutes": 30}, 4, False, True),
        ({"max_processor_minutes": 120}, 8, False, True),
        ({"max_processor_minutes": 121}, 1, False, False),
        ({"max_minutes": None, "num_games": 22_420}, 1, False, False),
        ({"max_minutes": 30}, 2, True, False),
    ],
)
def test_a_short_run_without_amx_has_a_narrow_network(
    monkeypatch: pytest.MonkeyPatch, minutes: dict[str, Any], threads: int, has_amx: bool, is_narrow: bool
) -> None:
    """9x9's recipe; minutes of each thread count."""
    monkeypatch.setattr(train_module, "cpu_has", lambda instructions: has_amx)
    plan = started(GoEnv(9), {**minutes, "groups": threads})
    recipe = RECIPES["9x9"]
    assert plan.config["network"]["channels"] == recipe.network_on("cpu", short=is_narrow)["channels"]
