"""Recipes: the measured network and settings for each board (docs/results.md).

`train(GoEnv(9))` uses the recipe of its board, or of the next larger board that has one; arguments of the call replace
the recipe's values.  Recipes are for runs limited by `max_minutes`.  A run of few games, `train(GoEnv(9),
num_games=100)`, uses FEW_GAMES instead of the recipe's settings, because it has to learn more from each game.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import make_game
from alphago.mcts.puct import Puct
from alphago.system.validation import check_choice
from alphago.training.cgzero import CGZeroGames, CGZeroPuct, Champions, MixedTargets, Pool


@dataclass(frozen=True)
class Recipe:
    """The game, network and settings of training on one board.

    env: options of the game.
    network: keywords of NeuralNet.
    settings: settings of RunSettings and of its parts, by keyword (see `alphago.training.run_parts`).
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
        return next((one for one in networks if one.items() <= config.items()), self.network)

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


# Few readouts; many games in parallel, but fewer at the beginning; two samples per position, in small batches at a high
# learning rate.
FAST: dict[str, Any] = {
    "readouts": 16,
    "first_games_in_flight": 64,
    "plies_per_iteration": 32,
    "batch_size": 256,
    "learning_rate": 0.02,
    "samples_per_position": 2.0,
    "ckp_freq": 2000,
}

# Decided games are not searched to their ends: 45 +- 20 Elo on 7x7 for the same time (docs/experiments/36).
RESIGNING: dict[str, Any] = {"adaptive_resignation": True, "no_resign_share": 0.1, "play_out": True}

# Settings of a run of few games: four times as many readouts and samples, and no games on smaller boards.
FEW_GAMES: dict[str, Any] = {
    "readouts": 64,
    "learning_rate": 0.01,
    "batch_size": 128,
    "samples_per_position": 8.0,
    "ckp_freq": 100,
}
MANY_GAMES = 5000  # from this number of games on, which 7x7 plays in ten minutes, the recipes' settings apply

# A GPU plays hundreds of games a second, so a larger ckp_freq keeps fewer networks.  RunSettings choose
# games_in_flight by the device.  A run whose games all begin at once learns from a few generations only, however many
# games it plays (docs/experiments/34), so there are few in the beginning.
ON_GPU: dict[str, Any] = {
    "ckp_freq": 50_000,
    "plies_per_iteration": 24,
    "batch_size": 1024,
    "first_games_in_flight": 256,
}

# For all games, of any size, that have no recipe of their own; not measured.
OTHER_GAMES = Recipe({}, {"tower_height": 4, "channels": 64}, {**FAST, "max_minutes": 10.0, "readouts": 32}, game="")

