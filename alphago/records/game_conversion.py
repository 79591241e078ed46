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

from alphago.env.go import GoEnv
from alphago.records.dataset import RESULT, SCORED, SKIPPED, UNKNOWN_KOMI, WHITE_STONE, rules_code
from alphago.records.dataset_writer import Collector, game_hash
from alphago.records.record import to_steps
from alphago.records.sgf import faults as kinds
from alphago.records.sgf.game_line import RULES_TO_TRY
from alphago.records.sgf.reader import salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.stretches import Stretch, make_board, play_by_rules
from alphago.records.sgf.values import read_rank
from alphago.records.sources import ID_DIGITS, LONGEST_LINE, SourcePart
from alphago.system.validation import setting, settings
from alphago.workers.work import RemoteWork, pack, unpack

NO_RESULT, SIZE, RANK, HANDICAP, SHORT, LONG = "no result", "size", "rank", "handicap", "too short", "too long"
PLAYER = "another player"
# The faults that cut a game off: the moves before such a fault are legal.
CUT = (kinds.TRUNCATED, kinds.POINT, kinds.OCCUPIED, kinds.SUICIDE, kinds.REPETITION, kinds.ENDED, kinds.SET_UP)
YEAR = re.compile(r"(?:1[6-9]|20)[0-9]{2}")
LONGEST_GAME = 0xFFFF  # largest number of plies, and of set-up stones, of a row
# The actions of 19x19 by the two letters of SGF: column, then row, from the top left; "tt" is a pass.
POINTS = {f"{chr(97 + action % 19)}{chr(97 + action // 19)}": action for action in range(361)} | {"tt": 361}
# The plays of 19x19 as texts with a game on each line write them: b";B[pd]" gives (1, the action of "pd").
PLAYS = {f";{side}[{name}]".encode(): (sign, POINTS[name]) for side, sign in (("B", 1), ("W", -1)) for name in POINTS}
SCORED_WITHIN = 1.0  # points; if area and result differ by no more, the last board has no dead stones


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
    komi: float | None = setting("komi of files that name none", default=None, least=-1000, most=1000, step=0.5)
    rank: int | None = setting("rank of players whose files name none", default=None, least=-30, most=9999)
    cut: bool = setting("keep the legal beginning of damaged games", default=False)


