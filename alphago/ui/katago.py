"""An analysis under KataGo's names: its numbers for GTP and JSON, and the replies of the analysis protocol.

Sources: KataGo's docs/GTP_Extensions.md and docs/Analysis_Engine.md, version 1.17. This search does not have all of
KataGo's quantities. What is reported instead:

utility: the value, -1 .. 1, which does not depend on the score.
scoreSelfplay, scoreMean: the score lead.
scoreStdev: the standard deviation of the network's scores below a move.
edgeVisits, weight: the visits, since the search has no transpositions.

If the network forecasts no scores, all scores are 0.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.mcts.analysis_result import Analysis, MoveAnalysis

if TYPE_CHECKING:
    from alphago.ui.analysis_query import Query, QueryTurn

SIDES = ("BLACK", "WHITE", "SIDETOMOVE")  # values of `reportAnalysisWinratesAs`


def seen_by(analysis: Analysis, side: str) -> Analysis:
    """Return the analysis from the view of `side`, one of SIDES."""
    if side == "SIDETOMOVE":
        return analysis
    return analysis.as_black() if side == "BLACK" else analysis.as_white()


def move_fields(analysis: Analysis, move: MoveAnalysis, i: int = 0) -> dict[str, Any]:
    """Return KataGo's fields of a move of position i, in KataGo's order, without its line of play.

    A move without visits gets the value and score of the position.
    """
    is_visited = move.visits > 0
    value = move.q if is_visited else float(analysis.value[i])
    bound = move.lower_bound if is_visited else (1 + value) / 2
    score = number(move.score if is_visited else analysis.root_score[i])
    return {
        "move": analysis.env.to_text(move.action),
        "visits": move.visits,
        "edgeVisits": move.visits,
        "utility": value,
        "winrate": (1 + value) / 2,
        "scoreMean": score,
        "scoreStdev": number(move.score_stdev if is_visited else analysis.root_score_stdev[i]),
        "scoreLead": score,
        "scoreSelfplay": score,
        "prior": move.prior,
        "lcb": bound,
        "utilityLcb": 2 * bound - 1,
        "weight": float(move.visits),
        "order": move.order,
    }


def root_fields(analysis: Analysis, i: int = 0) -> dict[str, Any]:
    """Return KataGo's fields of position i."""
    value, score = float(analysis.value[i]), number(analysis.root_score[i])
    return {
        "visits": int(analysis.root_visits[i]),
        "utility": value,
        "winrate": (1 + value) / 2,
        "scoreMean": score,
        "scoreStdev": number(analysis.root_score_stdev[i]),
        "scoreLead": score,
        "scoreSelfplay": score,
        "weight": float(analysis.root_visits[i]),
    }


def raw_fields(analysis: Analysis, i: int = 0) -> dict[str, Any]:
    """Return KataGo's fields of the network's evaluation of position i without search."""
    return {
        "rawWinrate": (1 + float(analysis.raw_value[i])) / 2,
        "rawLead": number(analysis.raw_score[i]),
        "rawScoreSelfplay": number(analysis.raw_score[i]),
    }


def line_texts(analysis: Analysis, move: MoveAnalysis) -> list[str]:
    """Return a move's line of play as texts."""
    return [analysis.env.to_text(action) for action in move.line]


def points(boards: np.ndarray | None, analysis: Analysis, i: int = 0) -> Sequence[float]:
    """Return boards[i] as a flat list, row by row from the top, with 0 for unknown numbers.

    boards: [n, H, W], ownership or its standard deviation; None if unknown.
    """
    if boards is None:
        return [0.0] * (analysis.env.plane_shape[0] * analysis.env.plane_shape[1])
    flat = boards[i].ravel().astype(np.float64).round(4)
    numbers: list[float] = np.where(np.isnan(flat), 0.0, flat).tolist()
    return numbers


def number(value: Any) -> float:
    """Return a number as a float; 0 for NaN."""
    return 0.0 if math.isnan(value) else float(value)


# --- replies of the analysis protocol --------------------------------------------------------------


def reply_of(query: "Query", turn: "QueryTurn", analysis: Analysis, i: int, during: bool) -> dict[str, Any]:
    """Return the reply to a turn of a query.

    analysis: of several positions, from the view of the query's `side`.  i: which of them is the turn's position.
    during: whether the search continues.
    """
    reply: dict[str, Any] = {
        "id": query.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": move_infos(analysis, i, query),
        "rootInfo": {
            **root_fields(analysis, i),
            "symHash": symmetric_hash(turn.position),
            "currentPlayer": "B" if turn.position.to_play == 1 else "W",
            **raw_fields(analysis, i),
        },
    }
    if "includeOwnership" in query.flags:
        reply["ownership"] = points(analysis.ownership, analysis, i)
    if "includeOwnershipStdev" in query.flags:
        reply["ownershipStdev"] = points(analysis.ownership_stdev, analysis, i)
    if "includePolicy" in query.flags:
        legal = turn.position.legal_mask
        reply["policy"] = np.where(legal, analysis.prior[i].astype(np.float64), -1).round(8).tolist()
    return reply


def move_infos(analysis: Analysis, i: int, query: "Query") -> list[dict[str, Any]]:
    """Return the fields of each visited move of position i of an analysis.

    If no move has visits, return the fields of the move with the greatest prior.
    """
    found = []
    for move in analysis.moves(i, least=1):
        info = move_fields(analysis, move, i)
        info |= {"edgeWeight": info["weight"], "playSelectionValue": info["weight"], "pv": line_texts(analysis, move)}
        if "includePVVisits" in query.flags:
            info["pvVisits"] = info["pvEdgeVisits"] = list(move.line_visits)
        for flag, name, owners in (
            ("includeMovesOwnership", "ownership", analysis.move_ownership),
            ("includeMovesOwnershipStdev", "ownershipStdev", analysis.move_ownership_stdev),
        ):
            if flag in query.flags:
                info[name] = points(None if owners is None else owners[:, move.action], analysis, i)
        found.append(info)
    return found


def symmetric_hash(position: GoPosition) -> str:
    """Return a hash of the board, the side to move and the ko; turned and mirrored boards have the same hash.

    Replies have no `thisHash`, because Ogatak compares `thisHash` with hashes that KataGo computes in its own way.
    """
    cells = position.board.ravel().copy()  # 1 Black, -1 White, 2 a point that ko forbids
    if position.ko_points:
        cells[list(position.ko_points)] = 2
    board = min(image.tobytes() for image in cells[position.env.symmetries.points])  # the least image stands for all
    side = bytes([1 if position.to_play == 1 else 3])
    return hashlib.blake2b(side + board, digest_size=16).hexdigest().upper()


def no_results(query: "Query", turn: "QueryTurn") -> dict[str, Any]:
    """Return the last reply to a turn that ends without results."""
    return {"id": query.id, "isDuringSearch": False, "turnNumber": turn.number, "noResults": True}


def error(message: str, field: str | None = None, query_id: object = None, kind: str = "error") -> dict[str, Any]:
    """Return an error reply (kind "error" or "warning"), with the field and id of the query if they are known."""
    reply: dict[str, Any] = {kind: message}
    if field is not None:
        reply["field"] = field
    if isinstance(query_id, str):
        reply["id"] = query_id
    return reply
