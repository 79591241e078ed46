"""Convert games from files to rows of a dataset, or reject them with a reason; runs in the workers of an import."""

import codecs
import io
import json
import math
import re
import threading
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from alphago.env.batch import FIRST
from alphago.env.go import GoEnv
from alphago.records.dataset import ENDED, RESULT, SKIPPED, UNKNOWN_KOMI, WHITE_STONE, rules_code
from alphago.records.dataset_writer import Collector
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.faults import FATAL, TOLD
from alphago.records.sgf.game_line import TRIED
from alphago.records.sgf.reader import salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.stretches import Stretch, make_board, play_by_rules
from alphago.records.sgf.values import read_rank
from alphago.records.sources import ID_DIGITS, SourcePart
from alphago.system.validation import setting, settings
from alphago.workers.work import RemoteWork, pack, unpack

NO_RESULT, SIZE, RANK, HANDICAP, SHORT, LONG = "no result", "size", "rank", "handicap", "too short", "too long"
PLAYER = "another player"
# The faults that end a game's legal beginning.
CUT = (kinds.TRUNCATED, kinds.POINT, kinds.OCCUPIED, kinds.SUICIDE, kinds.REPETITION, kinds.ENDED, kinds.SET_UP)
YEAR = re.compile(r"(?:1[6-9]|20)[0-9]{2}")
LONGEST_GAME = 0xFFFF  # largest number of plies, and of set-up stones, of a row
# By the letters of a column and a row: the action.
POINTS = {f"{chr(97 + action % 19)}{chr(97 + action // 19)}": action for action in range(361)} | {"tt": 361}
# The plays on 19x19 in the form that texts with a game on each line have, as colour and action.
PLAYS = {f";{side}[{name}]".encode(): (sign, POINTS[name]) for side, sign in (("B", 1), ("W", -1)) for name in POINTS}
SCORED_WITHIN = 1.0  # largest difference in points at which the area on the last board agrees with the result


@settings
class GameFilter:
    """Which games a dataset takes."""

    size: int | None = setting("only games on boards of this size", default=None, least=2, most=25)
    min_rank: int | None = setting(
        "least rank of both players: 1 to 9 dan, -30 to -1 kyu, 101 to 109 professional dan; from 1000 an Elo rating",
        default=None,
        least=-30,
        most=9999,
    )
    max_rank: int | None = setting("greatest rank of both players", default=None, least=-30, most=9999)
    player: str | None = setting("only games of a player with this text in the name", default=None)
    max_handicap: int = setting("most handicap stones", default=9, most=99)
    min_moves: int = setting("fewest moves of a game", default=20, most=LONGEST_GAME)
    max_moves: int = setting("most moves of a game", default=1000, least=1, most=LONGEST_GAME)
    any_result: bool = setting("keep games without a known winner, for the policy", default=False)
    komi: float | None = setting("komi of files that name none", default=None, least=-1000, most=1000)
    rank: int | None = setting("rank of players whose files name none", default=None, least=-30, most=9999)
    cut: bool = setting("keep the legal beginning of damaged games", default=False)


