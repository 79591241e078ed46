"""Go for a bot: the rules as `alphago.GoEnv` has them, with positional superko, over the Go Text Protocol.

Controllers such as Sabaki and `alphago evaluate "gtp:python bot.py"` speak it.  `python bot.py 200` takes 200 ms for a
move instead of 42.
"""

import gc
import random
import sys
from typing import Any

import numpy as np
from player import LATER_MS, MANY, Network, Search

COLUMNS = "ABCDEFGHJKLMNOPQRST"


class Rules:
    """What is the same in all positions of a game."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.size: int = options["board_size"]
        self.komi: float = options["komi"]
        self.max_moves: int = options["max_moves"] or 65_536
        if options["ko"] != "positional" or options["suicide"] or options["turns"]:
            raise ValueError("a bot plays with positional superko, without suicide, until two passes")
        points = range(self.size**2)
        generator = random.Random(1)
        # Zobrist's keys: a board's key is the exclusive or of those of its stones.
        self.keys = {colour: [generator.getrandbits(64) for _ in points] for colour in (1, -1)}
        self.neighbours = [self.find_neighbours(*divmod(point, self.size)) for point in points]

    def find_neighbours(self, row: int, column: int) -> list[int]:
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [r * self.size + c for r, c in around if 0 <= r < self.size and 0 <= c < self.size]


class Go:
    """A position, which `after` does not change.

    `stones` has for each point 1 (Black), -1 (White) or 0, row after row from the top.  `mover` is 1 or -1.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.stones = [0] * rules.size**2
        self.mover, self.ply, self.passes, self.over = 1, 0, 0, False
        self.key, self.seen = 0, frozenset([0])  # the key of the board, and those of all boards so far
        self.chains: list[tuple[list[int], set[int]] | None] | None = None  # what `find_chains` returned

    def find_chains(self) -> list[tuple[list[int], set[int]] | None]:
        """Return the chain of each point as its stones and its liberties; None for an empty point."""
        if self.chains is None:
            self.chains = [None] * len(self.stones)
            for point, colour in enumerate(self.stones):
                if colour and self.chains[point] is None:
                    chain, liberties = [point], set()
                    visited = {point}
                    for stone in chain:  # the list grows during the loop
                        for beside in self.rules.neighbours[stone]:
                            other = self.stones[beside]
                            if other == 0:
                                liberties.add(beside)
                            elif other == colour and beside not in visited:
                                visited.add(beside)
                                chain.append(beside)
                    for stone in chain:
                        self.chains[stone] = (chain, liberties)
        return self.chains

    def try_stone(self, point: int) -> tuple[list[int], int] | None:
        """Return what a stone of the mover on an empty point would capture, and the key of the board after that.

        None if the move is illegal.
        """
        chains, captured, has_liberty = self.find_chains(), [], False
        key = self.key ^ self.rules.keys[self.mover][point]
        for beside in self.rules.neighbours[point]:
            colour = self.stones[beside]
            if colour == 0:
                has_liberty = True
                continue
            chain, liberties = chains[beside]  # type: ignore[misc]
            if colour == self.mover:
                has_liberty = has_liberty or len(liberties) > 1
            elif len(liberties) == 1 and chain[0] not in captured:  # a chain may be beside the point twice
                captured += chain
        for stone in captured:
            key ^= self.rules.keys[-self.mover][stone]
        is_suicide = not has_liberty and not captured
        return None if is_suicide or key in self.seen else (captured, key)

    def legal(self) -> list[int]:
        """Return the legal actions; the last one is the pass."""
        points = [point for point, colour in enumerate(self.stones) if colour == 0 and self.try_stone(point)]
        return [*points, len(self.stones)]

    def after(self, action: int) -> "Go":
        """Return the position after a legal action."""
        then = Go.__new__(Go)
        then.rules, then.chains = self.rules, None
        then.mover, then.ply = -self.mover, self.ply + 1
        if action == len(self.stones):
            then.stones, then.key, then.seen, then.passes = self.stones, self.key, self.seen, self.passes + 1
            then.chains = self.chains
        else:
            captured, then.key = self.try_stone(action)  # type: ignore[misc]
            then.stones, then.seen, then.passes = self.stones.copy(), self.seen | {then.key}, 0
            then.stones[action] = self.mover
            for stone in captured:
                then.stones[stone] = 0
        then.over = then.passes == 2 or then.ply >= self.rules.max_moves
        return then

    def margin(self) -> float:
        """Return Black's points minus White's: stones, and empty regions that touch one colour only."""
        total, visited = float(sum(self.stones)), set()
        for point, colour in enumerate(self.stones):
            if colour or point in visited:
                continue
            region, colours_around = [point], set()
            visited.add(point)
            for empty in region:  # the list grows during the loop
                for beside in self.rules.neighbours[empty]:
                    if self.stones[beside]:
                        colours_around.add(self.stones[beside])
                    elif beside not in visited:
                        visited.add(beside)
                        region.append(beside)
            if len(colours_around) == 1:
                total += len(region) * colours_around.pop()
        return total - self.rules.komi

    def outcome(self) -> float:
        """Return 1 if the mover has won the finished game, -1 for a loss, 0 for a draw."""
        margin = self.margin()
        return float(self.mover * ((margin > 0) - (margin < 0)))

    def winning_move(self) -> None:
        """Return None: as in the package, the search of Go does not look for moves that win at once."""

    def planes(self) -> np.ndarray:
        """Return own stones, the other side's, and whether Black is to move: float32 [1, 3, N, N]."""
        size = self.rules.size
        stones = np.array(self.stones, np.float32).reshape(size, size) * self.mover
        return np.stack([stones == 1, stones == -1, np.full((size, size), self.mover == 1)])[None].astype(np.float32)


