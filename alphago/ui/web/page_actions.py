"""What a page may ask for beside an analysis: one function for each `action` of a query, which returns its answer.

`QueryReader` has what the queries of one page name: games, positions and engines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.go_count import count_as_alive
from alphago.env.position import Position
from alphago.mcts.levels import FULL_STRENGTH, describe_level
from alphago.mcts.lost_turns import LostTurns
from alphago.records.sgf.encoding import decode
from alphago.system.validation import check_int, check_positive, shown
from alphago.ui.web.engines import PLAYOUTS, Engines, SharedEngine
from alphago.ui.web.game_files import open_sgf, read_game_tree, sgf_text
from alphago.ui.web.guard import MOST_MESSAGE, most_readouts
from alphago.ui.web.new_game import MOST_NODES, GameTree, describe_start, field_of, link_head, open_link, start_from
from alphago.ui.web.views import board_view, game_view, with_dead
from alphago.ui.why.explain import Explanation, explain_moves
from alphago.ui.why.facts import MISTAKE

READOUTS = 200  # of each position that an explanation searches
LETTERS = {"B": 1, "W": -1}  # the sides of moves, as KataGo's queries write them
Query = Mapping[str, Any]


@dataclass
class QueryReader:
    """Reads the queries of one page.

    Attributes:
        engines: the networks to choose from, shared by all pages.
        usual_games: games by name, with the options that new games have unless others are chosen.  Games of runs are
            added.
        greeting: the answer to a page's first query, `hello`.
        runs: the runs whose games can be opened, an `alphago.ui.web.runs.Runs`; None for none.
        tell: called with a text for the page's status line, "" for none; the default `str` does nothing.
        lost_turns: by which the engine decides whether to resign, in all games of the page.
    """

    engines: Engines
    usual_games: dict[str, GameEnv]
    greeting: Mapping[str, Any]
    runs: Any = None
    tell: Callable[[str], object] = str
    lost_turns: LostTurns = field(default_factory=LostTurns)
    # [game, *moves] of the last query, and the position to which they lead.
    _latest: tuple[list[Any], Position | None] = field(default=([], None))

    def position(self, query: Query) -> Position:
        """Return the position of a query's `game` after its `moves`."""
        moves = field_of(query, "moves", list)
        if len(moves) > MOST_NODES:
            raise ValueError(f"a game must have at most {MOST_NODES} moves, got {len(moves)}")
        game = field_of(query, "game", dict)
        wanted = [game, *moves]
        reached, position = self._latest
        if position is None or wanted[: len(reached)] != reached:  # this query does not continue the last one
            reached, position = [game], start_from(game, self.usual_games)
        for move in wanted[len(reached) :]:
            position = next_position(position, move)
        self._latest = wanted, position
        return position

    def engine(self, query: Query, env: GameEnv) -> SharedEngine:
        """Return the engine of a query's `network` for a game; load it first if it is not in memory."""
        return self.engines.engine(str(query.get("network")), env, self.tell)


def next_position(position: Position, move: object) -> Position:
    """Return the position after a move such as ["B", "C3"]; raise ValueError for another form or an illegal move."""
    match move:
        case [str(side), str(text)] if side in LETTERS:
            # A game that is over stays over, while `give_turn` would let it go on after two passes.
            before = position if position.is_over else position.give_turn(LETTERS[side])
            return before.play(text)
    raise ValueError(f'a move must be such as ["B", "C3"], got {shown(move)}')


