"""`Adjudicator`: a program that says how finished games of Go ended, where the board as it stands would not do."""

from dataclasses import replace

import numpy as np

from alphago.arena.engine import EngineError, GtpEngine, GtpProgram, named_program
from alphago.arena.engine_player import COLOURS, margin, set_up
from alphago.arena.match_games import MatchGame
from alphago.env.board import result_text
from alphago.env.game import GameEnv
from alphago.env.games import require_go


class Adjudicator:
    """Counts finished games by a program's `final_score`, each in a process of its own.

    For programs that pass before dead stones are taken: Tromp and Taylor's rules count them as alive.  ValueError for
    other games than Go, and for fixed turns, of whose end programs know nothing.
    """

    def __init__(self, env: GameEnv, program: GtpProgram) -> None:
        self.env = require_go(env, program.name)
        self.program = program
        if self.env.turns is not None:
            raise ValueError(f"{program.name} counts games that end by two passes, these end after fixed turns")

    def judged(self, game: MatchGame, seed: int) -> MatchGame:
        """The game with the program's result, and both told where they differ; as it is where a side gave up.

        seed: the program's.  EngineError where it does not count.
        """
        if game.margin is None:
            return game
        with self.program.start(seed, self.env.rules) as engine:
            text = self._ask(engine, game)
        counted = margin(text)
        if counted is None:
            raise EngineError(f"{self.program.name} answered {text!r} to final_score of game {game.number}, no result")
        told = f"{result_text(game.margin)} on the board, {text} counts {self.program.name}"
        told = "; ".join(filter(None, (game.disagreement, "" if counted == game.margin else told)))
        side = 1 if game.number % 2 == 0 else -1
        outcome = side * float(np.sign(counted)) + 0.0  # no -0.0
        return replace(game, outcome=outcome, margin=counted, counted=True, disagreement=told)

    def _ask(self, engine: GtpEngine, game: MatchGame) -> str:
        set_up(engine, self.env)
        position = self.env.position()
        for action in game.moves:
            engine.ask(f"play {COLOURS[position.to_play]} {self.env.to_text(action)}")
            position = position.play(action)
        return engine.ask("final_score")


def named_adjudicator(who: str | GtpProgram | None) -> GtpProgram | None:
    """The program of that name, "gnugo" or "gnugo:LEVEL"; ValueError for another one, EngineError if it is missing."""
    if who is None or isinstance(who, GtpProgram):
        return who
    program = named_program(who) if isinstance(who, str) else None
    if program is None:
        raise ValueError(f"adjudicator is 'gnugo', 'gnugo:LEVEL', a GtpProgram or None, got {who!r}")
    return program
