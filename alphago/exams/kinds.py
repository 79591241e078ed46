"""The phase and the kind of a position, told by rules on the board and on the judge's losses.

A position is a *fight* if every move that is further than NEAR points from the best one loses at least URGENT points
more: something is at stake there, and now.  Of the fights, the first that fits is the kind:

- ladder: the best move starts a ladder of LADDER moves or more on a chain of the other side, or it saves an own chain
  that such a ladder of the other side would take.
- capture race: the best move is a liberty of one of two touching chains of both colours, each of two stones or more,
  that have at most RACE liberties and cannot get more by a move on one of them, unless it takes stones.
- life and death: every move elsewhere loses at least GROUP points more, as much as a group of stones is worth; or the
  best move lies in an area of at most EYE_SPACE points, empty or of the other colour, that CIRCLE or more stones of one
  colour enclose.
- other fight: none of these, as cuts and connections.

All other positions are quiet: endgame from the phase of that name on, open before.  These are rules of thumb: a fight
may be of several kinds, and the rules know neither ko nor seki.
"""

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Stones, ladder, neighbours
from alphago.exams.positions import Exam, ExamPosition

PHASES = ("opening", "middle game", "endgame")
BEGINNINGS = (0.15, 0.5)  # plies, as a share of the board's points, at which the middle game and the endgame begin
KINDS = ("ladder", "capture race", "life and death", "other fight", "endgame", "open")
NEAR = 2  # rows and columns from the best move to the moves that belong to the same fight
URGENT = 2.0  # points that every move elsewhere loses more than the best one in a fight
LADDER = 3  # moves of a ladder; fewer are plain captures
RACE = 5  # most liberties of a chain in a capture race
GROUP = 8.0  # points at stake where a group lives or dies: four stones and the points below them
EYE_SPACE = 10  # most points of an area in which a group lives or dies
CIRCLE = 4  # least stones around it


def phase_of(size: int, plies: int) -> str:
    """Return the phase, a name of PHASES, of a position after `plies` moves on a board of `size` x `size` points."""
    return PHASES[sum(plies >= share * size * size for share in BEGINNINGS)]


def phases(exam: Exam) -> list[str]:
    """Return the phase of each position of an exam, a name of PHASES."""
    return [phase_of(exam.size, int(plies)) for plies in exam.plies]


def kinds(exam: Exam) -> list[str]:
    """Return the kind of each position of an exam, a name of KINDS."""
    return [kind_of(board, one) for board, one in zip(exam.boards, exam.positions, strict=True)]


def kind_of(position: GoPosition, judged: ExamPosition) -> str:
    """Return the kind of a position, a name of KINDS.

    position: the board.  judged: the same position with the judge's losses.
    """
    size, best = position.env.N, judged.best
    at_stake = 0.0 if best == position.env.pass_action else urgency(judged, size)
    if at_stake < URGENT:
        return "endgame" if phase_of(size, len(judged.moves)) == "endgame" else "open"
    stones = Stones.of(position.board)
    if decides_ladder(stones, best, position.to_play):
        return "ladder"
    if is_race(stones, best):
        return "capture race"
    dies = at_stake >= GROUP or is_enclosed(stones, best)
    return "life and death" if dies else "other fight"


def urgency(judged: ExamPosition, size: int) -> float:
    """Return the points that the best move further than NEAR from the judge's best move loses more than it."""
    row, column = divmod(judged.best, size)
    rows, columns = np.divmod(np.arange(size * size), size)
    far = np.maximum(np.abs(rows - row), np.abs(columns - column)) > NEAR
    losses = np.append(judged.points[:-1][far], judged.points[-1])
    return float(np.nanmin(losses, initial=np.inf)) - float(judged.points[judged.best])


def decides_ladder(stones: Stones, best: int, mover: int) -> bool:
    """Return whether the best move starts a ladder, or saves a chain of the side to move from one."""
    after = stones.play(mover, best)
    if after is None:
        return False
    for chain in stones.chains():
        point = min(chain.stones)
        line = ladder(stones, point) if len(chain.liberties) <= 2 else None  # moves of both sides, the attacker's first
        if line is None or len(line) < 2 * LADDER - 1:
            continue
        if chain.colour != mover:
            caught = best in chain.liberties and len(after.chain(point).liberties) == 1
            if caught:
                return True
        elif after.colours[point] == mover and ladder(after, point) is None:
            return True
    return False


def is_race(stones: Stones, best: int) -> bool:
    """Return whether the best move is a liberty of one of two chains that race for each other's liberties."""
    for chain in stones.chains():
        if best in chain.liberties and races(stones, chain):
            return any(races(stones, other) for other in stones.touching(chain))
    return False


def races(stones: Stones, chain: Chain) -> bool:
    """Return whether a chain has at most RACE liberties, and cannot get more by a move on one that takes no stones."""
    if len(chain.stones) < 2 or len(chain.liberties) > RACE:
        return False
    point, enemies = min(chain.stones), stones.colours.count(-chain.colour)
    for liberty in chain.liberties:
        after = stones.play(chain.colour, liberty)
        if after is None:
            continue
        takes = after.colours.count(-chain.colour) < enemies
        if not takes and len(after.chain(point).liberties) > RACE:
            return False
    return True


def is_enclosed(stones: Stones, best: int) -> bool:
    """Return whether the best move lies in a small area that stones of one colour enclose."""
    for colour in (1, -1):
        area, border, to_visit = {best}, set(), [best]
        while to_visit and len(area) <= EYE_SPACE:
            for point in neighbours(stones.size)[to_visit.pop()]:
                if stones.colours[point] == colour:
                    border.add(point)
                elif point not in area:
                    area.add(point)
                    to_visit.append(point)
        if len(area) <= EYE_SPACE and len(border) >= CIRCLE:
            return True
    return False