@dataclass(frozen=True)
class Converter(RemoteWork):
    """Converts pieces of source files (see `alphago.records.sources.SourcePart`) to rows of a dataset.

    A job is pieces as `pieces_to_bytes` writes them, and `batch_from_bytes` reads the answer.

    Attributes:
        filter: which games to keep.
        index: [n] of dtype ENTRY, sorted by id: results and komi for texts with a game on each line.
    """

    filter: GameFilter
    index: np.ndarray

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        filter_options, arrays = unpack(data)
        return cls(GameFilter(**filter_options), arrays["index"])

    def do(self, job: bytes, stop: threading.Event) -> bytes:
        pieces = [SourcePart(name, data.encode("latin-1"), *rest) for name, data, *rest in json.loads(job)]
        batch = self.convert(pieces)
        return pack([batch.left_out, batch.left_out.examples], batch.take())

    def convert(self, pieces: list[SourcePart]) -> Collector:
        """Return the games in these pieces, and the numbers of those left out, by reason."""
        into = Collector()
        for piece in pieces:
            for line in io.BytesIO(piece.data) if piece.is_lines else ():
                self.add_line(into, piece.name, line)
            for game in () if piece.is_lines else piece.games():
                self.add_game(into, game)
        return into

    # --- SGF ---

    def add_game(self, into: Collector, game: SgfGame) -> None:
        """Add a game to `into`; if the filter rejects the game, only count it there, by the reason."""
        if reason := self.why_not(game):
            where = game.faults[0].of(game.source) if game.faults else game.source
            into.left_out.add(reason, where)
            return
        if game.komi is None:
            game = replace(game, komi=self.filter.komi)
        env = make_board(game.board_size, game.played_rules, len(game.moves))
        words, stones = to_words(env, game)
        plies = len(words) - stones
        if max(plies, stones) > LONGEST_GAME:
            into.left_out.add(LONG, game.source)
            return
        has_result = game.outcome is not None
        is_sound = all(fault.kind in TOLD for fault in game.faults)
        score2, ended = self.score(env, game) if has_result and is_sound else (0, False)
        year = YEAR.search(game.date)
        black_rank, white_rank = self.ranks(game)
        row = {
            "length": plies,
            "stones": stones,
            "size": game.board_size,
            "first": -1 if game.setup.get("to_play") == "white" else 1,
            "komi2": UNKNOWN_KOMI if game.komi is None else int(2 * game.komi),
            "outcome": int(game.outcome or 0),
            "flags": RESULT * has_result + ENDED * ended,  # ENDED: score and owners of the last board are known
            "score2": score2,
            "handicap": min(game.handicap, 255),  # a byte of the row
            "rules": rules_code(game.played_rules),
            "year": int(year[0]) if year else 0,
            "black_rank": black_rank,
            "white_rank": white_rank,
        }
        into.add(row, words)

    def why_not(self, game: SgfGame) -> str:
        """Return the reason to leave a game out; "" to keep it."""
        wanted = self.filter
        fatal = FATAL if wanted.cut else (*FATAL, *CUT)  # CUT: faults after which a game was cut off
        of_game = {fault.kind for fault in game.faults}
        ranks = self.ranks(game)  # 0: unknown
        too_low = wanted.min_rank is not None and (0 in ranks or min(ranks) < wanted.min_rank)
        too_high = wanted.max_rank is not None and (0 in ranks or max(ranks) > wanted.max_rank)
        player = (wanted.player or "").casefold()
        reasons = [
            *((kind, kind in of_game) for kind in fatal),
            (PLAYER, not any(player in name.casefold() for name in game.players)),
            (SIZE, wanted.size not in (None, game.board_size)),
            (SHORT, len(game.moves) < wanted.min_moves),
            (LONG, len(game.moves) > wanted.max_moves),
            (HANDICAP, game.handicap > max(wanted.max_handicap, 1)),  # HA[1]: Black moves first, without a stone more
            (NO_RESULT, game.outcome is None and not wanted.any_result),
            (RANK, too_low or too_high),
        ]
        return next((reason for reason, applies in reasons if applies), "")

    def ranks(self, game: SgfGame) -> tuple[int, int]:
        """Return the ranks of Black and White; one without a rank gets the filter's `rank`, or 0 if it has none."""
        default = self.filter.rank or 0
        black, white = game.ranks
        return read_rank(black) or default, read_rank(white) or default

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
        counted = float(batch.black_results(FIRST)[1][0])
        agrees = counted * margin > 0 and abs(counted - margin) <= SCORED_WITHIN
        return (int(2 * counted), True) if agrees else (0, False)

    # --- one game a line ---

    def add_line(self, into: Collector, name: str, line: bytes) -> None:
        """Add the game of a line, `id TAB ;B[pd];W[dp]…`; the index may know its result and komi.

        A text of plays alone has a faster reader than SGF, since archives of this kind have millions of games.

        Args:
            name: the file's name, for messages.
        """
        game_id, _, text = line.partition(b"\t")
        game_id, text = game_id.strip().removeprefix(codecs.BOM_UTF8), text.strip()
        where = f"{name}, game {game_id.decode('ascii', 'replace')[:40]}"
        known = self.known_fields(game_id)
        played = game_of_plays(text, where)
        sgf = text if text.startswith(b"(") else b"(" + text + b")"
        for game in salvage_sgf(sgf, name=where) if played is None else [played]:
            missing = {field: value for field, value in known.items() if getattr(game, field) in (None, "")}
            self.add_game(into, replace(game, **missing))

    def known_fields(self, game_id: bytes) -> dict[str, Any]:
        """Return what the index says of a game, as fields of an SgfGame; {} if it has no entry with this id."""
        if not game_id.isdigit() or len(game_id) > ID_DIGITS:
            return {}
        place = int(np.searchsorted(self.index["id"], int(game_id)))
        if place == len(self.index) or self.index["id"][place] != int(game_id):
            return {}
        _, result, komi = self.index[place].item()
        return {"result": result.decode("utf-8", "ignore"), "komi": None if math.isnan(komi) else komi}


def to_words(env: GoEnv, game: SgfGame) -> tuple[np.ndarray, int]:
    """Return a game's set-up stones and then its plies, as a dataset stores them, uint16; and the number of stones.

    There is a ply for each skipped turn.
    """
    steps = game.steps()
    after_skipped_turn = steps < 0
    actions = np.where(after_skipped_turn, -1 - steps, steps).astype(np.uint16)
    plies = np.insert(actions, np.flatnonzero(after_skipped_turn), np.uint16(env.pass_action | SKIPPED))
    if not game.setup.get("black") and not game.setup.get("white"):
        return plies, 0
    board = env.place(game.setup.get("black", ()), game.setup.get("white", ())).ravel()
    black, white = np.flatnonzero(board == 1), np.flatnonzero(board == -1)
    stones = np.concatenate([black, white + WHITE_STONE]).astype(np.uint16)
    return np.concatenate([stones, plies]), len(stones)


def game_of_plays(text: bytes, where: str) -> SgfGame | None:
    """Return the game of plays on 19x19 up to the first illegal one, read as the plays of an SGF file without rules.

    Args:
        text: plays of six bytes each, ;B[pd].
        where: names the game in messages.

    Returns:
        None if the text has any other form, or a point off the board.
    """
    found = [PLAYS.get(text[at : at + 6]) for at in range(0, len(text), 6)]
    if None in found or not found:
        return None
    colours, actions = map(list, zip(*found, strict=True))
    stretch = Stretch(np.zeros(361, np.int8), colours[0], colours, actions, [*range(len(found))])
    _, played, assumed = play_by_rules([stretch], TRIED, 19, None)
    plies = played.plies()
    return SgfGame(
        19,
        tuple(plies.actions),
        movers=tuple(plies.colours),
        setup={} if colours[0] > 0 else {"to_play": "white"},
        faults=() if played.fault is None else (played.fault,),
        assumed=assumed,
        source=where,
    )
