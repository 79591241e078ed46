"""A position of Go on any graph of points; go_variants.py has the games."""

from typing import Any, NamedTuple, Protocol

import numpy as np

# Zobrist's keys: for each point, the key of a white stone and the key of a black stone.
KEYS = [tuple(map(int, pair)) for pair in np.random.default_rng(0).integers(1, 2**62, (2000, 2))]


class GraphChain(NamedTuple):
    """Connected stones, and the empty points beside them."""

    stones: list[int]
    liberties: set[int]


class GraphRules(Protocol):
    """What a position must know of its game, see `GraphGoEnv`."""

    komi: float
    action_space: int
    pass_action: int | None
    plane_shape: tuple[int, int]
    max_moves: int
    first_pass: int  # the first ply at which passing is allowed
    captures_win: bool
    stones_a_turn: int

    @property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each point."""


class GraphGo:
    """A position; `play` changes it in place.  `env` has the rules and says which points are neighbours."""

    planes_made = 7

    def __init__(self, env: GraphRules) -> None:
        self.env, self.to_play = env, 1
        self.board = [0] * len(env.neighbours)
        self.stones_left = 1  # stones that the side to move may still play in this turn
        self.passes = self.plies = self.key = 0
        self.seen = {0}  # the keys of the boards so far
        self.captured = [0, 0]  # stones captured by Black and by White
        self.known: dict[str, Any] = {}  # results of `chains` and `moves` for this position

    def copy(self) -> "GraphGo":
        twin = GraphGo.__new__(GraphGo)
        twin.__dict__.update(self.__dict__)
        twin.board, twin.seen, twin.captured = self.board[:], self.seen.copy(), self.captured[:]
        return twin

    def chain(self, point: int) -> GraphChain:
        """Return the chain of the stone on a point."""
        board, neighbours, colour = self.board, self.env.neighbours, self.board[point]
        stones, liberties, seen = [point], set(), {point}
        for stone in stones:  # the list grows during the loop
            for beside in neighbours[stone]:
                if board[beside] == 0:
                    liberties.add(beside)
                elif board[beside] == colour and beside not in seen:
                    seen.add(beside)
                    stones.append(beside)
        return GraphChain(stones, liberties)

    def chains(self) -> list[GraphChain | None]:
        """Return the chain of each point; None for an empty point."""
        if "chains" not in self.known:
            chains: list[GraphChain | None] = [None] * len(self.board)
            for point, colour in enumerate(self.board):
                if colour and chains[point] is None:
                    chain = self.chain(point)
                    for stone in chain.stones:
                        chains[stone] = chain
            self.known["chains"] = chains
        return self.known["chains"]

    def play(self, action: int) -> None:
        """Place a stone and take the enemy chains without liberties, or pass."""
        self.plies += 1
        self.known = {}
        if action == self.env.pass_action:
            self.passes += 1
            self.end_turn()
            return
        self.passes = 0
        self.put(action, self.to_play)
        for beside in self.env.neighbours[action]:
            if self.board[beside] == -self.to_play:
                chain = self.chain(beside)
                if not chain.liberties:
                    self.captured[0 if self.to_play == 1 else 1] += len(chain.stones)
                    for stone in chain.stones:
                        self.put(stone, 0)
        self.seen.add(self.key)
        self.stones_left -= 1
        if self.stones_left == 0:
            self.end_turn()

    def put(self, point: int, colour: int) -> None:
        """Put a stone on a point, or take the stone on it off (colour 0)."""
        stone = colour or self.board[point]
        self.key ^= KEYS[point][stone > 0]  # puts the stone's key in or takes it out
        self.board[point] = colour

    def end_turn(self) -> None:
        self.to_play = -self.to_play
        self.stones_left = self.env.stones_a_turn

    def is_over(self) -> bool:
        if self.env.captures_win:
            return any(self.captured) or not self.moves().any()
        return self.passes >= 2 or self.plies >= self.env.max_moves

    def legal_mask(self) -> np.ndarray:
        return np.zeros(self.env.action_space, bool) if self.is_over() else self.moves().copy()

    def moves(self) -> np.ndarray:
        """Return the actions that the rules allow the side to move, bool [action_space], even if the game is over."""
        if "moves" not in self.known:
            self.known["moves"] = self.find_moves()
        return self.known["moves"]

    def find_moves(self) -> np.ndarray:
        """Compute what `moves` returns."""
        legal = np.zeros(self.env.action_space, bool)
        chains = self.chains()
        for point, colour in enumerate(self.board):
            if colour or not self.env.neighbours[point]:  # a missing point has no neighbours
                continue
            captured, has_liberty = set[int](), False
            for beside in self.env.neighbours[point]:
                chain = chains[beside]
                if chain is None:
                    has_liberty = True
                elif self.board[beside] == self.to_play:
                    has_liberty = has_liberty or len(chain.liberties) > 1
                elif len(chain.liberties) == 1:
                    captured.update(chain.stones)
            is_suicide = not has_liberty and not captured
            legal[point] = not is_suicide and (self.env.captures_win or not self.repeats(point, captured))
        if self.env.pass_action is not None:
            legal[self.env.pass_action] = self.plies >= self.env.first_pass or not legal.any()
        return legal

    def repeats(self, point: int, captured: set[int]) -> bool:
        """Return whether an earlier board occurs again after the mover plays on a point and captures these stones."""
        key = self.key ^ KEYS[point][self.to_play > 0]
        for stone in captured:
            key ^= KEYS[stone][self.to_play < 0]
        return key in self.seen

    def owners(self) -> np.ndarray:
        """Return the owner of each point, 1 or -1, or 0.

        A stone owns its point. An empty point belongs to the side of the stones around its region if they have one
        colour.
        """
        owners, visited = np.array(self.board, np.int8), set[int]()
        for point, colour in enumerate(self.board):
            if colour or point in visited:
                continue
            region, colours_around = [point], set[int]()
            visited.add(point)
            for empty in region:  # the list grows during the loop
                for beside in self.env.neighbours[empty]:
                    if self.board[beside]:
                        colours_around.add(self.board[beside])
                    elif beside not in visited:
                        visited.add(beside)
                        region.append(beside)
            owners[region] = colours_around.pop() if len(colours_around) == 1 else 0
        return owners

    def ownership(self) -> np.ndarray:
        return self.owners() * self.to_play

    def score(self) -> float:
        """Return the mover's margin in points; if the first capture wins, 1 or -1, and 0 before the end."""
        if self.env.captures_win:
            black, white = self.captured
            if black or white:
                return self.to_play * float(np.sign(black - white))
            return 0.0 if self.moves().any() else -1.0  # a mover without a legal move loses
        return self.to_play * (float(self.owners().sum()) - self.env.komi)

    def outcome(self) -> float:
        return float(np.sign(self.score()))

    def planes(self) -> np.ndarray:
        """Return the network's input, seven planes.

        They are: the stones of the mover and of the other side; of these, the stones in atari; the points of the board;
        whether the last move was a pass; whether the mover has already played a stone in this turn.
        """
        board = np.array(self.board) * self.to_play
        own, others = board == 1, board == -1
        atari = np.array([chain is not None and len(chain.liberties) == 1 for chain in self.chains()])
        on_board = np.array([bool(neighbours) for neighbours in self.env.neighbours])
        planes = np.zeros((self.planes_made, len(board)), np.float32)
        planes[:5] = own, others, atari & own, atari & others, on_board
        planes[5] = self.passes > 0
        planes[6] = self.stones_left < self.env.stones_a_turn
        return planes.reshape(self.planes_made, *self.env.plane_shape)
