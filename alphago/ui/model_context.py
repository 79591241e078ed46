"""Tools for assistants that speak the Model Context Protocol: analyse, find mistakes, explain a move, show a board."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import wraps
from inspect import signature
from math import isnan
from typing import Any

import alphago
from alphago.env.game import PLAYER_NAMES
from alphago.env.go import GoEnv
from alphago.env.position import Position
from alphago.mcts.analysis import analyze
from alphago.records.sgf import SgfGame, parse_sgf
from alphago.records.sgf.faults import FINAL_SET_UP, HARMLESS, KOMI
from alphago.system.optional import optional_import
from alphago.system.validation import check_choice, check_int, shown
from alphago.ui.review import review_game
from alphago.ui.why.explain import explain
from alphago.ui.why.facts import Fact

MISSING = "`alphago mcp` needs the SDK of the Model Context Protocol: pip install 'alphago[mcp]'"
INSTRUCTIONS = """\
Tools for the game of Go.  `game` is the text of an SGF file, or moves from the empty board, Black first, such as
"D4 E5 pass"; `size` is the board's size if `game` is moves.  `at` is the number of moves after which the game is looked
at; by default all.  Points are named A1 (lower left) to T19, without the letter I.  Win rates are 0 to 1, and scores
are points ahead, both for the player who is to move unless a field says otherwise."""
MOST_MOVES = 8  # of an analysis


class GoTools:
    """The tools: methods whose docstrings tell an assistant what they do.

    Args:
        network: called with a board's size, returns the network for it; raises ValueError if there is none.
        readouts: simulations for each position.
        device: the networks' device: "cpu", "cuda" or "auto".
    """

    def __init__(self, network: Callable[[int], Any], readouts: int = 200, device: str = "auto") -> None:
        self.network, self.device = network, device
        self.readouts = check_int("readouts", readouts, 1)

    def analyze_position(self, game: str, size: int = 9, at: int | None = None) -> dict[str, Any]:
        """Evaluate a position: who is ahead, the best moves with win rates, scores and the expected lines."""
        position = position_at(read_game(game, size), at)
        env = position.env
        analysis = analyze([position], self.network(env.N), self.readouts, device=self.device)
        value, score = (float(numbers[0]) for numbers in analysis.root_readings)  # -1 .. 1, and points, NaN if unknown
        moves = [
            {
                "move": env.to_text(move.action),
                "win_rate": round_known(move.win_rate, 3),
                "score": round_known(move.score, 1),
                "visits": move.visits,
                "line": [env.to_text(action) for action in move.line],
            }
            for move in analysis.moves()[:MOST_MOVES]
        ]
        return {
            "to_play": PLAYER_NAMES[position.to_play],
            "win_rate": round_known((1 + value) / 2, 3),
            "score": round_known(score, 1),
            "moves": moves,
            "game_over": position.is_over,
        }

    def find_mistakes(self, game: str, size: int = 9) -> dict[str, Any]:
        """Review a whole game: the moves that lose points or win rate, what was better, and why."""
        record = read_game(game, size)
        review = review_game(record, self.network(record.board_size), self.readouts, device=self.device)
        env = review.analysis.env
        mistakes = [
            {
                "move_number": move.ply + 1,
                "player": PLAYER_NAMES[move.colour],
                "move": env.to_text(move.action),
                "grade": move.grade,
                "points_lost": round_known(move.point_loss, 1),
                "win_rate_lost": round_known(move.rate_loss, 3),
                "better_line": [env.to_text(action) for action in move.line],
                "why": review.why[move.ply].reasons,
            }
            for move in review.mistakes
        ]
        return {"summary": review.summary(), "mistakes": mistakes}

    def explain_move(self, game: str, move: str = "", size: int = 9, at: int | None = None) -> dict[str, Any]:
        """Say why a move is good or bad, in facts: its loss, captures, ataris, ladders, chains that die, the answer.

        `move` is played in the position; without it the last move is explained.  A fact with an empty sentence is not
        sure enough to be told.
        """
        position = position_at(read_game(game, size), at)
        why = explain(position, move or None, self.network(position.env.N), self.readouts, device=self.device)
        pairs = why.fact_sentences
        facts = [{"fact": type(fact).__name__, "sentence": text, **fact_numbers(fact)} for fact, text in pairs]
        return {"move": why.env.to_text(why.action), "player": PLAYER_NAMES[why.loss.colour], "facts": facts}

    def show_board(self, game: str, size: int = 9, at: int | None = None) -> dict[str, str]:
        """Draw a position, as text (X Black, O White) and as an SVG picture."""
        position = position_at(read_game(game, size), at)
        return {"text": str(position), "svg": str(position.svg())}

    def server(self) -> Any:
        """Return an `MCPServer` of the official SDK with the tools; its `run()` speaks on standard input and output.

        Raises:
            ImportError: with a sentence, if the SDK is missing.
        """
        sdk = optional_import("mcp.server.mcpserver", MISSING)
        tool_error = optional_import("mcp.server.mcpserver.exceptions", MISSING).ToolError
        server = sdk.MCPServer("alphago", instructions=INSTRUCTIONS, version=alphago.__version__, log_level="WARNING")
        tools = (self.analyze_position, self.find_mistakes, self.explain_move, self.show_board)
        for tool in tools:
            server.add_tool(translate_errors(tool, tool_error))
        by_name = {tool.__name__: tool for tool in tools}
        check = translate_errors(check_arguments, tool_error)
        call = server.call_tool  # the original, since `server.call_tool` is replaced below

        async def call_checked(name: str, arguments: dict[str, Any], *context: Any) -> Any:
            """Call a tool after checking its arguments; this function replaces the server's `call_tool`.

            The SDK alone would ignore unknown arguments, and describe invalid ones in pydantic's words.
            """
            if name in by_name:  # the SDK itself refuses unknown tools
                check(by_name[name], arguments)
            return await call(name, arguments, *context)

        server.call_tool = call_checked
        return server


def translate_errors(tool: Callable[..., Any], tool_error: type[Exception]) -> Callable[..., Any]:
    """Return the tool with its ValueErrors raised as `tool_error`, the SDK's exception for texts to the assistant."""

    @wraps(tool)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return tool(*arguments, **options)
        except ValueError as reason:
            raise tool_error(str(reason)) from None  # the SDK sends its text to the assistant

    return call


