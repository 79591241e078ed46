"""The folder of an evaluation: its settings, and its games, saved as they end."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from alphago.arena.match_result import MatchGame
from alphago.env.game import GameEnv
from alphago.records.dataset_writer import check_begun
from alphago.records.sgf import format_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.system import files
from alphago.system.validation import check_float, check_int, check_types

Match = tuple[int, int]  # indices of two players


class ResultFolder:
    """The files of an evaluation.

      evaluation.json   what determines each game, which must be the same in a later call
      games.jsonl       one line per game, in the order in which they ended
      games/M-N-G.sgf   Go only: game G of player M against player N, all counted from 1
      standings.html    the results as a page, written when a call of `alphago evaluate` ends
      lock              held by the process that plays

    Args:
        path: the folder; None for `runs/evaluate-HASH`, with a hash of the settings.
        names: the names of the players.
        settings: JSON data that determines each game.

    Attributes:
        games: the finished games by match, and in each match by the game's number.
    """

    def __init__(self, path: str | Path | None, env: GameEnv, names: list[str], settings: Mapping[str, Any]) -> None:
        """Open or create a folder.

        Raises:
            ValueError: if the folder has other contents.
            OSError: if it cannot be created.
        """
        identity = json.loads(json.dumps(settings))  # as it will be read from the file: with lists in place of tuples
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        self.path = Path("runs") / f"evaluate-{digest[:10]}" if path is None else files.user_path(path)
        self._games_file = self.path / "games.jsonl"
        self.env = env
        self.names = names
        self.games: dict[Match, dict[int, MatchGame]] = {}
        open_folder(self.path / "evaluation.json", identity)
        self._read_games()

    def add(self, match: Match, game: MatchGame) -> None:
        """Append a finished game to the file, and keep it; match: the indices of its two players."""
        fields = {**asdict(game), "moves": " ".join(map(self.env.to_text, game.moves))}  # as text in place of actions
        line = {"match": match, "game": fields.pop("number"), "result": game.result, **fields}
        files.append(self._games_file, (json.dumps(line) + "\n").encode())
        self._insert(match, game)

    def game_name(self, match: Match, number: int) -> str:
        """Return the name of a game's SGF file, without its suffix; number: the game's index in its match."""
        return f"{match[0] + 1}-{match[1] + 1}-{number + 1:04d}"

    def _read_games(self) -> None:
        """Read the games of earlier calls; an incomplete last line, left by a crash, is removed from the file."""
        data = files.read_named(self._games_file) if os.path.lexists(self._games_file) else b""
        complete_lines = data[: data.rfind(b"\n") + 1]
        if len(complete_lines) < len(data):
            os.truncate(self._games_file, len(complete_lines))
        for number, text in enumerate(complete_lines.splitlines(), 1):
            try:
                line = files.parse_json(text)
                moves = tuple(map(self.env.from_text, line["moves"].split()))
                outcome = check_float("outcome", line["outcome"], -1, 1)
                margin = None if line["margin"] is None else check_float("margin", line["margin"])
                other_fields = {key: line[key] for key in ("fault", "counted", "disagreement")}
                check_types(MatchGame, (0, outcome, moves, margin), other_fields)  # 0: the number is checked below
                i, j = line["match"]
                if not 0 <= i < j < len(self.names):
                    raise ValueError(f"there is no match of the players {i} and {j}")
                game = check_int("game", line["game"], 0)
                self._insert((i, j), MatchGame(game, outcome, moves, margin, **other_fields))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"{self._games_file} is damaged in line {number}: {error}") from error

    def _insert(self, match: Match, game: MatchGame) -> None:
        """Keep a game, and write its SGF file unless there is one."""
        self.games.setdefault(match, {})[game.number] = game
        path = self.path / "games" / f"{self.game_name(match, game.number)}.sgf"
        if path.exists() or not self.env.has_sgf:
            return
        first, second = (self.names[player] for player in match)
        players = (first, second) if game.number % 2 == 0 else (second, first)  # Black, White
        result = "0" if game.result == "draw" else game.result  # as SGF writes a draw
        comment = "\n".join(filter(None, (game.fault, game.disagreement)))
        record = SgfGame.in_game(self.env, game.moves, result=result, players=players, comment=comment)
        path.parent.mkdir(exist_ok=True)
        files.write_atomic(path, format_sgf(record))


def open_folder(file: Path, identity: Mapping[str, Any]) -> None:
    """Create the folder of `file` and write the file, or check that the file has the same content.

    Args:
        file: the path of `evaluation.json` in the folder.
        identity: the content, JSON data.

    Raises:
        ValueError: which names the differences, if the file has another content, or if the folder has other files.
        OSError: if it cannot be created.
    """
    folder = file.parent
    if os.path.lexists(file):
        try:
            saved = dict(files.parse_json(files.read_file(file)))
        except (ValueError, TypeError) as error:
            # `parse_json` raises its ValueError from the error of the JSON decoder, whose name says more.
            raise ValueError(f"{file} is damaged ({type(error.__cause__ or error).__name__})") from error
        return check_begun(folder, saved, identity)
    if not files.is_new_or_empty(folder):
        raise ValueError(f"{folder} must be a new or empty folder or an evaluation's: choose another one")
    with files.explain_os_error(f"the folder {folder} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    files.write_atomic(file, (json.dumps(identity, indent=2) + "\n").encode())