@dataclass(frozen=True)
class Converter(RemoteWork):
    """Converts pieces of source files (see `alphago.records.sources.SourcePart`) to rows of a dataset.

    As work for workers, a job is what `dataset_import.pieces_to_bytes` returns, and its answer is what
    `dataset_import.batch_from_bytes` reads.

    Attributes:
        filter: which games to keep.
        index: [n] of dtype ENTRY, sorted by id: results and komi for texts with a game on each line.
    """

    filter: GameFilter
    index: np.ndarray

    @classmethod
    def from_bytes(cls, data: bytes, device: str = "cpu") -> Self:
        """Return the converter that `import_games` packed; `device` does not matter, since no network is used."""
        filter_options, arrays = unpack(data)
        return cls(GameFilter(**filter_options), arrays["index"])

    def do(self, job: bytes, stop: threading.Event) -> bytes:
        """Return the answer to a job; `stop` is ignored, since a job is short."""
        pieces = [SourcePart(name, data.encode("latin-1"), *rest) for name, data, *rest in json.loads(job)]
        batch = self.convert(pieces)
        # As JSON, `left_out` is only its counts; its attribute `examples` would be lost.
        return pack([batch.left_out, batch.left_out.examples], batch.take())

    def convert(self, pieces: list[SourcePart]) -> Collector:
        """Return the games in these pieces, and how many games were left out for each reason."""
        collector = Collector()
        for piece in pieces:
            if piece.is_lines:
                stream = io.BytesIO(piece.data)
                while line := stream.readline(LONGEST_LINE):
                    self.add_line(collector, piece.name, line)
            else:
                for game in piece.games():
                    self.add_game(collector, game)
        return collector

    # --- SGF ---

    def add_game(self, collector: Collector, game: SgfGame) -> None:
        """Add a game to the collector, or count it there as left out if the filter rejects it."""
        if reason := self.why_rejected(game):
            example = game.faults[0].of(game.source) if game.faults else game.source
            collector.left_out.add(reason, example)
            return
        if game.komi is None:
            game = replace(game, komi=self.filter.komi)
        env = make_board(game.board_size, game.played_rules, len(game.moves))
        words, stones = to_words(env, game)
        plies = len(words) - stones
        if max(plies, stones) > LONGEST_GAME:
            collector.left_out.add(LONG, game.source)
            return
        has_result = game.outcome is not None
        is_sound = all(fault.kind in kinds.ACCEPTED for fault in game.faults)
        score2, is_scored = self.score(env, game) if has_result and is_sound else (0, False)
        year = YEAR.search(game.date)
        black_rank, white_rank = self.ranks(game)
        row = {
            "hash": game_hash(env, game.first, stones, words),
            "length": plies,
            "stones": stones,
            "size": game.board_size,
            "first": game.first,
            "komi2": UNKNOWN_KOMI if game.komi is None else int(2 * game.komi),
            "outcome": int(game.outcome or 0),
            "flags": (RESULT if has_result else 0) | (SCORED if is_scored else 0),
            "score2": score2,
            "handicap": min(game.handicap, 255),  # a byte of the row
            "rules": rules_code(game.played_rules),
            "year": int(year[0]) if year else 0,
            "black_rank": black_rank,
            "white_rank": white_rank,
        }
        collector.add(row, words)

    def why_rejected(self, game: SgfGame) -> str:
        """Return the reason to leave a game out, such as NO_RESULT or a kind of fault; "" to keep the game."""
        wanted = self.filter
        fatal = kinds.FATAL if wanted.cut else (*kinds.FATAL, *CUT)  # `cut` keeps games that are cut off
        fault_kinds = {fault.kind for fault in game.faults}
        ranks = self.ranks(game)  # 0: unknown, which meets no limit
        too_low = wanted.min_rank is not None and (0 in ranks or min(ranks) < wanted.min_rank)
        too_high = wanted.max_rank is not None and (0 in ranks or max(ranks) > wanted.max_rank)
        player = (wanted.player or "").casefold()  # "" is in every name
        reasons = [  # each reason, and whether it applies
            *((kind, kind in fault_kinds) for kind in fatal),
            (PLAYER, not any(player in name.casefold() for name in game.players)),
            (SIZE, wanted.size not in (None, game.board_size)),
            (SHORT, len(game.moves) < wanted.min_moves),
            (LONG, len(game.moves) > wanted.max_moves),
            (HANDICAP, game.handicap > max(wanted.max_handicap, 1)),  # HA[1] means no stone: Black just begins
            (NO_RESULT, game.outcome is None and not wanted.any_result),
            (RANK, too_low or too_high),
        ]
        return next((reason for reason, applies in reasons if applies), "")

    def ranks(self, game: SgfGame) -> tuple[int, int]:
        """Return the ranks of Black and White as numbers (`read_rank`).

        A player without a rank gets the filter's `rank`; if the filter has none, 0.
        """
        default = self.filter.rank or 0
        black, white = game.ranks
        return read_rank(black) or default, read_rank(white) or default

    def score(self, env: GoEnv, game: SgfGame) -> tuple[int, bool]:
        """Return (twice Black's margin, True) if the owner of each point of the last board is known, else (0, False).

        The area of the last board is counted without removing stones.  If the count differs from the result by at most
        SCORED_WITHIN, no dead stones are left, so the owners are known.  The two may differ by one point, since
        Japanese and Chinese counting may.
        """
        margin = game.margin
        if margin is None or game.komi is None:
            return 0, False
        counted = game.position(env).score()  # by area
        same_winner = counted * margin > 0
        agrees = same_winner and abs(counted - margin) <= SCORED_WITHIN
        return (int(2 * counted), True) if agrees else (0, False)

    # --- one game a line ---

    def add_line(self, collector: Collector, name: str, line: bytes) -> None:
        """Add the game in a line, `id TAB ;B[pd];W[dp]…`; what it lacks of result and komi is taken from `index`.

        A game without other properties than plays is read faster than by the reader of SGF, since archives of such
        lines have millions of games.

        Args:
            name: the file's name, for messages.
        """
        game_id, _, text = line.partition(b"\t")
        game_id, text = game_id.strip().removeprefix(codecs.BOM_UTF8), text.strip()
        where = f"{name}, game {game_id.decode('ascii', 'replace')[:40]}"
        known = self.known_fields(game_id)
        plain_game = game_of_plays(text, where)
        tree = text if text.startswith(b"(") else b"(" + text + b")"
        games = salvage_sgf(tree, name=where) if plain_game is None else [plain_game]
        for game in games:
            missing = {field: value for field, value in known.items() if getattr(game, field) in (None, "")}
            self.add_game(collector, replace(game, **missing))

    def known_fields(self, game_id: bytes) -> dict[str, Any]:
        """Return the result and komi that the index has for a game, as fields of SgfGame; {} for an unknown id."""
        if not game_id.isdigit() or len(game_id) > ID_DIGITS:
            return {}
        entry = int(np.searchsorted(self.index["id"], int(game_id)))
        if entry == len(self.index) or self.index["id"][entry] != int(game_id):
            return {}
        _, result, komi = self.index[entry].item()
        return {"result": result.decode("utf-8", "ignore"), "komi": None if math.isnan(komi) else komi}


def to_words(env: GoEnv, game: SgfGame) -> tuple[np.ndarray, int]:
    """Return a game as the numbers that a dataset stores.

    Returns:
        uint16: the points with set-up stones, then the plies, of which a skipped turn has one of its own; and the
        number of set-up stones.
    """
    steps = to_steps(np.array(game.moves, np.int32), np.array(game.movers, np.int8), game.first)
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
    """Return the game of 19x19 that a text of plays records, up to the first illegal play.

    The rules are found as for an SGF file that names none (`play_by_rules`).

    Args:
        text: plays of six bytes each, such as ;B[pd].
        where: the game's name in messages.

    Returns:
        None if the text has any other form, or a point off the board.
    """
    plays = [PLAYS.get(text[at : at + 6]) for at in range(0, len(text), 6)]
    if None in plays or not plays:
        return None
    colours, actions = map(list, zip(*plays, strict=True))
    # nodes: as if each play stood in a node of its own.  Only the message of a fault uses these numbers.
    stretch = Stretch(np.zeros(361, np.int8), colours[0], colours, actions, nodes=[*range(len(plays))])
    _stretches, played, assumed = play_by_rules([stretch], RULES_TO_TRY, size=19)
    legal = played.legal_part()
    return SgfGame(
        19,
        tuple(legal.actions),
        movers=tuple(legal.colours),
        setup={} if colours[0] > 0 else {"to_play": "white"},
        faults=() if played.fault is None else (played.fault,),
        assumed=assumed,
        source=where,
    )
