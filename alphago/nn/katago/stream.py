"""The words and arrays of a file of KataGo's networks: a gzip stream, read in pieces whose sizes are checked first.

An array is "@BIN@" and float32 numbers, little-endian, or in files .txt.gz the numbers as words.  (Source: KataGo's
cpp/neuralnet/desc.cpp, version 1.17.)
"""

import contextlib
import re
import zlib
from math import prod
from typing import BinaryIO

import numpy as np
import torch

MARK = b"@BIN@"
LONGEST_WORD = 100  # bytes; names have at most 96
MOST_RATIO = 4  # bytes unpacked for each byte of the file; weights hardly shrink, and text by a half
FREE_BYTES = 2**20  # that may be unpacked of any file
PIECE = 2**16  # bytes unpacked at once
MOST_REAL = 1e30  # largest number that is no integer
MOST_NUMBER = 10**6  # largest integer: a number of channels, blocks or heads
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file


class PackedStream:
    """The unpacked contents of a file, read from the beginning; all methods raise ValueError for damaged contents.

    file: the file, open for reading.  size: its size in bytes, which limits how much is unpacked.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.unpacker = file, zlib.decompressobj(wbits=31)
        self.limit = MOST_RATIO * size + FREE_BYTES
        self.unpacked = 0
        self.buffer, self.position = b"", 0

    def word(self) -> str:
        """Return the next word."""
        while True:
            match = re.compile(rb"\s*(\S+)\s").match(self.buffer, self.position)
            if match is not None and len(match[1]) <= LONGEST_WORD:
                self.position = match.end() - 1
                return match[1].decode("latin-1")
            if len(self.buffer) - self.position > 2 * LONGEST_WORD:
                raise ValueError(f"a word or number must follow, got {self.buffer[self.position :][:20]!r}")
            if not self.more():
                raise ValueError("it is cut off")

    def integer(self, name: str, least: int = 1, most: int = MOST_NUMBER) -> int:
        """Return the next word as an integer from `least` to `most`; name: what it is, for the message."""
        word = self.word()
        if not (word.isdecimal() and word.isascii() and least <= int(word[:9]) <= most and len(word) < 9):
            wanted = least if least == most else f"an integer from {least} to {most}"
            raise ValueError(f"{name} must be {wanted}, got {word[:20]!r}")
        return int(word)

    def number(self, name: str, least: float = 1e-30) -> float:
        """Return the next word as a number, at least `least`; name: what it is, for the message."""
        word = self.word()
        with contextlib.suppress(ValueError):
            if least <= (value := float(word)) < MOST_REAL:
                return value
        raise ValueError(f"{name} must be a number from {least:g} to {MOST_REAL:g}, got {word[:20]!r}")

    def array(self, *shape: int) -> torch.Tensor:
        """Return the next array, float32 of this shape."""
        count = prod(shape)
        if 2 * count > self.limit - self.unpacked:  # a number has two bytes at least, as a word
            raise ValueError(f"it is cut off, or its sizes are wrong: {count:,} numbers cannot follow")
        while len(self.buffer) - self.position < 2 * LONGEST_WORD and self.more():
            pass
        if not self.buffer[self.position : self.position + LONGEST_WORD].lstrip().startswith(MARK[:1]):
            return torch.tensor([self.number("a weight", -MOST_REAL) for _ in range(count)]).view(shape)
        at = self.buffer.find(MARK, self.position, self.position + LONGEST_WORD)
        if at < 0 or 4 * count > self.limit - self.unpacked + len(self.buffer):
            raise ValueError(f"it is cut off, or its sizes are wrong: an array of {count:,} numbers must follow")
        data = np.empty(4 * count, np.uint8)
        self.position, filled = at + len(MARK), 0
        while filled < len(data):
            piece = np.frombuffer(self.buffer, np.uint8, offset=self.position)[: len(data) - filled]
            data[filled : filled + len(piece)] = piece
            filled, self.position = filled + len(piece), self.position + len(piece)
            if filled < len(data) and not self.more():
                raise ValueError("it is cut off")
        return torch.from_numpy(data.view("<f4").astype(np.float32, copy=False)).view(shape)

    def close(self) -> None:
        """Check that nothing follows but the end of the file."""
        while not self.buffer[self.position :].strip():
            self.position = len(self.buffer)
            if not self.more():
                break
        if self.position < len(self.buffer) or self.unpacker.unused_data or self.file.read(1):
            raise ValueError("more follows after its last array")

    def more(self) -> bool:
        """Unpack the next piece into the buffer; return whether there was one."""
        if self.unpacker.eof:
            return False
        packed = self.unpacker.unconsumed_tail or self.file.read(PIECE)
        if not packed:
            raise ValueError("it is cut off")
        try:
            piece = self.unpacker.decompress(packed, PIECE)
        except zlib.error as error:
            raise ValueError(f"it is damaged: {error}") from None
        self.unpacked += len(piece)
        if self.unpacked > self.limit:
            raise ValueError(f"it unpacks to more than {MOST_RATIO} times its size, as no network does")
        self.buffer, self.position = self.buffer[self.position :] + piece, 0
        return bool(piece) or not self.unpacker.eof
