"""What is wrong with a file of games: where, of which kind, and in a sentence."""

from dataclasses import dataclass

# Kinds, by which reports count.
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
DEAD = "stones without a liberty"
KOMI = "komi"
HANDICAP = "handicap"

# Those after which there is no game at all.
FATAL = (UNREADABLE, TOO_LARGE, OTHER_GAME, BOARD, DEAD)


@dataclass(frozen=True)
class Fault:
    """Something wrong in a file.

    kind: one of the names above.
    text: a sentence without place.
    game: the number of the game in its file, from 1; None if the file holds one.
    node: the number of the node in its line, from 0 for the head; None if it is no node's.
    move: the number of the move, from 1; None if it is no move's.
    """

    kind: str
    text: str
    game: int | None = None
    node: int | None = None
    move: int | None = None

    def __str__(self) -> str:
        game = "" if self.game is None else f"game {self.game}: "
        node = "" if self.node is None else f"node {self.node}: "
        return f"{game}{node}{self.text}"

    def of(self, file: str) -> str:
        """Return the sentence with file and place: 'games.sgf, game 2, node 14: move 13, White A5, is illegal'."""
        places = [file, *(f"{name} {number}" for name, number in (("game", self.game), ("node", self.node))
                          if number is not None)]  # fmt: skip
        return f"{', '.join(places)}: {self.text}"