def hello(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return the games to choose from, the runs to watch, and the strength with which the engine begins.

    The query is not used, but all actions have it.
    """
    return dict(page.greeting)


# --- games -----------------------------------------------------------------------------------------


def new(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return a new game of the query's `name`, `options` and `setup` (see `start_from`); by default the usual game."""
    name = query.get("name") or next(iter(page.usual_games))
    return game_answer(page, GameTree(start_from({**query, "name": name}, page.usual_games)))


def link(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return the game of a `link`."""
    return game_answer(page, GameTree.leading_to(open_link(query.get("link"), page.usual_games)))


def open_text(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return the game of Go in an SGF file; each letter of the query's `text` is a byte of the file."""
    text = query.get("text")
    if not isinstance(text, str) or len(text) > MOST_MESSAGE or max(text, default="") > "\xff":
        raise ValueError(f"a file must be a text of at most {MOST_MESSAGE} bytes, got {shown(text)}")
    [decoded] = decode(text.encode("latin-1"), one_game=True)
    return game_answer(page, open_sgf(decoded.text, page.usual_games))


def open_run_game(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return the game with the query's `title`, of self-play or of a match, from one of the server's runs."""
    if page.runs is None:
        raise ValueError("no run was given to this server: alphago web runs/a shows one")
    tree = page.runs.open_game(query.get("run"), query.get("title"))
    # The page's next queries name the game.  It may be a user's own, which is found only here.
    page.usual_games.setdefault(tree.env.name, tree.env)
    return game_answer(page, tree)


def game(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return what the page has to know of the query's `game` (see `describe_start`) apart from its moves."""
    start = start_from(field_of(query, "game", dict), page.usual_games)
    return {"view": offered_view(start.env, page.engines), "game": describe_start(start), "link": link_head(start)}


def game_answer(page: QueryReader, tree: GameTree) -> dict[str, Any]:
    """Return a game with its nodes for the page."""
    return {**game(page, {"game": describe_start(tree.start)}), **tree.view}


def offered_view(env: GameEnv, engines: Engines) -> dict[str, Any]:
    """Return what the page has to know of a game and its engines."""
    usual = engines.usual_network(env)
    # Playouts forecast no scores.
    has_scores, measured = usual != PLAYOUTS, engines.measured_network(usual, env)
    return {
        **game_view(env),
        "skips": env.skips_turns,
        "mostReadouts": most_readouts(env),
        "levels": [describe_level(level, env, has_scores, measured) for level in range(1, FULL_STRENGTH + 1)],
        "networks": [name for name in engines.choices if engines.is_made_for(name, env)],
        "usual": usual,
    }


def save(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return the SGF file of a game of Go that the page sends, with variations and analysis."""
    return {"name": "game.sgf", "text": sgf_text(read_game_tree(query, page.usual_games))}


# --- positions -------------------------------------------------------------------------------------


def view(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return what the board shows after the query's moves, and how the game ended.

    The query may have `dead`, the dead stones of a finished game of Go, and a `point` whose chain changes its state.
    """
    position = page.position(query)
    count = count_as_alive(position)
    if count is None and "point" in query:
        raise ValueError("stones are counted after a game of Go that ended by two passes")
    if count is not None:
        count = with_dead(count, query.get("dead", []))
        if "point" in query:
            count = count.toggled(check_int("point", query["point"], 0))
    return board_view(position, count)


def count(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return what the board shows after a game of Go, with the stones as dead that the network expects to be dead.

    A search would not find dead stones: its passes end the game, with all stones alive.
    """
    position = page.position(query)
    if count_as_alive(position) is None:
        raise ValueError("stones are counted after a game of Go that ended by two passes")
    engine = page.engine(query, position.env)
    return board_view(position, engine.analyst.count(position.again_in(engine.env)))


def why(page: QueryReader, query: Query) -> dict[str, Any]:
    """Return why the last of the query's moves is good or bad; its `points` are the least that a mistake loses."""
    if not query.get("moves"):
        raise ValueError("there is no move to explain")
    least = check_positive("points", query.get("points", MISTAKE))
    *_, (before, action) = page.position(query).turns()
    engine = page.engine(query, before.env)
    moves = [(before.again_in(engine.env), action)]
    return explanation_view(explain_moves(moves, engine.analyst, READOUTS, least)[0])


def explanation_view(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for the page.

    "best" is the better move, or the move itself if it is no mistake.  "points" and "rate" are what the move loses, in
    the view of its player.
    """
    loss, to_text = explanation.loss, explanation.env.to_text
    return {
        "move": to_text(explanation.action),
        "best": to_text(loss.best if loss.is_mistake else explanation.action),
        "points": None if isnan(loss.points) else round(float(loss.points), 1),
        "rate": round(loss.rate, 4),
        # The page itself tells a mistake's loss and the better move, so that the sentences leave them out.
        "sentences": explanation.reasons if loss.is_mistake else str(explanation).split("\n"),
    }


ACTIONS: dict[str, Callable[[QueryReader, Query], dict[str, Any]]] = {
    **{action.__name__: action for action in (hello, new, link, game, save, view, count, why)},
    "open": open_text,
    "run-game": open_run_game,
}
