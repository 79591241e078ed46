"""`GtpPlayer`: another program as one side of many games."""

import contextlib
import re
from collections.abc import Sequence

import numpy as np

from alphago.arena.engine import EngineError, GtpEngine, GtpProgram
from alphago.env.board import result_text
from alphago.env.game import GameBatch
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition

GIVES_UP = -1  # in place of an action: the player has lost this game
COLOURS = {1: "b", -1: "w"}


class GtpPlayer:
    """A program as one side of many games, with a process for each; `close` it when the games are over.

    seeds: one for each game.

    Its moves follow from the engine and its seed alone: `by_chance` is ignored.  Raises EngineError
    if an engine cannot be set up for the game; later, an engine that crashes, hangs, talks nonsense or
    plays an illegal move gives that game up, and `faults` says why.
    """

    def __init__(self, env: GoEnv, program: GtpProgram, seeds: Sequence[int]) -> None:
        self.env = env
        self.name = program.name
        self.batch: GameBatch = env.new_batch(len(seeds))
        self.moves: list[list[int]] = [[] for _ in seeds]
        self.faults: dict[int, str] = {}  # games it lost by a fault of its own
        self.scores: dict[int, str] = {}  # its `final_score` of finished games
        self._broken: dict[int, str] = {}  # engines that will give up when it is their turn
        self._own: dict[int, int] = {}  # moves that are on the engine's board, but not yet followed
        self.engines: list[GtpEngine] = []
        try:
            for seed in seeds:  # all start before one is waited for
                self.engines.append(program.start(seed, env.rules))
            for engine in self.engines:
                set_up(engine, env)
        except BaseException:
            self.close()
            raise

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Actions int32 [n], GIVES_UP where the engine failed or resigned."""
        actions = np.full(len(games), GIVES_UP, np.int32)
        movers = self.batch.to_play(games, np.empty(len(games), np.int8))
        for i, (game, mover) in enumerate(zip(games.tolist(), movers.tolist(), strict=True)):
            self._attempt(game, "genmove", COLOURS[mover])
            actions[i] = self._received(game)
        return actions

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        movers = self.batch.to_play(games, np.empty(len(games), np.int8))
        for game, action, mover in zip(games.tolist(), actions.tolist(), movers.tolist(), strict=True):
            if self._own.pop(game, None) != action:
                self._tell(game, COLOURS[mover], self.env.to_text(action))
            self.moves[game].append(action)
        self.batch.play(games, actions)
        for game in games[self.batch.is_over(games, np.empty(len(games), np.bool_))].tolist():
            if self.env.turns is None:  # of a game that fixed turns end it knows no result
                self._ask_score(game)
            self.engines[game].close()

    def disagreement(self, game: int) -> str | None:
        """Both results, if the engine's count of the final board differs from Tromp and Taylor's."""
        if game not in self.scores:
            return None
        ours, said = self._position(game).score(), self.scores[game]
        return None if margin(said) == ours else f"{result_text(ours)} on the board, {said} says {self.name}"

    def close(self) -> None:
        """Ends all engines."""
        for engine in self.engines:
            engine.close()

    def _attempt(self, game: int, *words: str) -> None:
        """Sends a command; an engine that cannot take it is broken."""
        if game not in self._broken:
            try:
                self.engines[game].send(" ".join(words))
            except EngineError as error:
                self._broken[game] = str(error)

    def _tell(self, game: int, colour: str, move: str) -> None:
        """Tells a move, of which an engine may have its own opinion: then it loses the game."""
        self._attempt(game, "play", colour, move)
        if game not in self._broken:
            try:
                self.engines[game].receive()
            except EngineError as error:
                self._broken[game] = str(error)

    def _received(self, game: int) -> int:
        """The action that the engine answered, or GIVES_UP."""
        try:
            if game in self._broken:
                raise EngineError(self._broken[game])
            text = self.engines[game].receive()
            action = GIVES_UP if text.lower() == "resign" else self._read(game, text)
        except EngineError as error:
            self.faults[game] = str(error)
            action = GIVES_UP
        if action == GIVES_UP:
            self.engines[game].close()
        else:
            self._own[game] = action
        return action

    def _read(self, game: int, text: str) -> int:
        """The legal action that the engine answered; EngineError if it is none."""
        try:
            action = self.env.from_text(text)
            if not self.batch.legal_mask(np.array([game]), np.empty((1, self.env.action_space), np.bool_))[0, action]:
                self._position(game).check_action(action)
        except ValueError as error:  # IllegalMove is one
            raise EngineError(f"{self.name} answered {text!r} to genmove: {error}") from None
        return action

    def _position(self, game: int) -> GoPosition:
        position = self.env.position()
        for action in self.moves[game]:
            position = position.play(action)
        return position

    def _ask_score(self, game: int) -> None:
        """Asks for the result of a finished game, which an engine need not know."""
        if game not in self._broken:
            with contextlib.suppress(EngineError):
                score = self.engines[game].ask("final_score")
                if margin(score) is not None:
                    self.scores[game] = score


def set_up(engine: GtpEngine, env: GoEnv) -> None:
    """Tells an engine board and komi, for a new game; EngineError if it does not take them."""
    for command in (f"boardsize {env.N}", "clear_board", f"komi {env.komi:g}"):
        engine.ask(command)


def margin(text: str) -> float | None:
    """Black's margin in a `final_score` such as "B+3.5" or "0"; None if there is none in it."""
    match = re.fullmatch(r"([BbWw])\+([0-9]+(?:\.[0-9]*)?)", text.strip())
    if match:
        return float(match[2]) * (1 if match[1] in "Bb" else -1)
    return 0.0 if text.strip().lower() in ("0", "draw", "jigo") else None
