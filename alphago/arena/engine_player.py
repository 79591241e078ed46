"""Players that are programs: what they have in common, and `EnginePlayer` for programs that speak GTP."""

import contextlib
import re
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from alphago.arena.engine import Engine, EngineError, EngineProcess
from alphago.arena.players import RESIGN, Player
from alphago.env.board import result_text
from alphago.env.game import GameEnv
from alphago.env.go import GoEnv
from alphago.system.validation import shown


class ProgramPlayer(Player):
    """A program as one side of many games; it loses a game by a fault of its own, such as an illegal move.

    Call `close` when the games are over.

    Args:
        name: the program's name in messages.
        games: number of games.
    """

    question = "genmove"  # the command that asks for a move, for messages

    def __init__(self, env: GameEnv, name: str, games: int) -> None:
        super().__init__(env.new_batch(games))
        self.env, self.name = env, name
        self.moves: list[list[int]] = [[] for _ in range(games)]

    @abstractmethod
    def ask_move(self, game: int) -> int:
        """Return the program's action in a game, or RESIGN; raise EngineError if the program fails."""

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions, int32 [n], RESIGN for a game that the program gives up or forfeits; see `Player.choose`.

        `by_chance` is ignored: only the seed varies a program's moves.
        """
        actions = np.full(len(games), RESIGN, np.int32)
        for i, game in enumerate(games.tolist()):
            try:
                actions[i] = self.ask_move(game)
            except EngineError as error:
                self.faults[game] = str(error)
        return actions

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play an action in each game, and keep it in `moves`."""
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            self.moves[game].append(action)
        super().follow(games, actions)

    def read_move(self, game: int, text: str) -> int:
        """Return the action of a move that is given as text; raise EngineError if it is not a legal move."""
        try:
            action = self.env.from_text(text)
            if not self.batch.legal_mask(np.array([game]), np.empty((1, self.env.action_space), np.bool_))[0, action]:
                self.env.position().after(self.moves[game]).check_action(action)  # raises with the reason
        except ValueError as error:  # IllegalMove is one
            raise EngineError(f"{self.name} answered {shown(text)} to {self.question}: {error}") from None
        return action


class EnginePlayer(ProgramPlayer):
    """An engine as one side of many games, with one process per game.

    Args:
        seeds: the engine's random seed in each game.

    Raises:
        EngineError: if an engine cannot be set up for the game.  During the games nothing is raised: an engine that
            crashes, hangs, breaks the protocol or plays an illegal move forfeits its game, and `faults` has the reason.
    """

    env: GoEnv

    def __init__(self, env: GoEnv, engine: Engine, seeds: Sequence[int]) -> None:
        super().__init__(env, engine.name, len(seeds))
        self._own_move: dict[int, int] = {}  # by game: the engine's last move, which is already on the engine's board
        self.processes: list[EngineProcess] = []
        try:
            for seed in seeds:  # all are started before the first is waited for
                self.processes.append(engine.start(seed, env.rules))
            for process in self.processes:
                set_up(process, env)
        except BaseException:
            self.close()
            raise

    def ask_move(self, game: int) -> int:
        """Return the move that the engine generates in a game; the engine has then played it on its own board."""
        text = self._ask(game, f"genmove {self.side_to_move(game)}")
        if text.lower() == "resign":
            return RESIGN
        self._own_move[game] = self.read_move(game, text)
        return self._own_move[game]

    def choose(self, games: np.ndarray, by_chance: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """Return actions as `ProgramPlayer.choose` does; end the processes of games that the engine gives up."""
        actions = super().choose(games, by_chance, chance)
        for game in games[actions == RESIGN].tolist():  # these games end now, and `follow` is not called for them
            self.processes[game].close()
        return actions

    def follow(self, games: np.ndarray, actions: np.ndarray) -> None:
        """Play an action in each game, tell the engine the other side's actions, and end finished games' processes."""
        for game, action in zip(games.tolist(), actions.tolist(), strict=True):
            # The engine is told the moves that it did not choose: the other side's, and its own in a random opening.
            if self._own_move.pop(game, None) != action:
                try:
                    self._ask(game, f"play {self.side_to_move(game)} {self.env.to_text(action)}")
                except EngineError as error:
                    self.faults[game] = str(error)
        super().follow(games, actions)
        for game in games[self.batch.is_over(games, np.empty(len(games), np.bool_))].tolist():
            # With fixed turns (`GoEnv.turns`) a game can end without two passes.  GTP has no such rule: an engine would
            # take the game for an unfinished one, and is not asked for a score.
            if self.env.turns is None:
                self._keep_score(game)
            self.processes[game].close()

    def _keep_score(self, game: int) -> None:
        """Ask the engine for the score of a finished game, and keep it in `scores` if it is one."""
        with contextlib.suppress(EngineError):  # engines need not know `final_score`
            score = self._ask(game, "final_score")
            if read_margin(score) is not None:
                self.scores[game] = score

    def close(self) -> None:
        for process in self.processes:
            process.close()

    def side_to_move(self, game: int) -> str:
        """Return who is to move in a game, in GTP's letters "b" and "w"."""
        return "bw"[len(self.moves[game]) % 2]

    def _ask(self, game: int, command: str) -> str:
        """Return the reply of the engine of a game; raise EngineError if it fails now, or has failed before."""
        if game in self.faults:
            raise EngineError(self.faults[game])
        return self.processes[game].ask(command)


def check_engine(env: GoEnv, engine: Engine) -> str:
    """Start a process of an engine, and return the name and version that it reports; "" if it reports none.

    Raises:
        EngineError: unless the engine accepts the game's board size and komi.
    """
    with engine.start(1, env.rules) as process:
        set_up(process, env)
        with contextlib.suppress(EngineError):
            return f"{process.ask('name')} {process.ask('version')}"
    return ""


def set_up(process: EngineProcess, env: GoEnv) -> None:
    """Set board size and komi for a new game; raise EngineError if the engine does not accept them."""
    for command in (f"boardsize {env.N}", "clear_board", f"komi {env.komi:g}"):
        process.ask(command)


def read_margin(text: str) -> float | None:
    """Return Black's margin in a `final_score` such as "B+3.5" or "0"; None if the text is not a score."""
    if match := re.fullmatch(r"([BbWw])\+([0-9]+(?:\.[0-9]*)?)", text.strip()):
        return float(match[2]) * (1 if match[1] in "Bb" else -1)
    return 0.0 if text.strip().lower() in ("0", "draw", "jigo") else None


def disagreement(margin: float, score: str, name: str) -> str:
    """Return a text with both scores of a final board, "" if they agree.

    Args:
        margin: Black's margin in points by the rules of the match.
        score: what an engine counts, as text, such as "B+2.5".
        name: the engine's name.
    """
    return "" if read_margin(score) == margin else f"{result_text(margin)} on the board, {score} counts {name}"
