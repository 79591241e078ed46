"""GTP commands for analysis: `lz-analyze`, `kata-analyze`, their `genmove` forms, `kata-raw-nn`, and GoGui's.

The arguments of the `analyze` commands are `[player] [interval] key value key value ...`, with the interval in
hundredths of a second (KataGo's docs/GTP_Extensions.md).
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from alphago.env.board import PLAYERS
from alphago.env.go import GoEnv
from alphago.env.go_position import GoPosition
from alphago.mcts.analysis import evaluate_alone
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.evaluator import AveragedEvaluator
from alphago.mcts.search import Forbidden, check_move_left
from alphago.ui.gtp.gtp_engine import GtpEngine
from alphago.ui.gtp.protocol import GtpFailure, Stream, argument, as_failure, boolean, check_colour, integer, number
from alphago.ui.katago import board_fields, flat_board, move_infos, raw_fields, root_fields, seen_by

GOGUI = """dboard/Ownership (1 Black, -1 White)/alphago-ownership
dboard/Policy of the network/alphago-policy
gfx/Visits and best line/alphago-search"""
MOST_LABELS = 30  # points that show their visits
LZ_SCALE = 10_000  # Leela Zero writes shares, 0 .. 1, as 0 .. 10000
FLAGS = ("ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "pvVisits", "pvEdgeVisits", "rootInfo")
KEYS = ("interval", "minmoves", "maxmoves")
SHORTEST_INTERVAL = 0.01  # seconds between two reports
NEVER = 999_999.0  # default interval between two reports, in hundredths of a second


@dataclass
class AnalysisRequest:
    """A controller's request for reports on a search.

    Attributes:
        colour: the player to move, +1 Black, -1 White; None for the player whose turn it is.
        interval: hundredths of a second between two reports.
        minmoves, maxmoves: bounds on the number of moves in a report.
        forbidden: moves that the search must not try.
        flags: which of FLAGS are true.
        kata: whether reports have KataGo's format; if not, they have Leela Zero's.
    """

    colour: int | None = None
    interval: float = NEVER
    minmoves: int = 0
    maxmoves: int | None = None
    forbidden: list[Forbidden] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    kata: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """The request as options of `Analyst.ask`."""
        move_ownership = bool({"movesOwnership", "movesOwnershipStdev"} & self.flags)
        every = max(self.interval / 100, SHORTEST_INTERVAL)
        return {"every": every, "move_ownership": move_ownership, "avoid": self.forbidden}


def read_request(arguments: list[str], env: GoEnv, kata: bool) -> AnalysisRequest:
    """Return the arguments as a request; raise GtpFailure for unknown keys and invalid values.

    Args:
        kata: whether the command is one of KataGo's, which has the keys FLAGS.
    """
    request, words = AnalysisRequest(kata=kata), list(arguments)
    players: dict[str, list[int]] = {"avoid": [], "allow": []}  # for whom each of these keys is given
    while words:
        if words[0][0] in "+.0123456789":  # a number where a key should be is the interval
            words.insert(0, "interval")
        key = words.pop(0)
        if key in ("avoid", "allow"):
            rule = read_forbidden(key, words[:3], env)  # the key's value has three words
            words = words[3:]
            request.forbidden.append(rule)
            players[key].append(rule.player)
        elif key in KEYS or (kata and key in FLAGS):
            if not words:
                raise GtpFailure(f"{key} needs a value")
            set_value(request, key, words.pop(0))
        elif request.colour is None and key.lower() in PLAYERS:
            request.colour = PLAYERS[key.lower()]
        else:
            raise GtpFailure(f"unknown key {key}")
    allowed = {*players["allow"]}
    if len(allowed) < len(players["allow"]) or allowed & {*players["avoid"]}:
        raise GtpFailure("allow must be given once for a player, and without avoid")
    return request


def set_value(request: AnalysisRequest, key: str, value: str) -> None:
    """Set a key of a request to its value, given as text.

    Args:
        key: one of FLAGS, or "interval", "minmoves" or "maxmoves", which are attributes of the request.

    Raises:
        GtpFailure: for an invalid value.
    """
    if key in FLAGS:
        change = request.flags.add if boolean(value, key) else request.flags.discard
        change(key)
        return
    parsed = number(value) if key == "interval" else integer(value)
    if parsed < 0:
        raise GtpFailure(f"{key} must be at least 0, got {value}")
    setattr(request, key, parsed)


def read_forbidden(key: str, words: list[str], env: GoEnv) -> Forbidden:
    """Return the moves that a key forbids: "avoid", or "allow", which forbids all other moves.

    Args:
        words: what follows the key: a player, vertices and a depth.
    """
    if len(words) < 3:
        raise GtpFailure(f"{key} needs a player, vertices and a depth")
    player, vertices, depth = check_colour(words[0]), words[1], integer(words[2])
    try:
        actions = frozenset(env.from_text(vertex) for vertex in vertices.split(",") if vertex)  # "D4," too
    except ValueError:
        raise GtpFailure(f"{key} needs vertices such as D4,Q16, got {vertices}") from None
    if depth < 1:
        raise GtpFailure(f"{key} needs a depth >= 1, got {words[2]}")
    if key == "allow":
        actions = frozenset(range(env.action_space)) - actions
    return Forbidden(player, actions, depth)


# -- commands ----------------------------------------------------------------------------------------


def analyze(engine: GtpEngine, arguments: list[str], kata: bool) -> Stream:
    """Search until the next command, with reports at an interval.

    Args:
        kata: whether reports have KataGo's format; if not, they have Leela Zero's.
    """
    request, position = read_position(engine, arguments, kata)
    engine.pondering = False  # so that no search goes on after this one

    def run(write: Callable[[str], None], wait: Callable[[], None]) -> None:
        """Write the reply, see `Stream`."""
        engine.analyse(position, partial(report, engine, write, request), **request.options)
        wait()  # for the next request
        engine.stop_background()

    return run


def genmove_analyze(engine: GtpEngine, arguments: list[str], kata: bool) -> Stream:
    """Choose and play a move, like the command `genmove`, with reports during the search.

    Args:
        kata: whether reports have KataGo's format; if not, they have Leela Zero's.
    """
    request, position = read_position(engine, arguments, kata)

    def run(write: Callable[[str], None], wait: Callable[[], None]) -> None:
        """Write the reply, see `Stream`; `wait` is not used, since the reply ends with the move."""
        try:
            move = engine.make_move(position.to_play, partial(report, engine, write, request), **request.options)
        except BaseException:
            # The reply has begun with "=", so that it can no longer become a failure, and must end with a move.
            write("play pass")
            raise
        write(f"play {move}")

    return run


def read_position(engine: GtpEngine, arguments: list[str], kata: bool) -> tuple[AnalysisRequest, GoPosition]:
    """Return a command's request and the position to search; raise GtpFailure if no legal move is allowed."""
    request = read_request(arguments, engine.game.env, kata)
    position = engine.game.position_for(request.colour or engine.game.to_play)
    with as_failure("no legal move is left to analyse"):
        check_move_left(position, request.forbidden)
    return request, position


