"""GTP commands for the end of a game: the score, dead stones, and cleaning up on KGS."""

from alphago.env.go_count import GoCount, chains, count_as_alive
from alphago.mcts.forbidden_moves import Forbidden
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import GtpFailure, argument, check_colour


def final_score(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the area score: after two passes without the dead stones, else with all stones on the board."""
    position = engine.game.position
    return (GoCount(position) if count_as_alive(position) is None else count_of_game(engine)).result


def final_status_list(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the stones that have a status, "alive", "dead" or "seki", one chain per line.

    A chain is dead if the network expects its points to become the other side's.  All others are alive; none is
    reported as seki, since area scoring counts seki stones as alive.
    """
    status = argument(arguments, 0).lower()
    if status not in ("alive", "dead", "seki"):
        raise GtpFailure(f"the status must be one of alive, dead, seki, got {status}")
    game, dead = engine.game, count_of_game(engine).dead
    wanted = [chain for chain in chains(game.position) if status == ("dead" if chain[0] in dead else "alive")]
    return "\n".join(" ".join(map(game.env.to_text, chain)) for chain in wanted)


def genmove_cleanup(engine: GtpEngine, arguments: list[str]) -> str:
    """Play a move, which is no pass while dead stones of the other side are on the board, as kgsGtp requires."""
    colour = check_colour(argument(arguments, 0))
    game = engine.game
    dead, board = count_of_game(engine).dead, game.position.board.ravel()
    has_stones_to_take = any(board[point] == -colour for point in dead)
    can_play = game.ready(colour).legal_mask[:-1].any()  # the last action is the pass
    if not has_stones_to_take or not can_play:
        return engine.move(colour)
    # The game goes on although two passes came before, and the pass is forbidden.
    return engine.move(colour, over=False, avoid=[Forbidden(colour, frozenset([game.env.pass_action]))])


def stop_pondering(engine: GtpEngine, arguments: list[str]) -> None:
    """Stop pondering until the next move."""
    engine.pondering = False


def count_of_game(engine: GtpEngine) -> GoCount:
    """Return the count of the board in which the stones are dead that the engine's network considers dead."""
    position = engine.game.position
    if engine.at_random:  # without a network all stones count as alive
        return GoCount(position)
    # `ready`: a network evaluates no position in which the game is over.
    owners = engine.look(engine.game.ready(position.to_play)).as_black().raw_ownership
    return GoCount(position).proposed(None if owners is None else owners[0])


COMMANDS = {
    "final_score": final_score,
    "final_status_list": final_status_list,
    "kgs-genmove_cleanup": genmove_cleanup,
    "kgs-game_over": stop_pondering,
}
