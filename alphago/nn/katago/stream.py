"""Read the words and arrays of a file of KataGo's networks, a gzip file; sizes are checked before memory is taken.

An array is "@BIN@" followed by little-endian float32 numbers; in files .txt.gz it is numbers as words.  (Source:
KataGo's cpp/neuralnet/desc.cpp, version 1.17.)
"""

import contextlib
import re
import zlib
from math import prod
from typing import BinaryIO

import numpy as np
import torch

MARK = b"@BIN@"
WORD = re.compile(rb"\s*(\S{1,100})\s")  # names have at most 96 bytes
AHEAD = 200  # bytes within which the next word must end, or the next array begin
# A file may unpack to MOST_RATIO times its size plus FREE_BYTES.  Packing hardly shrinks weights, and text by a half.
MOST_RATIO = 4
FREE_BYTES = 2**20
PIECE = 2**16  # bytes that are unpacked at once
MOST_REAL = 1e30  # largest number that is no integer
MOST_NUMBER = 10**6  # largest integer: a number of channels, blocks or heads
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file


class KataGoFile:
    """The contents of a file, unpacked as they are read.

    Each call of `word`, `integer`, `number` or `array` reads what comes next.  A damaged file raises ValueError or
    zlib.error.

    Args:
        file: the gzip file.
        size: its size in bytes, which limits what it may unpack to.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.bytes_left = file, MOST_RATIO * size + FREE_BYTES
        self.unpacker = zlib.decompressobj(wbits=31)  # 31: the format gzip
        self.data = bytearray()  # what was unpacked and not yet read

    def unpack(self, count: int) -> None:
        """Unpack until `data` has at least `count` bytes, or the file ends."""
        # `decompress` returns at most PIECE bytes.  Packed bytes that it did not get to are its `unconsumed_tail`, and
        # are unpacked before more of the file is read.
        while len(self.data) < count and (packed := self.unpacker.unconsumed_tail or self.file.read(PIECE)):
            piece = self.unpacker.decompress(packed, PIECE)
            self.data += piece
            self.bytes_left -= len(piece)
            if self.bytes_left < 0:
                raise ValueError(f"it unpacks to more than {MOST_RATIO} times its size, as no network does")

    def word(self) -> str:
        """Read the next word, which ends at white space."""
        self.unpack(AHEAD)
        match = WORD.match(self.data, 0, AHEAD)
        if match is None:
            rest = bytes(self.data[:20])
            raise ValueError(f"a word or number must follow, got {rest!r}" if rest.strip() else "it is cut off")
        word = match[1].decode("latin-1")
        del self.data[: match.end() - 1]  # the blank after the word stays, and may begin the next one
        return word

    def integer(self, name: str, least: int = 1, most: int = MOST_NUMBER) -> int:
        """Read the next word as an integer from `least` to `most`; name: what it is, for the message."""
        word = self.word()
        # Fewer than nine digits: `int` refuses numbers of thousands of digits, with an error of its own.
        is_number = word.isdecimal() and word.isascii() and len(word) < 9
        if not (is_number and least <= int(word) <= most):
            wanted = least if least == most else f"an integer from {least} to {most}"
            raise ValueError(f"{name} must be {wanted}, got {word[:20]!r}")
        return int(word)

    def number(self, name: str, least: float = 1e-30) -> float:
        """Read the next word as a number from `least` to MOST_REAL; name: what it is, for the message."""
        word = self.word()
        with contextlib.suppress(ValueError):
            if least <= (value := float(word)) < MOST_REAL:
                return value
        raise ValueError(f"{name} must be a number from {least:g} to {MOST_REAL:g}, got {word[:20]!r}")

    def array(self, *shape: int) -> torch.Tensor:
        """Read the next array, float32 of this shape."""
        count = prod(shape)
        self.unpack(AHEAD)
        mark = self.data.find(MARK, 0, AHEAD)
        is_text = mark < 0
        begin = mark + len(MARK)  # of the binary numbers
        # Where the array ends; a text ends there at the earliest, since a word and its blank have two bytes at least.
        end = 2 * count if is_text else begin + 4 * count
        self.unpack(end)
        if end > len(self.data):
            raise ValueError(f"it is cut off, or its sizes are wrong: {count:,} numbers cannot follow")
        if is_text:
            return torch.tensor([self.number("a weight", least=-MOST_REAL) for _ in range(count)]).view(shape)
        numbers = torch.from_numpy(np.frombuffer(self.data, "<f4", count, begin)).clone()
        del self.data[:end]
        return numbers.view(shape)

    def close(self) -> None:
        """Raise ValueError unless nothing follows but the end of the file."""
        self.unpack(PIECE)  # either more data appear, or the unpacker meets the end of the packed bytes
        if self.data.strip() or self.unpacker.unused_data or not self.unpacker.eof:
            raise ValueError("it is cut off, or more follows after its last array")