def report(engine: GtpEngine, write: Callable[[str], None], request: AnalysisRequest, analysis: Analysis) -> None:
    """Write the line that a request asks for, unless it is empty.

    Args:
        write: writes a line of the reply, see `Stream`.
        analysis: of the position, in the view of its player to move.
    """
    format_line = kata_line if request.kata else lz_line
    if text := format_line(seen_by(analysis, engine.parameters.side), request):
        write(text)


def raw_network(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the network's evaluation of the position without search, from White's view, as `kata-raw-nn` does."""
    colour = PLAYERS.get(argument(arguments, 0).lower())
    word = argument(arguments, 0 if colour is None else 1)  # the colour may be left out
    count = len(engine.game.env.symmetries.points)
    symmetries = range(count) if word == "all" else [integer(word)]
    if not all(0 <= symmetry < count for symmetry in symmetries):
        raise GtpFailure(f"the symmetry must be 0 to {count - 1} or all, got {word}")
    position = engine.game.position_for(colour or engine.game.to_play)
    engine.end_background()  # wait for the search, which the arrival of this command has only told to stop
    evaluator = engine.analyst.evaluators(position.env)
    has_network = hasattr(evaluator, "makes_forecasts")  # without one, evaluations do not depend on the symmetry
    texts = []
    for symmetry in symmetries:
        symmetric = AveragedEvaluator(evaluator, position.env, [symmetry]) if has_network else evaluator
        texts.append(f"symmetry {symmetry}\n{raw_text(evaluate_alone([position], symmetric), position)}")
    return "\n".join(texts)


# -- GoGui -------------------------------------------------------------------------------------------
# These commands do not use their `arguments`, but all commands have them.


def ownership(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the network's ownership, a board row per line, from 1 for Black's points to -1 for White's."""
    position = engine.game.position_for(engine.game.to_play)
    analysis = evaluate_alone([position], engine.analyst.evaluators(position.env)).as_black()
    return rows_text(flat_board(analysis.raw_ownership, analysis), position)


def policy(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the network's policy without the pass, a board row per line."""
    position = engine.game.position_for(engine.game.to_play)
    # [0, :-1]: of the only position, all actions but the last one, the pass.
    return rows_text(engine.kept_analysis(position).prior[0, :-1], position)


def search(engine: GtpEngine, arguments: list[str]) -> str:
    """Return the results of the search so far as GoGui graphics: visits on the points, and the best line."""
    game = engine.game
    position = game.position_for(game.to_play)
    analysis = engine.kept_analysis(position)  # in the view of the player to move
    moves = [move for move in analysis.moves() if move.action != game.env.pass_action]
    labels = " ".join(f"{game.env.to_text(move.action)} {move.visits}" for move in moves[:MOST_LABELS])
    mover, colours = ("Black", "bw") if position.to_play == 1 else ("White", "wb")
    best_line = analysis.line_text(analysis.best()).split()
    variation = " ".join(f"{colour} {move}" for colour, move in zip(itertools.cycle(colours), best_line, strict=False))
    (value,), _ = analysis.root_readings  # of the one position: the value, -1 .. 1, and the score
    return f"VAR {variation}\nLABEL {labels}\nTEXT {mover} wins with {(1 + value) / 2:.0%}"


COMMANDS = {
    "lz-analyze": partial(analyze, kata=False),
    "kata-analyze": partial(analyze, kata=True),
    "lz-genmove_analyze": partial(genmove_analyze, kata=False),
    "kata-genmove_analyze": partial(genmove_analyze, kata=True),
    "kata-raw-nn": raw_network,
    "stop": lambda engine, arguments: engine.stop_pondering(),
    "clear_cache": lambda engine, arguments: engine.forget(),
    "gogui-analyze_commands": lambda engine, arguments: GOGUI,
    "alphago-ownership": ownership,
    "alphago-policy": policy,
    "alphago-search": search,
}


# -- texts -------------------------------------------------------------------------------------------


def rows_text(numbers: Sequence[float] | np.ndarray, position: GoPosition) -> str:
    """Return numbers, one for each point, as text, a board row per line."""
    return "\n".join(map(value_text, np.asarray(numbers, float).reshape(position.board.shape).tolist()))


def raw_text(analysis: Analysis, position: GoPosition) -> str:
    """Return the network's evaluation of a position in the format of `kata-raw-nn`.

    The self-play score is the score lead.
    """
    white, priors = analysis.as_white(), analysis.prior[0]  # [0]: the position is the only one of the analysis
    win, lead, _ = raw_fields(white).values()  # win rate 0 .. 1, score lead, and the lead again
    texts = np.where(position.legal_mask, [f"{prior:.6f}" for prior in priors], "NAN")
    # The last action is the pass, which has a line of its own.
    policy = "\n".join(" ".join(row) for row in texts[:-1].reshape(position.board.shape).tolist())
    return (
        f"whiteWin {win:.6f}\nwhiteLoss {1 - win:.6f}\nnoResult 0.000000\nwhiteLead {lead:.3f}\n"
        f"whiteScoreSelfplay {lead:.3f}\nwhiteScoreSelfplaySq {lead * lead:.3f}\npolicy\n{policy}\n"
        f"policyPass {priors[-1]:.6f}\nwhiteOwnership\n{rows_text(flat_board(white.ownership, white), position)}"
    )


def lz_line(analysis: Analysis, request: AnalysisRequest) -> str:
    """Return a report in Leela Zero's format."""
    texts = []
    for info in move_infos(analysis, flags=(), least_moves=request.minmoves)[: request.maxmoves]:
        shares = {name: round(LZ_SCALE * info[name]) for name in ("winrate", "prior", "lcb")}
        fields = {"move": info["move"], "visits": info["visits"], **shares, "order": info["order"], "pv": info["pv"]}
        texts.append(f"info {fields_text(fields)}")
    return " ".join(texts)


def kata_line(analysis: Analysis, request: AnalysisRequest) -> str:
    """Return a report in KataGo's format, with the fields of the request's flags."""
    infos = move_infos(analysis, request.flags, least_moves=request.minmoves)[: request.maxmoves]
    parts = [f"info {fields_text(info)}" for info in infos]
    if "rootInfo" in request.flags:
        parts.append(f"rootInfo {fields_text(root_fields(analysis))}")
    return " ".join(filter(None, [*parts, fields_text(board_fields(analysis, request.flags))]))


def fields_text(fields: Mapping[str, Any]) -> str:
    """Return fields as text: each name, followed by its value."""
    return " ".join(f"{name} {value_text(value)}" for name, value in fields.items())


def value_text(value: Any) -> str:
    """Return a value as text: floats with up to six digits as in KataGo, the items of a list separated by spaces."""
    if isinstance(value, list):
        return " ".join(map(value_text, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
