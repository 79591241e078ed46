"""Convert games from files to rows of a dataset, or reject them with a reason; runs in the workers of an import."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from alphago.env.batch import FIRST, GameBatch
from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.env.kernels import go_lines
from alphago.env.kernels.go_row import PLY
from alphago.records.dataset import ENDED, RESULT, SKIPPED, UNKNOWN_KOMI, WHITE_STONE, rules_code
from alphago.records.dataset_writer import Batch, Collector
from alphago.records.record import steps_of
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import FATAL, TOLD
from alphago.records.sgf.game_line import LENIENT
from alphago.records.sgf.reader import salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.stretches import board_of
from alphago.records.sgf.values import read_rank
from alphago.records.sources import ID_DIGITS, NO_KOMI, NO_MARGIN, Piece
from alphago.system.validation import check_ranges, setting, settings

DAMAGED = "damaged file"
NO_RESULT, SIZE, RANK, HANDICAP, SHORT, LONG = "no result", "size", "rank", "handicap", "too short", "too long"
PLAYER = "another player"
# The faults that end a game's legal beginning.
CUT = (kinds.TRUNCATED, kinds.POINT, kinds.OCCUPIED, kinds.SUICIDE, kinds.REPETITION, kinds.ENDED, kinds.SET_UP)
YEAR = re.compile(r"(?:1[6-9]|20)[0-9]{2}")
PLAY = re.compile(rb";\s*([BW])\s*\[\s*([a-z]{2}|)\s*\]")
HEADER = re.compile(rb"(SZ|KM|RE|HA|RU|AB|AW|CA)\s*\[")
LONGEST_GAME = 0xFFFF  # largest number of plies, and of set-up stones, of a row
SCORED_WITHIN = 1.0  # largest difference in points at which the area on the last board agrees with the result
HEADER_WITHIN = 400  # first bytes of a line in which root properties are looked for


@settings
class GameFilter:
    """Which games a dataset takes."""

    size: int | None = setting("only games on boards of this size", default=None, least=2, most=25)
    min_rank: int | None = setting(
        "only games between players of at least this rank, both known: 1 to 9 dan, -30 to -1 kyu, 101 to 109 "
        "professional dan; from 1000 on an Elo rating",
        default=None,
        least=-30,
        most=9999,
    )
    max_rank: int | None = setting(
        "only games between players of at most this rank, both known",
        default=None,
        least=-30,
        most=9999,
    )
    player: str | None = setting("only games of a player whose name has this text in it, in any case", default=None)
    max_handicap: int = setting("most handicap stones", default=9, least=0, most=99)
    min_moves: int = setting("fewest moves of a game", default=20, least=0, most=LONGEST_GAME)
    max_moves: int = setting("most moves of a game", default=1000, least=1, most=LONGEST_GAME)
    any_result: bool = setting("keep games without a known winner too: they train the policy only", default=False)
    komi: float | None = setting("komi of files that name none", default=None, least=-1000, most=1000)
    rank: int | None = setting("rank of players whose files name none", default=None, least=-30, most=9999)
    cut: bool = setting(
        "keep the legal beginning of games that are damaged, truncated or have an illegal move", default=False
    )

    def __post_init__(self) -> None:
        check_ranges(self)

    def has_player(self, players: Sequence[str]) -> bool:
        """Return whether the filter's player, if it has one, is among a game's players; players: their names."""
        return self.player is None or any(self.player.casefold() in name.casefold() for name in players)

    def plain(self) -> dict[str, object]:
        """Return the filter as a dictionary of its options, for JSON."""
        return {option.name: getattr(self, option.name) for option in fields(self)}


@dataclass(frozen=True)
class Converter:
    """Converts pieces of source files (see `alphago.records.sources.Piece`) to rows of a dataset.

    filter: which games to keep.
    index: [n] of dtype ENTRY, sorted by id: results and komi for texts with a game on each line.
    """

    filter: GameFilter
    index: np.ndarray

    def convert(self, pieces: list[Piece]) -> Batch:
        """Return the games in these pieces as a Batch, which also counts the games left out, by reason."""
        into = Collector()
        for piece in pieces:
            if piece.error:
                into.reject(DAMAGED, f"{piece.name} {piece.error}")
            elif piece.lines:
                for line in piece.lines:
                    self.add_line(into, piece.name, line)
            else:
                for game in salvage_sgf(piece.data, name=piece.name):
                    self.add_game(into, game)
        return into.batch()

    # --- SGF ---

    def add_game(self, into: Collector, game: SgfGame) -> None:
        """Add a game to `into`; if the filter rejects the game, only count it there, by the reason."""
        if reason := self.why_not(game):
            where = game.faults[0].of(game.source) if game.faults else game.source
            into.reject(reason, where)
            return
        env = board_of(game.board_size, game.played_rules, len(game.moves))
        words, stones = words_of(env, game)
        plies = len(words) - stones
        if max(plies, stones) > LONGEST_GAME:
            into.reject(LONG, game.source)
            return
        has_result = game.outcome is not None
        is_sound = all(fault.kind in TOLD for fault in game.faults)
        score2, ended = self.score(env, game) if has_result and is_sound else (0, False)
        year = YEAR.search(game.date)
        row = {
            "length": plies,
            "stones": stones,
            "size": game.board_size,
            "first": -1 if game.setup.get("to_play") == "white" else 1,
            "komi2": self.komi2(game.komi),
            "outcome": int(game.outcome or 0),
            "flags": flags_of(has_result, ended),
            "score2": score2,
            "handicap": min(game.handicap, 255),  # a byte of the row
            "rules": rules_code(game.played_rules),
            "year": int(year[0]) if year else 0,
            **self.rank_columns(game),
        }
        into.add(row, words)

    def why_not(self, game: SgfGame) -> str:
        """Return the reason to leave a game out; "" to keep it."""
        keeps_cut_games = self.filter.cut
        kinds = [fault.kind for fault in game.faults]
        fatal = [kind for kind in kinds if kind in FATAL]
        cutting = [kind for kind in kinds if kind in CUT]  # faults after which a game was cut off
        if fatal:
            return fatal[0]
        if cutting and not keeps_cut_games:
            return cutting[0]
        if not self.filter.has_player(game.players):
            return PLAYER
        return self.why_filtered(
            size=game.board_size,
            moves=len(game.moves),
            handicap=game.handicap,
            outcome=game.outcome,
            ranks=self.ranks(game),
        )

    def ranks(self, game: SgfGame | None) -> tuple[int, int]:
        """Return the ranks of Black and White; a player without a rank gets the filter's `rank`, or 0 if it has none.

        game: None for a game of which no ranks are known.
        """
        default = self.filter.rank or 0
        black, white = ("", "") if game is None else game.ranks
        return read_rank(black) or default, read_rank(white) or default

    def rank_columns(self, game: SgfGame | None) -> dict[str, int]:
        """Return the columns of a row that have the players' ranks; game: as in `ranks`."""
        return dict(zip(("black_rank", "white_rank"), self.ranks(game), strict=True))

    def why_filtered(self, size: int, moves: int, handicap: int, outcome: float | None, ranks: tuple[int, int]) -> str:
        """Return the reason why the filter rejects a game with these properties; "" if it accepts the game.

        ranks: of Black and White, 0 if unknown.
        """
        wanted = self.filter
        if wanted.size is not None and size != wanted.size:
            return SIZE
        if moves < wanted.min_moves:
            return SHORT
        if moves > wanted.max_moves:
            return LONG
        if handicap > max(wanted.max_handicap, 1):  # HA[1] means that Black moves first, without a stone more
            return HANDICAP
        if outcome is None and not wanted.any_result:
            return NO_RESULT
        least, most = wanted.min_rank, wanted.max_rank
        if least is None and most is None:
            return ""
        unknown = 0 in ranks
        too_low = least is not None and min(ranks) < least
        too_high = most is not None and max(ranks) > most
        return RANK if unknown or too_low or too_high else ""

    def score(self, env: GoEnv, game: SgfGame) -> tuple[int, bool]:
        """Return (twice Black's margin, True) if the owner of each point at the end is known, else (0, False).

        The area of the last board is counted without removing stones.  If it differs from the result by at most
        SCORED_WITHIN, no dead stones are left, so the owners are known.  The tolerance is one point because Japanese
        and Chinese counting differ by one.
        """
        margin = game.margin
        if margin is None or game.komi is None:
            return 0, False
        batch = game.position(env, 0).batch
        batch.replay(FIRST, game.steps()[None], np.array([len(game.moves)], np.int32), FIRST)
        counted = black_score(batch)
        same_winner = counted * margin > 0
        if same_winner and abs(counted - margin) <= SCORED_WITHIN:
            return int(2 * counted), True
        return 0, False

    def komi2(self, komi: float | None) -> int:
        """Return twice the komi, for a row; komi: None for the filter's, and UNKNOWN_KOMI if the filter has none."""
        komi = self.filter.komi if komi is None else komi
        return UNKNOWN_KOMI if komi is None else int(2 * komi)

    # --- one game a line ---

    def add_line(self, into: Collector, name: str, line: bytes) -> None:
        """Add the game of a line, `id TAB ;B[pd];W[dp]…`.

        A line with root properties (SZ, RE, …) is read as SGF.  Lines with nothing but plays have a faster reader of
        their own (nine times as fast), since archives of this kind have millions of games.

        name: the file's name, for messages.
        """
        label, _, moves = line.partition(b"\t")
        label = label.strip().removeprefix(codecs.BOM_UTF8)
        where = f"{name}, game {label.decode('ascii', 'replace')[:40]}"
        if HEADER.search(moves, 0, HEADER_WITHIN):
            text = moves.strip()
            text = text if text.startswith(b"(") else b"(" + text + b")"
            for game in salvage_sgf(text, name=where):
                self.add_game(into, game)
            return
        entry = self.entry(label)
        plays = plays_of(moves.strip())
        if plays is None:
            reason = kinds.POINT if moves.strip() else kinds.UNREADABLE
            into.reject(reason, f"{where}: moves must be ;B[pd];W[dp]…")
            return
        _, actions = plays
        # In an index the outcome of a draw and an unknown outcome are both 0; the margin is 0 only for a draw.
        has_result = entry is not None and (entry["outcome"] != 0 or entry["margin2"] == 0)
        outcome = float(entry["outcome"]) if entry is not None and has_result else None
        reason = self.why_filtered(size=19, moves=len(actions), handicap=0, outcome=outcome, ranks=self.ranks(None))
        if self.filter.player is not None:  # lines of plays name no players
            reason = PLAYER
        if reason:
            into.reject(reason, where)
        else:
            self.add_plays(into, where, plays, entry, has_result=has_result)

    def entry(self, label: bytes) -> np.void | None:
        """Return the index's entry of a game; None if the index does not have it.  label: the game's id."""
        if not label.isdigit() or len(label) > ID_DIGITS:
            return None
        place = int(np.searchsorted(self.index["id"], int(label)))
        if place == len(self.index) or self.index["id"][place] != int(label):
            return None
        entry: np.void = self.index[place]
        return entry

    def add_plays(
        self, into: Collector, where: str, plays: tuple[np.ndarray, np.ndarray], entry: Any, *, has_result: bool
    ) -> None:
        """Add a game on 19x19.  A game with an illegal play is rejected, or, with `filter.cut`, kept up to that play.

        where: names the game in messages.  plays: colours and actions, as from `plays_of`.
        entry: the game's entry in the index; None if there is no entry.
        has_result: whether the entry says how the game ended.
        """
        colours, actions = plays
        words, legal_plays, rules, area = follow_plays(colours, actions)
        if legal_plays < len(actions) and not self.filter.cut:
            into.reject(kinds.OCCUPIED, f"{where}: move {legal_plays + 1} is illegal")
            return
        moves = (words < SKIPPED).sum()  # without the plies that stand for skipped turns
        if moves < self.filter.min_moves:
            into.reject(SHORT, where)
            return
        komi2 = self.komi2(None if entry is None or entry["komi2"] == NO_KOMI else entry["komi2"] / 2)
        margin2 = int(entry["margin2"]) if has_result else NO_MARGIN
        counted2 = 2 * area - komi2  # twice Black's margin on the last board, see `score`
        same_winner = counted2 * margin2 > 0
        agree = same_winner and abs(counted2 - margin2) <= 2 * SCORED_WITHIN
        ended = margin2 != NO_MARGIN and komi2 != UNKNOWN_KOMI and agree
        row = {
            "length": len(words),
            "stones": 0,
            "size": 19,
            "first": int(colours[0]) if len(colours) else 1,
            "komi2": komi2,
            "outcome": int(entry["outcome"]) if has_result else 0,
            "flags": flags_of(has_result, ended),
            "score2": counted2 if ended else 0,
            "rules": rules_code(rules),
            **self.rank_columns(None),
        }
        into.add(row, words)


