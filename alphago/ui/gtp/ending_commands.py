"""GTP commands for the end of a game: the score, dead stones, and cleaning up on KGS."""

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.mcts.analysis_search import Forbidden
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import Command, GtpFailure, argument, check_colour

STATUSES = ("alive", "dead", "seki")


class EndingCommands:
    """The commands for the end of a game."""

    def __init__(self, engine: GtpEngine) -> None:
        self.engine = engine
        self.commands: dict[str, Command] = {
            "final_score": self.final_score,
            "final_status_list": self.final_status_list,
            "kgs-genmove_cleanup": self.genmove_cleanup,
            "kgs-game_over": self.game_over,
        }

    def final_score(self, arguments: list[str]) -> str:
        """Return the Tromp-Taylor score of the current board."""
        margin = self.engine.game.position.score()
        return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}" if margin < 0 else "0"

    def final_status_list(self, arguments: list[str]) -> str:
        """Return the stones with the status that is asked for, one chain per line.

        A chain is dead if the network expects its points to become the other side's. No chain is reported as seki: area
        scoring counts seki stones as alive.
        """
        status = argument(arguments, 0).lower()
        if status not in STATUSES:
            raise GtpFailure(f"the status must be one of {', '.join(STATUSES)}, got {status}")
        dead, every = self.dead_chains(), chains(self.engine.game.position.board)
        chosen = {"dead": dead, "alive": [chain for chain in every if chain not in dead], "seki": []}[status]
        return "\n".join(" ".join(map(self.engine.game.env.to_text, chain)) for chain in chosen)

    def genmove_cleanup(self, arguments: list[str]) -> str:
        """Play a move, but do not pass while dead stones of the other side are on the board, as kgsGtp requires."""
        colour = check_colour(argument(arguments, 0))
        game = self.engine.game
        board = game.position.board.ravel()
        others = any(board[chain[0]] == -colour for chain in self.dead_chains())
        position = game.ready(colour)
        rules = [Forbidden(colour, frozenset([game.env.pass_action]))] if others else []
        stay = others and bool(position.legal_mask[:-1].any())
        return self.engine.move(colour, rules=rules if stay else [], over=False if stay else None)

    def game_over(self, arguments: list[str]) -> str:
        """Stop pondering until the next game."""
        self.engine.pondering = False
        return ""

    def dead_chains(self) -> list[list[int]]:
        """Return the chains that the network considers dead; [] if it forecasts no ownership."""
        position = self.engine.game.position
        owners = self.ownership(position)
        if owners is None:
            return []
        board = position.board.ravel()
        return [chain for chain in chains(position.board) if owners[chain].mean() * board[chain[0]] < 0]

    def ownership(self, position: GoPosition) -> np.ndarray | None:
        """Return the expected owners, float32 [N * N], 1 for Black's points, -1 for White's; None without forecasts."""
        engine = self.engine
        if engine.at_random:
            return None
        ready = engine.game.ready(position.to_play)
        owners = engine.look(ready).ownership
        return None if owners is None else owners[0].ravel() * ready.to_play


def chains(board: np.ndarray) -> list[list[int]]:
    """Return the chains of a board [N, N] of 1, -1 and 0, each as a sorted list of points."""
    size, stones, seen = len(board), board.ravel(), set()
    found = []
    for start in np.flatnonzero(stones).tolist():
        if start in seen:
            continue
        chain, waiting = {start}, [start]
        while waiting:
            point = waiting.pop()
            row, column = divmod(point, size)
            for beside in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                other = beside[0] * size + beside[1]
                if min(beside) >= 0 and max(beside) < size and stones[other] == stones[start] and other not in chain:
                    chain.add(other)
                    waiting.append(other)
        seen |= chain
        found.append(sorted(chain))
    return found
