"""The numbers of an analysis under KataGo's names, for GTP and JSON.

Sources: KataGo's docs/GTP_Extensions.md and docs/Analysis_Engine.md, version 1.17. This search does not have all of
KataGo's quantities. What is reported instead:

utility: the value, -1 .. 1, which does not depend on the score.
scoreSelfplay, scoreMean: the score lead.
scoreStdev: the standard deviation of the network's scores below a move.
edgeVisits, weight: the visits, since the search has no transpositions.

If the network forecasts no scores, all scores are 0.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from alphago.mcts.analysis_result import Analysis, MoveAnalysis

SIDES = ("BLACK", "WHITE", "SIDETOMOVE")  # values of `reportAnalysisWinratesAs`


def seen_by(analysis: Analysis, side: str) -> Analysis:
    """Return the analysis from the view of `side`, one of SIDES."""
    if side == "SIDETOMOVE":
        return analysis
    return analysis.as_black() if side == "BLACK" else analysis.as_white()


def move_fields(analysis: Analysis, move: MoveAnalysis, i: int = 0) -> dict[str, Any]:
    """Return KataGo's fields of a move, in KataGo's order; its line of play comes last.

    A move without visits gets the value and score of the position.

    Args:
        analysis: its view is that of the fields.
        move: a move of position `i`.
    """
    if move.visits:
        value, score, score_stdev, bound = move.q, move.score, move.score_stdev, move.lower_bound
    else:
        value, score, score_stdev = float(analysis.value[i]), analysis.root_score[i], analysis.root_score_stdev[i]
        bound = (1 + value) / 2  # the win rate itself, 0 .. 1: without visits there is no confidence interval
    return {
        "move": analysis.env.to_text(move.action),
        "visits": move.visits,
        "edgeVisits": move.visits,
        **value_fields(value, score, score_stdev),
        "prior": move.prior,
        "lcb": bound,
        "utilityLcb": 2 * bound - 1,
        "weight": float(move.visits),
        "order": move.order,
        "pv": [analysis.env.to_text(action) for action in move.line],
    }


def move_infos(analysis: Analysis, flags: Collection[str], least_moves: int = 0) -> list[dict[str, Any]]:
    """Return the fields of each move of the first position, the best first.

    Args:
        flags: the optional fields to return, in the words of `kata-analyze`: pvVisits, pvEdgeVisits, movesOwnership
            and movesOwnershipStdev.  Other words have no effect.
        least_moves: the least number of moves to return, if there are as many legal ones; see `Analysis.moves`.
    """
    owners = {"movesOwnership": analysis.move_ownership, "movesOwnershipStdev": analysis.move_ownership_stdev}
    infos = []
    for move in analysis.moves(least=least_moves):
        info = move_fields(analysis, move)
        info |= {name: list(move.line_visits) for name in ("pvVisits", "pvEdgeVisits") if name in flags}
        for name, boards in owners.items():
            if name in flags:
                info[name] = flat_board(None if boards is None else boards[:, move.action], analysis)
        infos.append(info)
    return infos


def board_fields(analysis: Analysis, flags: Collection[str]) -> dict[str, Sequence[float]]:
    """Return the first position's fields "ownership" and "ownershipStdev", each if it is in `flags`."""
    boards = {"ownership": analysis.ownership, "ownershipStdev": analysis.ownership_stdev}
    return {name: flat_board(boards[name], analysis) for name in boards if name in flags}


def value_fields(value: float, score: float, score_stdev: float) -> dict[str, float]:
    """Return KataGo's fields of a value and a score, in KataGo's order.

    Args:
        value: -1 .. 1.
        score, score_stdev: the score and its standard deviation in points; NaN if unknown.
    """
    lead, stdev = np.nan_to_num([score, score_stdev]).tolist()  # 0 for unknown ones
    chance = {"utility": value, "winrate": (1 + value) / 2}
    return {**chance, "scoreMean": lead, "scoreStdev": stdev, "scoreLead": lead, "scoreSelfplay": lead}


def root_fields(analysis: Analysis, i: int = 0) -> dict[str, Any]:
    """Return KataGo's fields of position i."""
    return {
        "visits": int(analysis.root_visits[i]),
        **value_fields(float(analysis.value[i]), analysis.root_score[i], analysis.root_score_stdev[i]),
        "weight": float(analysis.root_visits[i]),
    }


def raw_fields(analysis: Analysis) -> dict[str, Any]:
    """Return KataGo's fields of the network's evaluation of the first position, without search."""
    lead = float(np.nan_to_num(analysis.raw_score[0]))
    return {"rawWinrate": (1 + float(analysis.raw_value[0])) / 2, "rawLead": lead, "rawScoreSelfplay": lead}


def flat_board(boards: np.ndarray | None, analysis: Analysis) -> Sequence[float]:
    """Return the first of some boards as a flat list, row by row from the top, with 0 for unknown numbers.

    Args:
        boards: float [n, H, W], ownership or its standard deviation; None if unknown.
    """
    if boards is None:
        return [0.0] * (analysis.env.plane_shape[0] * analysis.env.plane_shape[1])
    numbers: list[float] = np.nan_to_num(boards[0].ravel().astype(np.float64)).round(4).tolist()
    return numbers
