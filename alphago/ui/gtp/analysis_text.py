"""The lines that `lz-analyze` and `kata-analyze` write.

Sources: KataGo's docs/GTP_Extensions.md, and Leela Zero's for `lz-analyze`, where rates are integers, in 1/10000.
The line of play is the last field of a move, because Sabaki reads it to the end of the move.
"""

from collections.abc import Iterable

from alphago.mcts.analysis_result import Analysis, MoveAnalysis
from alphago.ui.gtp.analysis_request import AnalysisRequest
from alphago.ui.katago import line_texts, move_fields, points, root_fields


def lz_line(analysis: Analysis, request: AnalysisRequest) -> str:
    """Return a report in Leela Zero's format."""
    infos = []
    for move in moves_to_report(analysis, request):
        fields = move_fields(analysis, move)
        numbers = {name: round(10_000 * fields[name]) for name in ("winrate", "prior", "lcb")}
        infos.append(
            f"info move {fields['move']} visits {move.visits} {pairs(numbers)} order {move.order}"
            f" pv {' '.join(line_texts(analysis, move))}"
        )
    return " ".join(infos)


def kata_line(analysis: Analysis, request: AnalysisRequest) -> str:
    """Return a report in KataGo's format, with the fields of the request's flags."""
    parts = [kata_move(analysis, move, request.flags) for move in moves_to_report(analysis, request)]
    if "rootInfo" in request.flags:
        parts.append(f"rootInfo {pairs(root_fields(analysis))}")
    if "ownership" in request.flags:
        parts.append(f"ownership {board(analysis.ownership, analysis)}")
    if "ownershipStdev" in request.flags:
        parts.append(f"ownershipStdev {board(analysis.ownership_stdev, analysis)}")
    return " ".join(parts)


def kata_move(analysis: Analysis, move: MoveAnalysis, flags: set[str]) -> str:
    """Return one move in KataGo's format."""
    text = f"info {pairs(move_fields(analysis, move))} pv {' '.join(line_texts(analysis, move))}"
    for flag in ("pvVisits", "pvEdgeVisits"):
        if flag in flags:
            text += f" {flag} {' '.join(map(str, move.line_visits))}"
    for flag, owners in (
        ("movesOwnership", analysis.move_ownership),
        ("movesOwnershipStdev", analysis.move_ownership_stdev),
    ):
        if flag in flags:
            text += f" {flag} {board(None if owners is None else owners[:, move.action], analysis)}"
    return text


def moves_to_report(analysis: Analysis, request: AnalysisRequest) -> list[MoveAnalysis]:
    """Return the moves that a report lists, the best first, within the request's `minmoves` and `maxmoves`."""
    return analysis.moves(0, least=request.minmoves)[: request.maxmoves]


def pairs(fields: dict[str, object]) -> str:
    """Return names and values as text, floats with six digits as in KataGo."""
    return " ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in fields.items()
    )


def board(values: object, analysis: Analysis) -> str:
    """Return one number for each point as text, row by row from the top left; see `alphago.ui.katago.points`."""
    return joined(points(values, analysis))  # type: ignore[arg-type]


def joined(numbers: Iterable[float]) -> str:
    return " ".join(f"{number:.6g}" for number in numbers)
