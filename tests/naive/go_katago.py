"""The planes of KataGo's networks in plain Python: ladders by recursion, areas by sets of points."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from tests.naive.go import EMPTY, Board, board_after, chain, neighbours, pass_alive


def liberties(board: Board, point: int, size: int) -> set[int]:
    return {near for near in chain(board, point, size)[1] if board[near] == EMPTY}


def ko_point(before: Board, after: Board, move: int, size: int) -> int | None:
    """Return the point of the one stone that a stone without company took, and on whose point it depends."""
    taken = [point for point, colour in enumerate(before) if colour != EMPTY and after[point] == EMPTY]
    alone = after[move] != EMPTY and len(chain(after, move, size)[0]) == 1
    return taken[0] if len(taken) == 1 and alone and liberties(after, move, size) == set(taken) else None


@lru_cache(maxsize=100_000)
def is_caught(board: Board, stone: int, size: int, defends: bool, ko: int | None = None) -> bool:
    """Return whether a chain is lost in a ladder; defends: whether its side is to move."""
    colour = board[stone]
    ways, around = liberties(board, stone, size), chain(board, stone, size)[1]
    if len(ways) != (1 if defends else 2):
        return len(ways) == 1
    attackers = (liberties(board, near, size) for near in around if board[near] == -colour)
    captures = {point for points in attackers if len(points) == 1 for point in points}
    if defends:
        after = moves_after(board, ways | captures, colour, size, None)
        return ko is None and all(is_caught(board, stone, size, False, ko) for board, ko in after.values())
    if not captures and all(is_ko_mouth(board, way, colour, size) for way in ways):
        return True
    after = moves_after(board, ways, -colour, size, ko)
    return any(is_caught(board, stone, size, True, ko) for board, ko in after.values())


def is_ko_mouth(board: Board, point: int, colour: int, size: int) -> bool:
    """Return whether the attacker takes a ko of `colour` here, and filling it leaves at most two liberties."""
    near = neighbours(point, size)
    in_danger = [stone for stone in near if board[stone] == colour and len(liberties(board, stone, size)) == 1]
    surrounded = all(board[stone] == colour for stone in near)
    if not surrounded or len(in_danger) != 1 or len(chain(board, in_danger[0], size)[0]) > 1:
        return False
    return len(liberties(board_after(board, point, colour, size), point, size)) <= 2


def moves_after(board: Board, points: Iterable[int], colour: int, size: int, ko: int | None) -> dict[int, Any]:
    """Return (board, ko point) after each of the moves that is neither suicide nor at `ko`."""
    boards = {point: board_after(board, point, colour, size) for point in points if point != ko}
    legal = {point: after for point, after in boards.items() if after[point] != EMPTY}
    return {point: (after, ko_point(board, after, point, size)) for point, after in legal.items()}


def ladders(board: Board, ko: int | None, size: int) -> tuple[set[int], dict[int, set[int]]]:
    """Return the stones in a ladder, and for each of those with two liberties the moves that catch it."""
    caught, moves = set(), {}
    for stone in (point for point in range(size * size) if board[point] != EMPTY):
        ways = liberties(board, stone, size)
        if len(ways) == 1 and is_caught(board, stone, size, True):
            caught.add(stone)
        elif len(ways) == 2:
            after = moves_after(board, ways, -board[stone], size, ko)
            moves[stone] = {point for point, (board, _) in after.items() if is_caught(board, stone, size, True)}
            caught |= {stone} if moves[stone] else set()
    return caught, moves


def areas(board: Board, size: int, suicide: bool) -> Board:
    """Return whose area each point is in: that of living chains, then regions of one colour, then stones."""
    points = range(size * size)
    area = [EMPTY] * size**2
    for colour in (1, -1):
        stones = {point for point in points if board[point] == colour}
        alive = {stone for stone in pass_alive(board, colour, size, suicide) if board[stone] == colour}
        others = tuple(colour if point in stones else 9 for point in points)  # 9: anything else
        safe, rest = set(alive), set()
        for point in set(points) - stones:
            region, around = chain(others, point, size)
            enemies = any(board[inside] == -colour for inside in region)
            inner = sum(not stones & {*neighbours(inside, size)} for inside in region)
            if around and around <= alive and (inner <= 1 or not enemies):
                safe |= region
            elif around and not enemies:
                rest |= region
        for point in points:
            if point in safe or (point in rest and area[point] == EMPTY):
                area[point] = colour
    return tuple(area[point] or board[point] for point in points)


def katago_planes(state: Any) -> np.ndarray:
    """Return the planes of a `NaiveGo`, `state`."""
    size, env = state.env.N, state.env
    planes = np.zeros((30, size * size), np.float32)
    known = state.moves[::-1][:5]
    if state.moves[-2:] == [env.pass_action] * 2 and env.turns is None:
        known = known[:1]
    for age, action in enumerate(known):
        planes[18 + age if action == env.pass_action else (7 + age, action)] = 1
    planes[0] = 1
    for point, colour in enumerate(state.board):
        if colour != EMPTY:
            planes[1 if colour == state.to_play else 2, point] = 1
            if (count := len(liberties(state.board, point, size))) <= 3:
                planes[2 + count, point] = 1
        elif not state.is_legal(point):
            joins = any(state.board[near] == state.to_play for near in neighbours(point, size))
            planes[6, point] = not state.is_suicide(point) or (env.suicide and joins)
    for age in range(3):
        back = min(age, len(known))
        now = len(state.boards) - 1 - back
        played = now > 0 and state.moves[now - 1] != env.pass_action
        ko = ko_point(*state.boards[now - 1 : now + 1], state.moves[now - 1], size) if played else None
        caught, moves = ladders(state.boards[now], ko, size)
        planes[12 + age, list(caught)] = 1
        for stone, points in moves.items() if age == 0 else ():
            planes[15, list(points) if state.board[stone] == -state.to_play else []] = 1
    area = np.array(areas(state.board, size, env.suicide)) * state.to_play
    planes[16], planes[17] = area == 1, area == -1
    komi = float(np.clip(-state.komi * state.to_play, -(size**2) - 20, size**2 + 20))
    planes[23] = komi / 20
    planes[24], planes[25] = {"simple": (0, 0), "positional": (1, 0.5), "situational": (1, -0.5)}[env.ko]
    planes[26] = env.suicide
    planes[27] = state.moves[-1:] == [env.pass_action] and env.turns is None
    above = (komi - size**2) % 2
    planes[28] = above if above < 0.5 else 1 - above if above < 1.5 else above - 2
    return planes.reshape(30, size, size)
