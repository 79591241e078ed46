"""GTP commands for the end of a game: the score, dead stones, and cleaning up on KGS."""

from alphago.env.go_count import GoCount, chains, count_as_alive
from alphago.mcts.search import Forbidden
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import GtpFailure, argument, check_colour


def final_score(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the area score.

    After two passes dead stones are removed; before that, all stones on the board count as alive.
    """
    position = engine.game.position
    is_finished = count_as_alive(position) is not None
    return count_of_game(engine).result if is_finished else GoCount(position).result


def final_status_list(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the stones that have a status, "alive", "dead" or "seki", one chain per line.

    A chain is dead if the network expects its points to become the other side's.  All other chains are alive.  None is
    reported as seki, since area scoring counts seki stones as alive.
    """
    status = argument(arguments, 0).lower()
    if status not in ("alive", "dead", "seki"):
        raise GtpFailure(f"the status must be one of alive, dead, seki, got {status}")
    game, dead = engine.game, count_of_game(engine).dead
    listed = [chain for chain in chains(game.position) if status == ("dead" if chain[0] in dead else "alive")]
    return "\n".join(" ".join(map(game.env.to_text, chain)) for chain in listed)


def genmove_cleanup(engine: GtpEngine, arguments: list[str]) -> str:
    """Play a move; it is no pass as long as dead stones of the other side are on the board, as kgsGtp requires."""
    colour = check_colour(argument(arguments, 0))
    game = engine.game
    dead, board = count_of_game(engine).dead, game.position.board.ravel()
    has_stones_to_take = any(board[point] == -colour for point in dead)
    can_play = game.position_for(colour).legal_mask[:-1].any()  # the last action is the pass
    if not has_stones_to_take or not can_play:
        return engine.make_move(colour)
    # The game goes on although two passes came before, and the pass is forbidden.
    return engine.make_move(colour, passes=False, avoid=[Forbidden(colour, frozenset([game.env.pass_action]))])


def stop_pondering(engine: GtpEngine, arguments: list[str]) -> None:
    """Stop pondering until the engine's next move; `arguments` is not used, but all commands have it."""
    engine.pondering = False


def count_of_game(engine: GtpEngine) -> GoCount:
    """Return the count of the present board, with the stones as dead that the engine's network considers dead."""
    position = engine.game.position
    if engine.plays_randomly:  # without a network all stones count as alive
        return GoCount(position)
    # `position_for`: a network evaluates no position in which the game is over.
    owners = engine.kept_analysis(engine.game.position_for(position.to_play)).as_black().raw_ownership
    return GoCount(position).proposed(None if owners is None else owners[0])


COMMANDS = {
    "final_score": final_score,
    "final_status_list": final_status_list,
    "kgs-genmove_cleanup": genmove_cleanup,
    "kgs-game_over": stop_pondering,
}
