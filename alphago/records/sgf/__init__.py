"""Read and write SGF files."""

from alphago.records.sgf.document import format_sgf, write_sgf
from alphago.records.sgf.notes import MoveNote
from alphago.records.sgf.reader import parse_sgf, read_sgf, read_sgf_games, salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame

__all__ = ["MoveNote", "SgfGame", "format_sgf", "parse_sgf", "read_sgf", "read_sgf_games", "salvage_sgf", "write_sgf"]