def flags_of(has_result: bool, ended: bool) -> int:
    """Return the `flags` of a row.  ended: whether score and owners of the last board are known."""
    return (RESULT if has_result else 0) | (ENDED if ended else 0)


def black_score(batch: GameBatch) -> float:
    """Return Black's margin in the game in slot 0; `GameBatch.score` is in the view of the player about to move."""
    mover = int(batch.to_play(FIRST, np.empty(1, np.int8))[0])
    return mover * float(batch.score(FIRST, np.empty(1, np.float32))[0])


def words_of(env: GoEnv, game: SgfGame) -> tuple[np.ndarray, int]:
    """Return a game's set-up stones and then its plies, as a dataset stores them, uint16; and the number of stones."""
    plies = stored_plies(game.steps(), env.pass_action)
    if not game.setup.get("black") and not game.setup.get("white"):
        return plies, 0
    board = env.place(game.setup.get("black", ()), game.setup.get("white", ())).ravel()
    black, white = np.flatnonzero(board == 1), np.flatnonzero(board == -1)
    stones = np.concatenate([black, white + WHITE_STONE]).astype(np.uint16)
    return np.concatenate([stones, plies]), len(stones)


def stored_plies(steps: np.ndarray, pass_action: int) -> np.ndarray:
    """Return the plies of a game as a dataset stores them, uint16, with a ply for each skipped turn.

    steps: the moves, from `steps_of`.  pass_action: the action of a pass, which with SKIPPED stands for a skipped turn.
    """
    after_skipped_turn = steps < 0
    actions = np.where(after_skipped_turn, -1 - steps, steps).astype(np.uint16)
    return np.insert(actions, np.flatnonzero(after_skipped_turn), np.uint16(pass_action | SKIPPED))


