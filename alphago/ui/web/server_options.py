"""What the command `alphago web` makes a server offer: networks to play with, runs to watch, games to begin with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, USUAL_GAME, make_game, with_settings
from alphago.env.packaged_nets import named_board_size, packaged_nets, usual_game
from alphago.training.runs.config import game_from_config, holds_run, read_config
from alphago.ui.web.engines import PLAYOUTS, Choice


@dataclass
class ServerOptions:
    """What a server offers.

    Attributes:
        choices: the networks, those that the command names first.
        usual_games: games by name, with the options that new games have unless others are chosen.  Pages begin with the
            first game.
        runs: folders of runs to watch.
    """

    choices: list[Choice] = field(default_factory=list)
    usual_games: dict[str, GameEnv] = field(default_factory=dict)
    runs: list[Path] = field(default_factory=list)

    def add_network(self, name: str, source: str | Path, env: GameEnv) -> None:
        """Add a network that the command names, and its game; if `name` is in use already, `source` is its name."""
        names = [choice.name for choice in self.choices]
        self.choices.append(Choice(str(source) if name in names else name, source, game=env.name, size=env.N))
        self.usual_games.setdefault(env.name, env)


def make_offer(
    words: Sequence[str], game: str | None = None, board_size: int | None = None, given: Mapping[str, Any] = {}
) -> ServerOptions:
    """Return what to offer, given the words and options of the command `alphago web`.

    Args:
        words: names or paths of networks and runs.
        game, board_size: options of the command; None for an option that was not given.
        given: further options of the game, by name.

    Raises:
        ValueError: for a word that names neither a network nor a run, and for a size or options that the game does not
            have.
        FileNotFoundError: for a folder without a run.
    """
    offer = ServerOptions()
    for word in words:
        add_word(offer, word, game)
    first_game = game or (offer.choices[0].game if offer.choices else USUAL_GAME)
    env = offer.usual_games.pop(first_game, None)  # a word's game; put back below, before the others
    if env is None:
        # `make_game` takes None as "the default", so an option given as None, as `turns` may be, is set once more.
        unset = {name: value for name, value in given.items() if value is None}
        env = with_settings(make_game(first_game, board_size, **given), unset)
    else:
        env = with_settings(env if board_size in (None, env.N) else env.resized(board_size), given)
    usual_games = {first_game: env, **offer.usual_games}
    offer.usual_games = {name: usual.match_variant() for name, usual in usual_games.items()}
    named = [choice.name for choice in offer.choices]
    offer.choices += [packaged_choice(network) for network in packaged_nets() if network not in named]
    offer.choices.append(Choice(name=PLAYOUTS, source=PLAYOUTS, game="", named_by_user=False))
    return offer


def packaged_choice(network: str) -> Choice:
    """Return the choice of a packaged network: one of Go is named after its board, any other after its game."""
    size = named_board_size(network)
    game = network if size is None else USUAL_GAME
    return Choice(name=network, source=network, game=game, size=size or 0, named_by_user=False)  # size 0: any board


def add_word(offer: ServerOptions, word: str, game: str | None) -> None:
    """Add the network or the run that a word names to the offer; raise ValueError if the word names neither.

    Args:
        game: the game that a network must play; None for any game.  A run may be of any game.
    """
    path = Path(word)
    if holds_run(path):
        offer.runs.append(path)
        config = read_config(path)
        if config["game"] in GAMES:  # the run of a custom game can be watched, but its network is not offered
            # The folder "." has no name.
            offer.add_network(path.name or word, path, game_from_config(config))
        return
    from alphago.nn.model_files import model_file, saved_game  # only now: it loads torch

    file = model_file(word)
    env = saved_game(file)
    if game not in (None, env.name):
        raise ValueError(f"{file} must hold a network for {game}, got one for {env}")
    if word in packaged_nets():  # offered for the usual rules, whatever rules of self-play it was saved with
        offer.add_network(path.stem, word, usual_game(env))
    else:
        offer.add_network(path.stem, path, env)