def check_arguments(tool: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Raise ValueError if an argument of a call is unknown, missing, or not of its type.

    Args:
        tool: a method of `GoTools`.
        given: the arguments of the call, by name.
    """
    parameters = signature(tool).parameters
    for name, value in given.items():
        check_choice(f"an argument of {tool.__name__}", name, parameters)
        expected_type = parameters[name].annotation
        # The types are str, int and int | None.  An integer may be given as a text too.
        is_number = expected_type is not str and str(value).lstrip("-").isdecimal()
        if not isinstance(value, expected_type) and not is_number:
            raise ValueError(f"{name} must be {'a text' if expected_type is str else 'an integer'}, got {shown(value)}")
    for name, parameter in parameters.items():
        if name not in given and parameter.default is parameter.empty:
            raise ValueError(f"{tool.__name__} must be given its argument {name}")


def read_game(game: str, size: int) -> SgfGame:
    """Return a game from the text of an SGF file, or from moves on an empty board of `size` x `size` points.

    Raises:
        ValueError: for a text that is neither.
    """
    if "(" in game:  # SGF; moves have no parentheses
        # Faults that do not change the moves (HARMLESS) are let pass.  Two of them would make the scores wrong: a wrong
        # komi, and stones that are set up at the end.
        return parse_sgf(game.encode(), allowed={*HARMLESS} - {FINAL_SET_UP, KOMI})
    env = GoEnv(size)
    return SgfGame.in_game(env, env.position().after(game.replace(",", " ").split()).moves)


def position_at(game: SgfGame, at: int | None) -> Position:
    """Return the position after `at` moves, or after all moves if `at` is None.

    Raises:
        ValueError: if the game has fewer moves.
    """
    return game.position(ply=None if at is None else check_int("at", at, 0, len(game.moves)))


def round_known(number: float, digits: int) -> float | None:
    """Return a number rounded to some digits; None for NaN, which JSON does not have."""
    return None if isnan(number) else round(number, digits) + 0.0  # the sum makes -0.0 a 0.0


def fact_numbers(fact: Fact) -> dict[str, float | None]:
    """Return the points, win rates and shares of a fact, by name."""
    return {name: round_known(value, 3) for name, value in asdict(fact).items() if isinstance(value, float)}
