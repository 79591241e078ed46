"""Replies of KataGo's analysis protocol.

Source: KataGo's docs/Analysis_Engine.md, version 1.17; `alphago.ui.katago` explains the numbers.
"""

import hashlib
from typing import Any

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.mcts.analysis_result import Analysis
from alphago.ui.analysis_query import Query, QueryTurn
from alphago.ui.katago import line_texts, move_fields, points, raw_fields, root_fields


def reply_of(query: Query, turn: QueryTurn, analysis: Analysis, i: int, during: bool) -> dict[str, Any]:
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


def move_infos(analysis: Analysis, i: int, query: Query) -> list[dict[str, Any]]:
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


def no_results(query: Query, turn: QueryTurn) -> dict[str, Any]:
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