class Controller:
    """The Go Text Protocol, version 2, as far as a game needs it."""

    def __init__(self, packed: str) -> None:
        network = Network(packed)
        self.search, self.rules = Search(network), Rules(network.facts["options"])
        self.game = Go(self.rules)
        self.milliseconds = float(sys.argv[1]) if len(sys.argv) > 1 else LATER_MS

    def answer(self, command: str, words: list[str]) -> str:
        """Return the reply to a command; raise ValueError for one that cannot be obeyed."""
        if command not in COMMANDS:
            raise ValueError("unknown command")
        return str(COMMANDS[command](self, *words) or "")

    def point(self, word: str) -> int:
        """Return the action of 'D4' or 'pass'."""
        size = self.rules.size
        if word.lower() == "pass":
            return size * size
        column, row = COLUMNS.index(word[0].upper()), size - int(word[1:])
        if not (0 <= row < size and column < size):
            raise ValueError("invalid vertex")
        return row * size + column

    def boardsize(self, size: str) -> None:
        if int(size) != self.rules.size:
            raise ValueError("unacceptable size")
        self.game = Go(self.rules)

    def komi(self, komi: str) -> None:
        self.rules.komi = float(komi)

    def clear(self) -> None:
        self.game = Go(self.rules)

    def set_mover(self, colour: str) -> None:
        """Make it this colour's turn; if a controller lets it play twice, that is no pass of the other colour."""
        side = 1 if colour.lower()[0] == "b" else -1
        if side != self.game.mover:
            self.game = self.game.after(self.rules.size**2)
            self.game.passes = 0

    def play(self, colour: str, word: str) -> None:
        self.set_mover(colour)
        action = self.point(word)
        if action not in self.game.legal():
            raise ValueError("illegal move")
        self.game = self.game.after(action)
        self.game.over = False  # a controller may go on

    def genmove(self, colour: str) -> str:
        self.set_mover(colour)
        action, _ = self.search.best(self.game, MANY, self.milliseconds)
        self.game = self.game.after(action)
        self.game.over = False  # a controller may go on
        size = self.rules.size
        return "pass" if action == size * size else f"{COLUMNS[action % size]}{size - action // size}"

    def score(self) -> str:
        margin = self.game.margin()
        return f"B+{margin:g}" if margin > 0 else f"W+{-margin:g}" if margin < 0 else "0"


COMMANDS: dict[str, Any] = {
    "protocol_version": lambda controller: "2",
    "name": lambda controller: "alphago bot",
    "version": lambda controller: "1",
    "list_commands": lambda controller: "\n".join(COMMANDS),
    "known_command": lambda controller, name: str(name in COMMANDS).lower(),
    "boardsize": Controller.boardsize,
    "clear_board": Controller.clear,
    "komi": Controller.komi,
    "play": Controller.play,
    "genmove": Controller.genmove,
    "final_score": Controller.score,
    "quit": lambda controller: "",
}


def main(packed: str) -> None:
    gc.disable()  # a collection takes milliseconds in the middle of a move, and there are no cycles to find
    controller = Controller(packed)
    for line in sys.stdin:
        words = line.split("#")[0].split()
        if not words:
            continue
        number = words.pop(0) if words[0].isdecimal() else ""
        try:
            reply = f"={number} {controller.answer(words[0], words[1:])}"
        except (ValueError, IndexError, TypeError) as error:
            reply = f"?{number} {error}"
        print(reply.rstrip() + "\n", flush=True)
        if words[0] == "quit":
            break
