"""Faults in an SGF file: their kind, place and message."""

from dataclasses import dataclass

# Kinds of faults.
DAMAGED = "damaged file"
UNREADABLE = "no SGF"
TOO_LARGE = "too large"
OTHER_GAME = "not Go"
BOARD = "board size"
TRUNCATED = "truncated"
POINT = "bad point"
OCCUPIED = "occupied point"
SUICIDE = "suicide"
REPETITION = "repetition"
ENDED = "moves after the end"
SET_UP = "set-up after a move"
FINAL_SET_UP = "set-up after the last move"
DEAD = "stones without a liberty"
KOMI = "komi"
HANDICAP = "handicap"
ENCODING = "encoding"
NOTATION = "notation"

# The kinds after which no game can be read at all.
FATAL = (DAMAGED, UNREADABLE, TOO_LARGE, OTHER_GAME, BOARD, DEAD)

# The kinds with which a game is accepted: they are reported, but leave no doubt about its moves.
ACCEPTED = (ENCODING, NOTATION, FINAL_SET_UP)

# The kinds that do not change the moves.
HARMLESS = (*ACCEPTED, KOMI, HANDICAP)


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file.

    Attributes:
        kind: one of the constants above.
        text: the message, without the file, game and node.
        game: number of the game in its file, from 1; None if the file holds only one.
        node: number of the node in its line of play, 0 for the root; None for a fault of the whole game.
        move: number of the move, from 1; None if the fault is not about a move.
    """

    kind: str
    text: str
    game: int | None = None
    node: int | None = None
    move: int | None = None

    @property
    def place(self) -> list[str]:
        """The numbers of game and node, as far as they are known: ['game 2', 'node 14']."""
        return [f"{name} {number}" for name in ("game", "node") if (number := getattr(self, name)) is not None]

    def __str__(self) -> str:
        """Return the message with game and node: 'game 2: node 14: move 13, White A5, is illegal'."""
        return ": ".join([*self.place, self.text])

    def of(self, file: str) -> str:
        """Return the message with file and place: 'games.sgf, game 2, node 14: move 13, White A5, is illegal'."""
        return f"{', '.join([file, *self.place])}: {self.text}"
