"""`review_game`: a game's win rates, scores, best lines and mistakes, as SGF, text and a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from alphago.drawing.axes import SHARE
from alphago.drawing.curves import Curve, CurvePanel, Mark, curves_picture
from alphago.drawing.shapes import BLUE, ORANGE, WHITE, Circle, Drawing, Rect, Style
from alphago.env.game import PLAYER_NAMES
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.analyst import Analyst
from alphago.records.sgf import MoveNote, SgfGame
from alphago.records.sgf.document import with_additions
from alphago.records.sgf.notes import KATRAIN_ADDED, KATRAIN_VERSION, katrain_values
from alphago.records.sgf.values import point_properties
from alphago.ui.katago import move_fields, root_fields
from alphago.ui.why.explain import Explanation, explain_moves

# Grades of moves: a move with a grade loses at least so many points, and so much of the win rate (0 .. 1).
GRADES = (("blunder", 6.0, 0.10), ("mistake", 3.0, 0.05), ("inaccuracy", 1.5, 0.02))
# Grades of moves that have none of GRADES: the least loss of win rate alone.
RATES = (("blunder", 0.30), ("mistake", 0.15), ("inaccuracy", 0.07))
POINTS_OF_A_GAME = 20.0  # points that count as much as a win rate of 100 %
MOST_LISTED = 5  # mistakes in a summary
OWNED = 0.5  # least ownership (0 .. 1) of a point that counts as territory
RADII = {"blunder": 5.0, "mistake": 3.8, "inaccuracy": 2.6}  # of the graph's marks, in pixels
PANEL = (900.0, 230.0)  # pixels of each curve's panel
X_LABEL = "move   (orange: mistakes, Black's filled circles, White's hollow squares; larger is worse)"


class MoveReview(NamedTuple):
    """The review of one move.

    Attributes:
        ply: number of the move, from 0.
        colour: who played it, +1 Black, -1 White.
        action, best: the move played and the best move.
        rate_loss, point_loss: what the move cost its player, in win rate (0 .. 1) and in points (NaN if unknown); never
            negative.
        line: the best line of play, beginning with `best`.
        grade: a name of GRADES, "" for a good move.
    """

    ply: int
    colour: int
    action: int
    best: int
    rate_loss: float
    point_loss: float
    line: tuple[int, ...]
    grade: str

    @property
    def cost(self) -> float:
        """What the move lost as one number: its loss of win rate, plus its points divided by POINTS_OF_A_GAME."""
        return self.rate_loss + float(np.nan_to_num(self.point_loss)) / POINTS_OF_A_GAME  # unknown points count as 0

    @property
    def cost_text(self) -> str:
        """What the move lost, such as "3.1 points and 12% of winning"."""
        points = "" if np.isnan(self.point_loss) else f"{self.point_loss:.1f} points and "
        return f"{points}{self.rate_loss:.0%} of winning"


@dataclass(frozen=True)
class Review:
    """A game, the analysis of its positions, and the reviews of its moves.

    Attributes:
        analysis: of the first position, and of the position after each move.
        why: the explanations of the mistakes, by ply.
    """

    game: SgfGame
    analysis: Analysis
    moves: list[MoveReview]
    why: Mapping[int, Explanation]

    @property
    def mistakes(self) -> list[MoveReview]:
        """The moves with a grade, in order."""
        return [move for move in self.moves if move.grade]

    def summary(self) -> str:
        """Return a text with each side's number of mistakes by grade, the costliest mistakes, and the file's faults.

        The last line is a notice if the rules in the file do not score by area, as games are scored here.
        """
        lines = []
        for colour, name in PLAYER_NAMES.items():
            moves = [move for move in self.moves if move.colour == colour]
            counts = [count_text(sum(move.grade == grade for move in moves), grade) for grade, *_ in GRADES]
            lost = [move.point_loss for move in moves if np.isfinite(move.point_loss)]
            mean = f", {np.mean(lost):.2f} points lost a move" if lost else ""
            lines.append(f"{name}: {count_text(len(moves), 'move')}, {', '.join(counts)}{mean}")
        for move in sorted(self.mistakes, key=lambda move: -move.cost)[:MOST_LISTED]:
            lines.append(f"  move {move.ply + 1}, {PLAYER_NAMES[move.colour]} {self.sentence(move)}")
        lines += [f"  in the file, {fault}" for fault in self.game.faults]
        if self.game.scoring_notice:
            lines.append(f"  {self.game.scoring_notice}")
        return "\n".join(lines)

    def sentence(self, move: MoveReview) -> str:
        """Return a sentence about a mistake: its grade, its cost, and the better line."""
        to_text = self.analysis.env.to_text
        line = " ".join(map(to_text, move.line))
        return f"{to_text(move.action)}: {move.grade}, loses {move.cost_text}; better {line}"

    def sgf(self, plies: int = 10) -> bytes:
        """Return the game as SGF, annotated.

        Each position has its win rate and score, and the prior and visits of the move played, as a comment; the win
        rate and score as Sabaki's properties; and a complete analysis for KaTrain (`katrain_properties`). Each mistake
        has a comment that says why, a mark (BM, DO) and the best line as a variation of at most `plies` moves. The last
        position has the expected territory (TB, TW).
        """
        game, comments = self.game, dict(self.game.comments)
        for move in self.mistakes:
            text = "\n".join([f"{PLAYER_NAMES[move.colour]} {self.sentence(move)}.", *self.why[move.ply].reasons])
            comments[move.ply] = f"{comments[move.ply]}\n{text}" if move.ply in comments else text
        comment = f"{game.comment}\n\n{self.summary()}".strip()
        game = replace(game, comments=comments, notes=make_notes(self.analysis, game.moves), comment=comment)
        # SGF's "bad move" with its emphasis, and "doubtful", which has none.
        marks = {"blunder": {"BM": ["2"]}, "mistake": {"BM": ["1"]}, "inaccuracy": {"DO": [""]}}
        properties = katrain_properties(self.analysis, game.moves)
        for move in self.mistakes:
            properties[move.ply + 1] |= marks[move.grade]  # the position after the move
        properties[len(game.moves)] |= point_properties(game.env(), self.territory())
        return with_additions(game, properties, {move.ply: move.line[:plies] for move in self.mistakes})

    def territory(self) -> Mapping[str, Sequence[int]]:
        """Return the expected points of Black (TB) and White (TW) after the last move; {} if there are no forecasts."""
        ownership = self.analysis.as_black().ownership
        if ownership is None:
            return {}
        owners = ownership[-1].ravel()  # [points], 1 Black's, -1 White's
        return {"TB": np.flatnonzero(owners >= OWNED).tolist(), "TW": np.flatnonzero(owners <= -OWNED).tolist()}

    def graph(self) -> Drawing:
        """Return a graph of win rate and score of the positions; a mistake is marked at the position after it."""
        names = " against ".join(name for name in self.game.players if name) or "a game"
        title = f"{names}, {self.game.result or 'no result'}"
        black = self.analysis.as_black()
        values, scores = black.root_readings

        def panel(name: str, heights: np.ndarray, **axis: Any) -> CurvePanel:
            """Return the panel of a curve with the marks of the mistakes; heights[n]: at the position after n moves."""
            # A mark is at the position after its move; `ply` is the number of moves before the move.
            marks = [mistake_mark(move, float(heights[move.ply + 1])) for move in self.mistakes]
            curve = Curve(range(len(heights)), heights.tolist(), BLUE, is_exact=True)
            return CurvePanel(name, [curve], marks=marks, fills=True, **axis)

        panels = [panel("Black wins", (1 + values) / 2, unit=SHARE, level=0.5, low=0.0, high=1.0)]
        if black.has_scores:
            panels.append(panel("Black's lead", scores, unit="points", level=0.0))
        return curves_picture(panels, columns=1, x_label=X_LABEL, texts=[title], size=PANEL)


def review_game(
    game: SgfGame,
    net: object,
    readouts: int = 200,
    *,
    symmetries: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Review:
    """Analyse every position of a game, grade its moves, and say why its mistakes are bad.

    Args:
        net: the network, in any form that `alphago.analyze` accepts.
        readouts: simulations for each position.
        symmetries: whether to average each evaluation over the board's symmetries.
        device: the network's device: "cpu", "cuda" or "auto".
        threads: how many threads search; None for one per core.
    """
    positions = game.position().positions_to_move()
    with Analyst(net, symmetries=symmetries, device=device, threads=threads) as analyst:
        analysis = analyst.analyze(positions, readouts, beside=len(positions))  # all searched at the same time
        moves = [review_move(analysis, ply, action) for ply, action in enumerate(game.moves)]
        mistakes = [move for move in moves if move.grade]
        why = explain_moves([(positions[move.ply], move.action) for move in mistakes], analyst, readouts)
    return Review(game, analysis, moves, {move.ply: reasons for move, reasons in zip(mistakes, why, strict=True)})


def review_move(analysis: Analysis, ply: int, action: int) -> MoveReview:
    """Return the review of a move.

    Args:
        analysis: of the positions of a game, in order, each in the view of its player to move.
        ply: the move leads from position `ply` to position `ply + 1`.
        action: the move that was played.
    """
    colour, best = int(analysis.to_play[ply]), analysis.best(ply)
    sign = colour * int(analysis.to_play[ply + 1])  # 1 if the same side moves again, else -1
    # The values and scores after the best move and after the played move, both in the view of the move's player: means
    # over the simulations through the best move (`root_readings`), and over those after the played move.
    best_values, best_scores = analysis.root_readings
    played_value, played_score = sign * analysis.value[ply + 1], sign * analysis.root_score[ply + 1]
    # A search may find the played move better than the best one: then it has lost nothing.
    rate_loss = max(float(best_values[ply] - played_value) / 2, 0.0)
    point_loss = float(np.maximum(best_scores[ply] - played_score, 0.0))  # NaN if unknown
    if action == best:  # it loses nothing, although the searches before and after it may differ a little
        rate_loss = 0.0
        point_loss = point_loss if np.isnan(point_loss) else 0.0
    line = analysis.move(ply, best, order=0).line  # order 0: it is the best move
    return MoveReview(ply, colour, action, best, rate_loss, point_loss, line, grade_move(rate_loss, point_loss))


def count_text(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 mistake" or "2 inaccuracies"."""
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def grade_move(rate_loss: float, point_loss: float) -> str:
    """Return the grade of a move by its losses, the worst one of GRADES, or else of RATES; "" for a good move.

    A grade of GRADES needs both losses, of points and of win rate.  A move without such a grade may still get one of
    RATES, by its loss of win rate alone: few points may decide a game, and in some games the points are unknown.

    Args:
        rate_loss: lost win rate, 0 .. 1.
        point_loss: lost points; NaN if unknown.
    """
    grades = [name for name, points, rate in GRADES if point_loss >= points and rate_loss >= rate]  # none for NaN
    grades += [name for name, rate in RATES if rate_loss >= rate]
    return grades[0] if grades else ""


