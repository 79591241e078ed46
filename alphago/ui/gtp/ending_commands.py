"""GTP commands for the end of a game: the score, dead stones, and cleaning up on KGS."""

from alphago.env.go_count import GoCount, chains, count_of
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
        """Return the area score: after two passes without the dead stones, else with all stones on the board."""
        position = self.engine.game.position
        return (GoCount(position) if count_of(position) is None else count_of_game(self.engine)).result

    def final_status_list(self, arguments: list[str]) -> str:
        """Return the stones with the status that is asked for, one chain per line.

        A chain is dead if the network expects its points to become the other side's. No chain is reported as seki: area
        scoring counts seki stones as alive.
        """
        status = argument(arguments, 0).lower()
        if status not in STATUSES:
            raise GtpFailure(f"the status must be one of {', '.join(STATUSES)}, got {status}")
        dead, every = count_of_game(self.engine).dead, chains(self.engine.game.position.board)
        chosen = [chain for chain in every if status == ("dead" if chain[0] in dead else "alive")]
        return "\n".join(" ".join(map(self.engine.game.env.to_text, chain)) for chain in chosen)

    def genmove_cleanup(self, arguments: list[str]) -> str:
        """Play a move, but do not pass while dead stones of the other side are on the board, as kgsGtp requires."""
        colour = check_colour(argument(arguments, 0))
        game = self.engine.game
        dead, board = count_of_game(self.engine).dead, game.position.board.ravel()
        others = any(board[point] == -colour for point in dead)
        if not others or not game.ready(colour).legal_mask[:-1].any():  # nothing to capture, or only a pass is legal
            return self.engine.move(colour)
        no_pass = Forbidden(colour, frozenset([game.env.pass_action]))
        return self.engine.move(colour, rules=[no_pass], over=False)

    def game_over(self, arguments: list[str]) -> str:
        """Stop pondering until the next game."""
        self.engine.pondering = False
        return ""


def count_of_game(engine: GtpEngine) -> GoCount:
    """Return the count of the board without the stones that the engine's network considers dead."""
    position = engine.game.position
    if engine.at_random:
        return GoCount(position)
    ready = engine.game.ready(position.to_play)
    owners = engine.look(ready).as_black().raw_ownership
    return GoCount(position).proposed(None if owners is None else owners[0])