RECIPES: dict[str, Recipe] = {
    "7x7": Recipe(
        {"board_size": 7, "komi": 9},
        {"tower_height": 4, "channels": 32},
        {**FAST, **RESIGNING, "max_minutes": 10.0, "curriculum": ((5, 0.1),)},
        {"gnugo": 320_000, "gnugo:10": 320_000},
        gpu=ON_GPU,
    ),
    "9x9": Recipe(
        {"board_size": 9, "komi": 7},
        {"tower_height": 4, "channels": 64},
        {**FAST, "max_minutes": 30.0, "first_readouts": 16, "readouts": 24, "curriculum": ((7, 0.15),)},
        {"gnugo": 484_000, "gnugo:10": 484_000},
        gpu=ON_GPU,
        gpu_network={"tower_height": 6, "channels": 96},
    ),
    "13x13": Recipe(
        {"board_size": 13, "komi": 7},
        {"tower_height": 5, "channels": 64},
        {**FAST, "max_minutes": 120.0, "first_readouts": 16, "readouts": 24, "curriculum": ((7, 0.05), (9, 0.25))},
        {"gnugo": 2_329_000, "gnugo:10": 2_329_000},
        gpu=ON_GPU,
    ),
    # Derived from the recipe of 13x13, not measured.  (Two hours of 13x13's recipe are enough to beat GNU Go on 19x19.)
    "19x19": Recipe(
        {"board_size": 19, "komi": 7},
        {"tower_height": 8, "channels": 96},
        {**FAST, "max_minutes": 720.0, "curriculum": ((7, 0.02), (9, 0.1), (13, 0.25))},
        gpu=ON_GPU,
    ),
    # The game of cody2007/alpha_go_zero_implementation (2018): each side plays 20 moves and cannot pass, komi is 0, and
    # the final board is scored by area.  The losses are cody2007's (alphago.nn.loss.LOSSES).  Search, network and
    # optimizer are the 7x7 recipe's.  Ko is positional superko; cody2007 compares only the latest two boards.
    "cody2007": Recipe(
        {"board_size": 7, "komi": 0, "turns": 20, "first_pass": 40, "planes": "turns"},
        {"tower_height": 4, "channels": 32},
        {**FAST, "max_minutes": 10.0, "losses": "cody2007", "weight_decay": 0.0},
        gpu=ON_GPU,
    ),
    # The same game with cody2007's own network, search and learning: c_puct 1, no noise, every move drawn by visits, a
    # sample of every second position of the latest 128 games.  Three things differ: a simulation evaluates one
    # position, not all of a line to the game's end; the planes hold the stones of each side apart, and the side to
    # move; and the learning rate, which cody2007 lowered by hand from 0.2 to 0.01, stays.
    "cody2007-own": Recipe(
        {"board_size": 7, "komi": 0, "turns": 20, "first_pass": 40, "planes": 7},
        {"preset": "cody2007"},
        {
            "num_games": 128_000, "readouts": 1000, "games_in_flight": 128, "plies_per_iteration": 40, "ckp_freq": 1280,
            "search": Puct(c_puct=1.0, parent_value_weight=0.0, first_play_reduction=0.0, dirichlet_weight=0.0),
            "temperature_plies": 40, "opening_plies": 0.0, "exact_rules": True, "search_share": 0.0,
            "surprise_share": 0.0, "memory_size": 128 * 40, "start_training_after": 128 * 40,
            "samples_per_position": 0.5, "batch_size": 128, "learning_rate": 0.2, "optimizer": "sgd",
            "schedule": "constant", "losses": "cody2007",
            "weight_decay": 0.0, "gradient_norm": None,
        },
    ),
    # The defaults of AlphaGo.jl's `train` and `MCTSPlayer` (tejank10/AlphaGo.jl, 2018), with its waves of 8 readouts
    # and its early moves, drawn by visits to the power 0.98 and never a pass; here no pass is searched there either.
    # AlphaGo.jl takes one gradient step per game: here 32 positions of each game, on average.
    "alphago.jl": Recipe(
        {"board_size": 19, "komi": 7.5, "planes": 17, "first_pass": 30},
        {"tower_height": 19, "channels": 256},
        {
            "num_games": 25_000, "memory_size": 500_000, "batch_size": 32, "epochs": 1, "ckp_freq": 1000,
            "readouts": 800, "start_training_after": 50_000, "samples_per_position": 0.15,
            "resign_threshold": -0.9, "no_resign_share": 0.05, "search_share": 0.0, "surprise_share": 0.0,
            "exact_rules": True, "opening_plies": 0.0,
            "search": Puct(first_play_reduction=0.0, leaves=8, squash=0.98),
            "learning_rate": 0.02, "optimizer": "sgd", "schedule": "constant", "losses": "alphago.jl",
            "weight_decay": 0.0, "gradient_norm": None,
        },
    ),
    # Silver et al. 2017, Methods: planes of boards alone, outcomes without the margin, 1600 readouts of PUCT with tree
    # reuse; 700 000 batches from games of some 200 plies; a candidate plays 400 games after 25 000 games of self-play.
    "paper": Recipe(
        {"board_size": 19, "komi": 7.5, "planes": 17, "max_moves": 722},
        {"preset": "paper"},
        {
            "num_games": 4_900_000, "readouts": 1600, "batch_size": 2048, "memory_size": 100_000_000,
            "adaptive_resignation": True, "no_resign_share": 0.1, "search_share": 0.0, "surprise_share": 0.0,
            "exact_rules": True,
            "opening_plies": 0.0, "temperature_plies": 30,
            "learning_rate": 1e-2, "search": Puct(first_play_reduction=0.0),
            "optimizer": "sgd", "schedule": "steps", "losses": "alphago-zero", "weight_decay": 0.0,
            "gradient_norm": None, "samples_per_position": 1.5,
            "gate": {"win_rate": 0.55, "games": 400, "every": 25_000},
        },
    ),
    # Longer openings than in other games, without which most games of self-play begin alike (docs/experiments/28).
    "connect-four": replace(
        OTHER_GAMES, settings={**OTHER_GAMES.settings, "opening_plies": 5.0}, game="connect-four"
    ),
    # Samples drawn uniformly: by surprise, as in the other recipes, Oware is learned more slowly (docs/experiments/30).
    "oware": replace(OTHER_GAMES, settings={**OTHER_GAMES.settings, "surprise_share": 0.0}, game="oware"),
    # Oware by the rules of CodinGame's contest, with all that marchete/CGZero (2020) has: network, search, games,
    # targets, losses, pool of merged samples, champions.  The constants are from CGZero's training notebook, or the
    # middle of its ranges.  CGZero differs in four things: it uses 2 000 readouts, plays 800 games per generation,
    # learns up to 20 epochs per generation in batches of 32 (here batches and learning rates are four times as large),
    # and has momentum 0.87.
    "cgzero": Recipe(
        {"rules": "cgzero", "planes": "one-hot"},
        {"preset": "cgzero"},
        {
            "max_minutes": 45.0, "first_readouts": 200, "readouts": 800, "games_in_flight": 256,
            "first_games_in_flight": 64, "plies_per_iteration": 32, "ckp_freq": 500, "start_training_after": 5000,
            "opening_plies": 0.0, "seating": CGZeroGames(random_move_share=0.015, random_move_plies=12),
            "search": CGZeroPuct(
                c_puct=2.897, c_puct_growth=0.0034, c_puct_limit=2.975, parent_value_weight=0.0,
                first_play_reduction=0.0, dirichlet_weight=0.22, dirichlet_alpha=1.45, value_noise=0.025,
                near_best=0.95,
            ),
            "targets": MixedTargets(), "memory": Pool(50_000), "judges": (Champions(0.556),),
            "losses": "cgzero", "optimizer": "sgd", "weight_decay": 0.0, "gradient_norm": None, "batch_size": 128,
            "learning_rate": 4e-3, "schedule": "constant",
        },
        game="oware",
    ),
}  # fmt: skip


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