def mistake_mark(move: MoveReview, height: float) -> Mark:
    """Return the mark of a mistake; `height` is that of the curve at the position after it."""
    style, radius = Style(ORANGE if move.colour == 1 else WHITE, ORANGE, 1.5), RADII[move.grade]
    square = Rect(-radius, -radius, 2 * radius, 2 * radius, style)
    return Mark(move.ply + 1, height, Circle(0, 0, radius, style) if move.colour == 1 else square)


def make_notes(analysis: Analysis, moves: Sequence[int]) -> dict[int, MoveNote]:
    """Return the search's results for each position of a game as notes, by ply.

    Args:
        analysis: of the first position, and of the position after each move.
        moves: the actions that were played.
    """
    black, notes = analysis.as_black(), {}
    values, scores = black.root_readings
    for ply in range(len(black)):
        score = float(scores[ply])
        played = moves[ply] if ply < len(moves) else None  # None in the last position
        notes[ply] = MoveNote(
            value=float(values[ply]),
            visits=int(black.root_visits[ply]) or None,  # None without a search
            prior=None if played is None else float(black.prior[ply, played]),
            score=None if np.isnan(score) else score,
            move_visits=None if played is None else int(black.visits[ply, played]),
        )
    return notes


def katrain_properties(analysis: Analysis, moves: Sequence[int]) -> dict[int, dict[str, list[str]]]:
    """Return the analysis of each position of a game as KaTrain's SGF properties, by ply.

    The candidates of a position are its moves with visits.  Without a search it has one candidate, the move with the
    greatest prior, with the value and score of the position.  If the move that was played is no candidate, it is
    added with the numbers of the position after it, as in KaTrain.

    Args:
        analysis: of the first position, and of the position after each move.
        moves: the actions that were played.
    """
    black = analysis.as_black()
    properties: dict[int, dict[str, list[str]]] = {}
    for ply in range(len(black)):
        candidates = [move_fields(black, move, ply) for move in black.moves(ply, least=1)]
        names = [candidate["move"] for candidate in candidates]
        if ply < len(moves) and analysis.env.to_text(moves[ply]) not in names:
            candidates.append(added_move(black, ply, moves[ply]))
        # KaTrain has -1 for illegal moves; without candidates the game is over, and has no policy.
        policy = np.where(black.prior[ply] > 0, black.prior[ply], -1.0) if candidates else None
        owners = None if black.ownership is None else black.ownership[ply].ravel()
        properties[ply] = {"KT": katrain_values(root_fields(black, ply), candidates, policy, owners)}
    properties[0]["KTV"] = [KATRAIN_VERSION]
    return properties


def added_move(black: Analysis, ply: int, action: int) -> dict[str, Any]:
    """Return KataGo's fields of a move that was played without being a candidate.

    Its visits, value and score are those of the position after it.

    Args:
        black: the analysis of a game's positions in Black's view; the move leads from position `ply` to the next.
    """
    name = black.env.to_text(action)
    answers = black.moves(ply + 1, least=1)
    fields = root_fields(black, ply + 1) | {"prior": float(black.prior[ply, action])}
    line = [name, *map(black.env.to_text, answers[0].line if answers else ())]
    return {"move": name, "order": KATRAIN_ADDED, "pv": line, **fields}
