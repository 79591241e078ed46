"""The words and arrays of a file of KataGo's networks, a gzip file; sizes are checked before memory is taken.

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
WORD = re.compile(rb"\s*(\S{1,%d})\s" % LONGEST_WORD)
MOST_RATIO = 4  # bytes unpacked for each byte of the file; weights hardly shrink, and text by a half
FREE_BYTES = 2**20  # that may be unpacked of any file
PIECE = 2**16  # bytes that are unpacked at once
MOST_REAL = 1e30  # largest number that is no integer
MOST_NUMBER = 10**6  # largest integer: a number of channels, blocks or heads
GZIP = b"\x1f\x8b"  # the first bytes of a gzip file


def unpacked(file: BinaryIO, size: int, begin_only: bool = False) -> bytearray:
    """Return the contents of a gzip file, which limits them by its size in bytes.

    Args:
        begin_only: whether to return only the contents of its first PIECE.

    Raises:
        ValueError: for a file that is damaged, cut off, or unpacks to more than the limit.
    """
    data, unpacker = bytearray(), zlib.decompressobj(wbits=31)
    limit = MOST_RATIO * size + FREE_BYTES
    while packed := file.read(PIECE):
        try:
            data += unpacker.decompress(packed, limit + 1 - len(data))
        except zlib.error as error:
            raise ValueError(f"it is damaged: {error}") from None
        if len(data) > limit:
            raise ValueError(f"it unpacks to more than {MOST_RATIO} times its size, as no network does")
        if unpacker.unused_data:
            raise ValueError("more follows after its last array")
        if begin_only:
            return data
    if not unpacker.eof:
        raise ValueError("it is cut off")
    return data


class KataGoFile:
    """The contents of a file, read from the beginning; all methods raise ValueError for damaged contents."""

    def __init__(self, data: bytearray) -> None:
        self.data, self.position = data, 0

    def word(self) -> str:
        """Return the next word."""
        match = WORD.match(self.data, self.position)
        if match is None:
            rest = bytes(self.data[self.position : self.position + 20])
            raise ValueError(f"a word or number must follow, got {rest!r}" if rest.strip() else "it is cut off")
        self.position = match.end() - 1
        return match[1].decode("latin-1")

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
        at = self.data.find(MARK, self.position, self.position + LONGEST_WORD)
        begin = at + len(MARK)
        end = self.position + 2 * count if at < 0 else begin + 4 * count  # a word has two bytes at least
        if end > len(self.data):
            raise ValueError(f"it is cut off, or its sizes are wrong: {count:,} numbers cannot follow")
        if at < 0:
            return torch.tensor([self.number("a weight", -MOST_REAL) for _ in range(count)]).view(shape)
        self.position = end
        return torch.from_numpy(np.frombuffer(self.data, "<f4", count, begin).astype(np.float32)).view(shape)

    def close(self) -> None:
        """Check that nothing follows but the end of the file."""
        if self.data[self.position :].strip():
            raise ValueError("more follows after its last array")
