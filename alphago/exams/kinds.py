"""The phase and the kind of a position, found by rules from the board and the judge's losses.

A position is a *fight* if every move that is further than NEAR rows or columns from the best move loses at least
URGENT_POINTS more than the best move.  The kind of a fight is the first of these that applies:

- ladder: the best move starts a ladder of at least LADDER_MOVES that takes a chain of the other side, or it saves a
  chain of the side to move from such a ladder.
- capture race: two touching chains of both colours race, and the best move is a liberty of one of them.  Each chain has
  at least two stones and at most RACE_LIBERTIES, and cannot get more by a move on a liberty that takes no stones.
- life and death: every move elsewhere loses at least GROUP_POINTS more than the best move, about the worth of a group;
  or the best move is in an area that at least CIRCLE_STONES of one colour enclose.  The area has at most
  EYE_SPACE_POINTS, empty or with stones of the other colour.
- other fight: all other fights, such as cuts and connections.

A position that is no fight is of the kind "endgame" in the phase endgame, and of the kind "open" before.  These are
rules of thumb: a fight may be of several kinds, and the rules know neither ko nor seki.
"""

import numpy as np

from alphago.env.go_position import GoPosition
from alphago.exams.ladders import Chain, Reading, Stones
from alphago.exams.positions import ExamPosition

PHASES = ("opening", "middle game", "endgame")
BEGINNINGS = (0.15, 0.5)  # plies at which middle game and endgame begin, as a share of the board's points
KINDS = ("ladder", "capture race", "life and death", "other fight", "endgame", "open")
NEAR = 2  # largest distance from the best move, in rows and columns, of the moves that belong to the same fight
URGENT_POINTS = 2.0  # points that every move elsewhere must lose more than the best move in a fight
LADDER_MOVES = 3  # least number of the attacker's moves in a ladder; what takes fewer moves is no ladder
RACE_LIBERTIES = 5  # largest number of liberties of a chain in a capture race
GROUP_POINTS = 8.0  # points that depend on the life of a group: four stones and the points below them
EYE_SPACE_POINTS = 10  # largest number of points of an area in which a group lives or dies
CIRCLE_STONES = 4  # least number of stones around such an area


def find_phase(size: int, plies: int) -> str:
    """Return the phase, a name of PHASES, of a position after `plies` moves on a board of `size` x `size` points."""
    phases_begun = sum(plies >= share * size * size for share in BEGINNINGS)  # after the opening: 0, 1 or 2
    return PHASES[phases_begun]


def find_kind(position: GoPosition, judged: ExamPosition) -> str:
    """Return the kind of a position, a name of KINDS.

    Args:
        position: the board.
        judged: the same position with the judge's losses.
    """
    size, best = position.env.N, judged.best
    points_at_stake = 0.0 if best == position.env.pass_action else urgency(judged, size)
    if points_at_stake < URGENT_POINTS:
        return "endgame" if find_phase(size, len(judged.moves)) == "endgame" else "open"
    stones = Stones.of(position.board)
    if decides_ladder(stones, best, position.to_play):
        return "ladder"
    if decides_race(stones, best):
        return "capture race"
    is_life_and_death = points_at_stake >= GROUP_POINTS or is_enclosed(stones, best)
    return "life and death" if is_life_and_death else "other fight"


def urgency(judged: ExamPosition, size: int) -> float:
    """Return how many points it costs at least to play elsewhere, compared with the best move.

    Elsewhere is further than NEAR from the best move; a pass is elsewhere, too.
    """
    row, column = divmod(judged.best, size)
    rows, columns = np.divmod(np.arange(size * size), size)
    is_far = np.maximum(np.abs(rows - row), np.abs(columns - column)) > NEAR
    losses = np.append(judged.points[:-1][is_far], judged.points[-1])  # the last is the pass, which is far too
    # Illegal moves are NaN; infinite if no move is left.
    return float(np.nanmin(losses, initial=np.inf)) - float(judged.points[judged.best])


def decides_ladder(stones: Stones, best: int, mover: int) -> bool:
    """Return whether the best move starts a ladder, or saves a chain of the side to move from one."""
    after = stones.play(mover, best)
    if after is None:
        return False
    for chain in stones.chains():
        point = min(chain.stones)  # any of its stones, by which the chain is found again after a move
        line = Reading().attack(stones, point)
        # The line has the moves of both sides; the first and the last are the attacker's.
        if line is None or len(line) < 2 * LADDER_MOVES - 1:
            continue
        if chain.colour == mover:
            decides = Reading().attack(after, point) is None  # the move saves this chain
        else:
            decides = best in chain.liberties and len(after.chain(point).liberties) == 1  # the move starts the ladder
        if decides:
            return True
    return False


def decides_race(stones: Stones, best: int) -> bool:
    """Return whether the best move is a liberty of one of two chains that race for each other's liberties.

    Of several chains with this liberty that can race, only the first is looked at.
    """
    racers = (chain for chain in stones.chains() if best in chain.liberties and can_race(stones, chain))
    racer = next(racers, None)
    return racer is not None and any(can_race(stones, other) for other in stones.touching(racer))


def can_race(stones: Stones, chain: Chain) -> bool:
    """Return whether a chain can take part in a capture race.

    It must have at least two stones and at most RACE_LIBERTIES.  A move on one of its liberties must not give it more
    than RACE_LIBERTIES unless the move takes stones.
    """
    if len(chain.stones) < 2 or len(chain.liberties) > RACE_LIBERTIES:
        return False
    point = min(chain.stones)
    enemies = stones.colours.count(-chain.colour)
    for liberty in chain.liberties:
        after = stones.play(chain.colour, liberty)
        if after is None:
            continue
        takes = after.colours.count(-chain.colour) < enemies  # whether the move has taken stones
        if not takes and len(after.chain(point).liberties) > RACE_LIBERTIES:
            return False
    return True


def is_enclosed(stones: Stones, best: int) -> bool:
    """Return whether the best move lies in a small area that stones of one colour enclose; see the module."""
    # An area has empty points (0) and stones of the colour `enclosed`; all stones around it are of the other colour.
    areas = (stones.area(best, 0, enclosed) for enclosed in (-1, 1))
    return any(len(area) <= EYE_SPACE_POINTS and len(circle) >= CIRCLE_STONES for area, circle in areas)