def plays_of(text: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """Return colours (1, -1) and actions, int32 [n], of a text of plays on 19x19, such as ;B[pd];W[dp].

    Returns None if the text has any other form, or a point off the board.
    """
    if text and len(text) % 6 == 0:  # perhaps all plays have six bytes, as in ;B[pd]: numpy reads them at once
        begins, colours, opens, columns, rows, closes = np.frombuffer(text, np.uint8).reshape(-1, 6).T
        is_plain = (begins == ord(";")).all() and (opens == ord("[")).all() and (closes == ord("]")).all()
        if is_plain and ((colours == ord("B")) | (colours == ord("W"))).all():
            return actions_of(colours, columns, rows)
    plays = PLAY.findall(text)  # pairs of a colour and a point, b"" for a pass
    if not plays or text.count(b";") != len(plays):
        return None
    colours = np.frombuffer(b"".join(colour for colour, _ in plays), np.uint8)
    points = np.frombuffer(b"".join(point or b"tt" for _, point in plays), np.uint8).reshape(-1, 2)
    return actions_of(colours, points[:, 0], points[:, 1])


def actions_of(colours: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return colours (1 Black, -1 White) and actions, int32 [n]; None if a point is off the board.

    colours: the letters B or W.  columns, rows: the letters of the points.  All are ASCII codes, uint8 [n].
    """
    column = columns.astype(np.int32) - ord("a")
    row = rows.astype(np.int32) - ord("a")
    is_pass = (column == 19) & (row == 19)  # SGF's tt
    on_board = (column >= 0) & (column < 19) & (row >= 0) & (row < 19)
    if not (is_pass | on_board).all():
        return None
    actions = np.where(is_pass, 361, row * 19 + column)
    return np.where(colours == ord("B"), 1, -1).astype(np.int32), actions.astype(np.int32)


def follow_plays(colours: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, int, Rules, int]:
    """Play a game on 19x19 up to its first illegal play, under the rules that allow the most plays.

    The rules are `GoEnv`'s default or, if these forbid a play, simple ko, without and with suicide (LENIENT).

    colours, actions: the plays, as from `plays_of`.
    Returns the plies as a dataset stores them, the number of legal plays, the rules, and Black's area minus White's on
    the last board.
    """
    first = int(colours[0]) if len(colours) else 1
    attempts = []
    for rules in (Rules(), *LENIENT):
        batch = board_of(19, rules, len(actions)).new_batch(1)
        batch.reset(FIRST, to_play=first, komi=0.0)
        legal_plays = int(go_lines.follow(batch.rows[0], colours, actions))
        attempts.append((legal_plays, rules, batch))
        if legal_plays == len(actions):
            break
    legal_plays, rules, batch = max(attempts, key=lambda attempt: attempt[0])  # most plays; of equals the first
    played = int(batch.rows[0, PLY])  # without passes after the end of the game, which are legal but not stored
    words = stored_plies(steps_of(actions[:played], colours[:played], first), 361)
    return words, legal_plays, rules, int(black_score(batch))
