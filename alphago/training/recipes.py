"""Recipes: the measured network and settings for each board (docs/results.md), from recipes.toml.

`train(GoEnv(9))` uses the recipe of its board, or of the next larger board that has one; arguments of the call replace
the recipe's values.  Recipes are for runs limited by `max_minutes`.  A run of few games, `train(GoEnv(9),
num_games=100)`, uses FEW_GAMES instead of the recipe's settings, because it has to learn more from each game.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import make_game
from alphago.system.validation import check_choice
from alphago.training.settings.run_settings import RunSettings

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
COMMON = TABLES.pop("common")  # settings that recipes share, by name


@dataclass(frozen=True)
class Recipe:
    """The game, network and settings of training on one board.

    Attributes:
        env: options of the game.
        network: keywords of NeuralNet.
        settings: settings of RunSettings and of its parts, by keyword.  A part is given by its name, or by a
            dictionary.
        beats_gnugo_after: positions of self-play after which a run with this recipe was proved stronger than GNU Go; 0:
            not measured.
        gpu: settings that replace entries of `settings` on a GPU.
        gpu_network: keywords of NeuralNet that replace entries of `network` on a GPU.
        short_network: keywords of NeuralNet that replace entries of `network` in a short run on a CPU without AMX (see
            `is_short`).
        game: the game's name; "" for any game.
        note: a sentence to report when a run with this recipe begins.
        name: the recipe's name in config.json; for a recipe adapted from another board its note.
    """

    env: Mapping[str, Any]
    network: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    beats_gnugo_after: int = 0
    gpu: Mapping[str, Any] = field(default_factory=dict)
    gpu_network: Mapping[str, Any] = field(default_factory=dict)
    short_network: Mapping[str, Any] = field(default_factory=dict)
    game: str = "go"
    note: str = ""
    name: str = ""

    def settings_on(self, device: str) -> Mapping[str, Any]:
        """Return the settings, by keyword, for a device, which is "cpu" or a GPU such as "cuda"."""
        return self.settings if device == "cpu" else {**self.settings, **self.gpu}

    def network_on(self, device: str, *, short: bool = False) -> Mapping[str, Any]:
        """Return the keywords of NeuralNet for a device, which is "cpu" or a GPU such as "cuda".

        Args:
            short: whether they are for a short run on a CPU without AMX.
        """
        if device != "cpu":
            return {**self.network, **self.gpu_network}
        return {**self.network, **self.short_network} if short else self.network

    def network_like(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the keywords of NeuralNet with which a run's network was made, on a CPU, in a short run, or on a GPU.

        They are found by comparison with the network, since a run may be resumed on another device.  If none fit, the
        result is `network`, and `check_unchanged` then refuses the recipe.

        Args:
            config: the config of the run's network.
        """
        candidates = (self.network, self.network_on("cpu", short=True), self.network_on("cuda"))
        # A network fits if the config has all its keywords with the same values.
        return next((network for network in candidates if network.items() <= config.items()), self.network)

    def for_games(self, games: int) -> "Recipe":
        """Return the recipe for a run that is limited to `games` games.

        With fewer than MANY_GAMES games, the result has the settings FEW_GAMES, otherwise this recipe's settings
        without the time limit.
        """
        if games >= MANY_GAMES:
            return replace(self, settings={**self.settings, "max_minutes": None})
        return replace(self, settings=FEW_GAMES, gpu={}, gpu_network={}, short_network={}, note="", name="few games")

    def make_env(self, board_size: int | None = None) -> GameEnv:
        """Return the recipe's game on a board of size `board_size`; None for the recipe's own size."""
        env = make_game(self.game, **self.env)
        return env if board_size in (None, env.N) else env.resized(board_size)


def make_recipe(settings: dict[str, Any], common: Iterable[str] = (), gpu: Iterable[str] = (), **more: Any) -> Recipe:
    """Return a recipe; the arguments are the entries of its table in recipes.toml.

    Args:
        settings: the recipe's own settings, which replace shared ones.
        common, gpu: names of groups of shared settings, for all devices and for a GPU; see `shared_settings`.
        more: other fields of Recipe.
    """
    on_cpu = {**shared_settings(common), **settings}
    # TOML has no null: "none" stands for it.
    on_cpu = {key: None if value == "none" else value for key, value in on_cpu.items()}
    return Recipe(settings=on_cpu, gpu=shared_settings(gpu), **more)


def shared_settings(names: Iterable[str]) -> dict[str, Any]:
    """Return the settings of all groups in COMMON with these names; a later group's replace those of earlier groups."""
    return {key: value for name in names for key, value in COMMON[name].items()}


RECIPES = {name: make_recipe(name=name, **table) for name, table in TABLES.items()}
# The recipe of games without a recipe of their own.
OTHER_GAMES = replace(RECIPES.pop("other"), name="the one of all other games")
FEW_GAMES = COMMON["few-games"]  # the settings of a run of fewer than MANY_GAMES games
# The most processor minutes of a short run: half an hour of four cores is short, of eight cores is not.
SHORT_RUN_MINUTES = 120.0
MANY_GAMES = 5000  # about the games that a run on 7x7 plays in ten minutes
# The sizes of boards that have a recipe each, ascending, by game.  Any other game has at most one recipe.
SIZES_WITH_RECIPES = {"go": (7, 9, 13, 19)}


def is_short(settings: RunSettings) -> bool:
    """Return whether a run on a CPU is too short to make use of a wide network (docs/experiments/42).

    A run without a limit of time is not.
    """
    minutes = settings.max_processor_minutes  # of all threads together
    if minutes is None and settings.max_minutes is not None:
        minutes = settings.max_minutes * settings.selfplay.groups  # each group has a thread
    return minutes is not None and minutes <= SHORT_RUN_MINUTES


def recipe_for(env: GameEnv) -> Recipe:
    """Return the recipe of a game: for Go the recipe of the board, for other games their own recipe or OTHER_GAMES.

    A Go board without a recipe gets the recipe of the next larger board that has a recipe, or else of the largest board
    that has a recipe.  Its curriculum keeps only boards smaller than `env`.  Its `note` names the board for which the
    recipe was made.  Its `name` is this note too, since config.json keeps only the name.
    """
    if env.name not in SIZES_WITH_RECIPES:  # any game but Go
        return RECIPES.get(env.name, OTHER_GAMES)
    sizes = SIZES_WITH_RECIPES[env.name]
    size = min((size for size in sizes if size >= env.N), default=sizes[-1])
    recipe = RECIPES[f"{size}x{size}"]
    if size == env.N:
        return recipe
    smaller_boards = tuple((board, share) for board, share in recipe.settings.get("curriculum", ()) if board < env.N)
    note = f"{env.N}x{env.N} has no recipe of its own: it takes that of {size}x{size}, which was not measured here"
    settings = {**recipe.settings, "curriculum": smaller_boards}
    return replace(recipe, env=recipe.make_env(env.N).config, settings=settings, note=note, name=note)


def named_recipe(name: str) -> Recipe:
    """Return the recipe called `name`; raise ValueError, with a list of all names, if there is no such recipe."""
    return RECIPES[check_choice("preset", name, RECIPES)]
