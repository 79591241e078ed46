"""Read and write SGF files."""

from alphago.records.sgf.document import format_sgf as format_sgf
from alphago.records.sgf.document import write_sgf as write_sgf
from alphago.records.sgf.notes import MoveNote as MoveNote
from alphago.records.sgf.reader import parse_sgf as parse_sgf
from alphago.records.sgf.reader import read_sgf as read_sgf
from alphago.records.sgf.reader import read_sgf_games as read_sgf_games
from alphago.records.sgf.reader import salvage_sgf as salvage_sgf
from alphago.records.sgf.sgf_game import SgfGame as SgfGame
