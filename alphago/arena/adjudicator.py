"""`Adjudicator`: let an engine score finished games of Go whose boards may still hold dead stones."""

from dataclasses import replace

import numpy as np

from alphago.arena.engine import Engine, EngineError, EngineProcess, find_engine
from alphago.arena.engine_player import COLOURS, read_margin, set_up
from alphago.arena.match_games import MatchGame
from alphago.env.board import result_text
from alphago.env.game import GameEnv
from alphago.env.games import require_go


class Adjudicator:
    """A referee that scores final boards of Go with the command `final_score` of an engine, one process per game.

    Use it for players that pass before dead stones are captured: Tromp-Taylor rules count these stones as alive.
    Raises ValueError for games other than Go and for games with fixed turns (`GoEnv.turns`), which GTP does not know.
    """

    def __init__(self, env: GameEnv, engine: Engine) -> None:
        self.env = require_go(env, engine.name)
        self.engine = engine
        if self.env.turns is not None:
            raise ValueError(f"{engine.name} scores games that end by two passes, got games of fixed turns")

    def judge(self, game: MatchGame, seed: int) -> MatchGame:
        """Return the game with the outcome and margin that follow from the engine's score.

        seed: the engine's random seed.

        If the Tromp-Taylor score differs, `disagreement` has both scores. A game that ended by resignation or forfeit
        (margin None) is returned unchanged. Raises EngineError if the engine's reply is not a score.
        """
        if game.margin is None:
            return game
        with self.engine.start(seed, self.env.rules) as process:
            text = self._ask(process, game)
        margin = read_margin(text)
        if margin is None:
            raise EngineError(f"{self.engine.name} answered {text!r} to final_score of game {game.number}, not a score")
        disagreements = [game.disagreement] if game.disagreement else []  # a playing engine may have counted too
        if margin != game.margin:
            disagreements.append(f"{result_text(game.margin)} on the board, {text} counts {self.engine.name}")
        first_colour = 1 if game.number % 2 == 0 else -1  # the first player's; `margin` is Black's
        outcome = first_colour * float(np.sign(margin)) + 0.0  # no -0.0
        return replace(game, outcome=outcome, margin=margin, counted=True, disagreement="; ".join(disagreements))

    def _ask(self, process: EngineProcess, game: MatchGame) -> str:
        """Play the game's moves in an engine's process, and return its reply to `final_score`."""
        set_up(process, self.env)
        for before, action in self.env.position().after(game.moves).turns():
            process.ask(f"play {COLOURS[before.to_play]} {self.env.to_text(action)}")
        return process.ask("final_score")


def find_adjudicator(adjudicator: str | Engine | None) -> Engine | None:
    """Return the engine with a name as in `find_engine`, such as "gnugo:10"; return an Engine or None unchanged.

    Raises ValueError for any other name, EngineError for an engine that is not installed.
    """
    if adjudicator is None or isinstance(adjudicator, Engine):
        return adjudicator
    engine = find_engine(adjudicator) if isinstance(adjudicator, str) else None
    if engine is None:
        raise ValueError(f"adjudicator must be 'gnugo', 'gnugo:LEVEL', an Engine or None, got {adjudicator!r}")
    return engine
