"""Read and write SGF files."""

from alphago.records.sgf.document import format_sgf, write_sgf
from alphago.records.sgf.faults import Fault
from alphago.records.sgf.notes import MoveNote
from alphago.records.sgf.reader import parse_games, parse_sgf, read_sgf, read_sgf_games, salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame
from alphago.records.sgf.values import read_komi

__all__ = [
    "Fault",
    "MoveNote",
    "SgfGame",
    "format_sgf",
    "parse_games",
    "parse_sgf",
    "read_komi",
    "read_sgf",
    "read_sgf_games",
    "salvage_sgf",
    "write_sgf",
]
