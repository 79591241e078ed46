"""Count a finished game of Go: which stones are dead, who owns each point, and the points of both sides."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from alphago.env.batch import FIRST_SLOT
from alphago.env.board import result_text
from alphago.env.game import PLAYER_NAMES
from alphago.env.go_position import GoPosition
from alphago.env.kernels import go_row as layout
from alphago.env.position import Position


@dataclass(frozen=True)
class GoCount:
    """The area count of a position after its dead stones are taken off.

    Attributes:
        dead: the points of the dead stones; they are whole chains.
        engine_result: the result of the engine's count, made by `proposed` and kept by `toggled`; "" if there was none.
    """

    position: GoPosition
    dead: frozenset[int] = frozenset()
    engine_result: str = field(default="", compare=False)

    @cached_property
    def before(self) -> GoPosition:
        """The position before the two passes that ended the game, in which a network can look for dead stones."""
        start: GoPosition = self.position.env.position(**self.position.setup)
        return start.after(self.position.moves[:-2], self.position.movers[:-2])

    def proposed(self, ownership: np.ndarray | None) -> Self:
        """Return the count in which a chain is dead if its points are expected to belong to the other side in the end.

        Pass-alive chains are never dead.  The result is also kept as `engine_result`, to show it beside the result that
        the count has after a person has changed the dead stones.

        Args:
            ownership: expected owners, [N, N], 1 for Black's points, -1 for White's; None if unknown: no chain is dead,
                and `engine_result` stays unchanged.
        """
        if ownership is None:
            return replace(self, dead=frozenset())
        stones, alive_owners = self.position.board.ravel(), self.position.pass_alive.ravel()
        kept = stones * np.asarray(ownership).ravel()  # 1: the stone's side keeps the point, -1: it loses it
        lost_chains = [chain for chain in chains(self.position) if kept[chain].mean() < 0]
        # alive_owners: for which side each point is pass-alive.  The stones of a chain are pass-alive together, so one
        # stone tells for all.
        dead_chains = [chain for chain in lost_chains if alive_owners[chain[0]] != stones[chain[0]]]
        count = replace(self, dead=frozenset().union(*dead_chains))
        return replace(count, engine_result=count.result)

    def toggled(self, point: int) -> Self:
        """Return the count in which the chain at a point is dead if it was alive, and alive if it was dead.

        Raises:
            ValueError: if there is no stone on the point.
        """
        chain = next((chain for chain in chains(self.position) if point in chain), None)
        if chain is None:
            where = self.position.env.to_text(point) if 0 <= point < self.position.board.size else str(point)
            raise ValueError(f"a point with a stone must be named, got {where}")
        return replace(self, dead=self.dead ^ frozenset(chain))

    @cached_property
    def owners(self) -> np.ndarray:
        """The owner of each point, int8 [N, N]: 1 Black, -1 White, 0 neither; dead stones are taken off."""
        board = self.position.board.copy()
        board.ravel()[list(self.dead)] = 0
        batch = self.position.env.position(board=board).batch  # Black to move, so that the mover's view is Black's
        out = np.empty((1, board.size), np.int8)
        return batch.ownership(FIRST_SLOT, out).reshape(board.shape)

    @property
    def areas(self) -> tuple[int, int]:
        """The areas of Black and White: each side's living stones, and the empty points that only this side reaches."""
        return int((self.owners == 1).sum()), int((self.owners == -1).sum())

    @property
    def bonuses(self) -> tuple[float, float]:
        """The points that the komi gives to Black and White; Black gets some if it is negative."""
        komi = self.position.komi
        return max(0.0, -komi), max(0.0, komi)

    @property
    def margin(self) -> float:
        """Black's margin in points, komi included."""
        return self.areas[0] - self.areas[1] - self.position.komi

    @property
    def result(self) -> str:
        """The result as SGF and GTP write it: 'B+2.5', 'W+0.5', or '0' for a draw."""
        return result_text(self.margin) if self.margin else "0"

    @property
    def other_result(self) -> str:
        """The result of the engine's count if it differs from this one's, else ""."""
        return "" if self.engine_result == self.result else self.engine_result

    def territory(self) -> dict[str, list[int]]:
        """Return the points of SGF's properties "TB" and "TW", Black's and White's area without living stones."""
        owners, stones = self.owners.ravel(), self.position.board.ravel()
        sides = (("TB", 1), ("TW", -1))
        return {name: np.flatnonzero((owners == side) & (stones != side)).tolist() for name, side in sides}

    def __str__(self) -> str:
        """Return area and komi of both sides, and the result, such as 'B 45 + 0, W 36 + 7.5: B+1.5'.

        The result of the engine's count follows if it differs.
        """
        sides = zip(PLAYER_NAMES.values(), self.areas, self.bonuses, strict=True)
        engine = f" (the engine counts {self.other_result})" if self.other_result else ""
        return f"{', '.join(f'{name[0]} {area} + {bonus:g}' for name, area, bonus in sides)}: {self.result}{engine}"


def count_as_alive(position: Position) -> GoCount | None:
    """Return the count with all stones alive if a game of Go ended here by two passes, else None."""
    if not isinstance(position, GoPosition) or not position.is_over:
        return None
    passes_end_games = position.env.turns is None  # with fixed turns, a pass is a turn like others
    ends_with_passes = position.moves[-2:] == (position.env.pass_action, position.env.pass_action)
    return GoCount(position) if passes_end_games and ends_with_passes else None


def chains(position: GoPosition) -> list[list[int]]:
    """Return the chains of a position, each as a sorted list of points row * N + column, which are also actions."""
    row = position.row
    by_head: dict[int, list[int]] = {}  # for the head of each chain, the chain's stones as actions
    for action in np.flatnonzero(position.board).tolist():
        at_cell = layout.cell(layout.point_of(row, action))
        by_head.setdefault(int(row[at_cell + layout.HEAD]), []).append(action)
    return list(by_head.values())
