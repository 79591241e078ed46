"""Recipes: the measured network and settings for each board (docs/results.md), from recipes.toml.

`train(GoEnv(9))` uses the recipe of its board, or of the next larger board that has one; arguments of the call replace
the recipe's values.  Recipes are for runs limited by `max_minutes`.  A run of few games, `train(GoEnv(9),
num_games=100)`, uses FEW_GAMES instead of the recipe's settings, because it has to learn more from each game.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import make_game
from alphago.system.validation import check_choice

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
COMMON = TABLES.pop("common")  # settings that recipes share, by name


@dataclass(frozen=True)
class Recipe:
    """The game, network and settings of training on one board.

    env: options of the game.
    network: keywords of NeuralNet.
    settings: settings of RunSettings and of its parts, by keyword (see `alphago.training.run_parts`).  A part is
        its name or a dictionary, of a search with all that depends on other settings by default, such as `leaves`.
    proved_after: for each opponent, the number of positions of self-play after which a run proved its network stronger.
    gpu: settings that replace those in `settings` on a GPU.
    gpu_network: keywords of NeuralNet that replace those in `network` on a GPU.
    game: the game's name; "" for any game.
    note: a sentence to report when a run with this recipe begins.
    """

    env: Mapping[str, Any]
    network: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    proved_after: Mapping[str, int] = field(default_factory=dict)
    gpu: Mapping[str, Any] = field(default_factory=dict)
    gpu_network: Mapping[str, Any] = field(default_factory=dict)
    game: str = "go"
    note: str = ""

    def settings_on(self, device: str) -> Mapping[str, Any]:
        """Return the settings, by keyword, for a device, which is "cpu" or a GPU such as "cuda"."""
        return self.settings if device == "cpu" else {**self.settings, **self.gpu}

    def network_on(self, device: str) -> Mapping[str, Any]:
        """Return the keywords of NeuralNet for a device, as `settings_on`."""
        return self.network if device == "cpu" else {**self.network, **self.gpu_network}

    def network_like(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the network, of a CPU or of a GPU, that a run with this `config` of its network has; else the CPU's.

        A run may be resumed on another device than it began on.
        """
        networks = [self.network_on(device) for device in ("cpu", "cuda")]
        return next((network for network in networks if network.items() <= config.items()), self.network)

    def for_games(self, games: int) -> "Recipe":
        """Return the recipe for a run that is limited to `games` games.

        For fewer than MANY_GAMES games it has the settings FEW_GAMES, otherwise this recipe's without a time limit.
        """
        if games < MANY_GAMES:
            return replace(self, settings=FEW_GAMES, proved_after={}, gpu={}, gpu_network={}, note="")
        return replace(self, settings={**self.settings, "max_minutes": None})

    def make_env(self, board_size: int | None = None) -> GameEnv:
        """Return the recipe's game on a board of size `board_size`; None for the recipe's own size."""
        env = make_game(self.game, **self.env)
        return env if board_size in (None, env.N) else env.resized(board_size)

    def positions_to_beat(self, opponent: str, env: GameEnv) -> int:
        """Return the number of positions of self-play after which a run beat `opponent` in `env`; 0 if unknown."""
        positions = self.proved_after.get(opponent, 0)
        return positions if positions and self.make_env().accepts(env) else 0


def read_recipes() -> dict[str, Recipe]:
    """Return the recipes of recipes.toml by name."""
    recipes = {}
    for name, table in TABLES.items():
        settings: dict[str, Any] = {}
        for shared in table.pop("common", ()):
            settings |= COMMON[shared]
        settings |= table.pop("settings")
        settings = {key: None if value == "none" else value for key, value in settings.items()}
        gpu = COMMON[table.pop("gpu")] if "gpu" in table else {}
        recipes[name] = Recipe(settings=settings, gpu=gpu, **table)
    return recipes


RECIPES = read_recipes()
OTHER_GAMES, FEW_GAMES = RECIPES.pop("other"), COMMON["few-games"]
MANY_GAMES = 5000  # from this number of games on, which 7x7 plays in ten minutes, the recipes' settings apply
BOARDS = {"go": (7, 9, 13, 19)}  # boards that have a recipe of their own, by game


def recipe_for(env: GameEnv) -> Recipe:
    """Return the recipe of a game: for Go its board's, for other games their own one, else OTHER_GAMES.

    A Go board without a recipe gets the recipe of the next larger board that has one (else of the largest).  Its
    curriculum keeps only boards smaller than `env`, and its `note` names the board it was made for.
    """
    if env.name not in BOARDS:
        return RECIPES.get(env.name, OTHER_GAMES)
    sizes = BOARDS[env.name]
    near = min((size for size in sizes if size >= env.N), default=sizes[-1])
    recipe = RECIPES[f"{near}x{near}"]
    if near == env.N:
        return recipe
    smaller = tuple((size, share) for size, share in recipe.settings.get("curriculum", ()) if size < env.N)
    return replace(
        recipe,
        env=recipe.make_env(env.N).config,
        settings={**recipe.settings, "curriculum": smaller},
        proved_after={},
        note=f"{env.N}x{env.N} has no recipe of its own: it takes that of {near}x{near}, which was not measured here",
    )


def named_recipe(name: str) -> Recipe:
    """Return the recipe called `name`; raise ValueError, with a list of all names, if there is no such recipe."""
    return RECIPES[check_choice("preset", name, RECIPES)]
