"""ConvertingWork: the conversion of games from files, as a job of workers."""

import threading
from collections import Counter
from typing import Self

import numpy as np

from alphago.records.converting import Converter, GameFilter
from alphago.records.dataset_writer import Batch
from alphago.records.sources import Piece
from alphago.workers.jobs import SealedWork
from alphago.workers.packing import pack, unpack


class ConvertingWork(SealedWork):
    """Converts pieces of files to rows of a dataset."""

    def __init__(self, converter: Converter) -> None:
        self.converter = converter

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        plain, arrays = unpack(data)
        return cls(Converter(GameFilter(**plain), arrays["index"]))

    def answer(self, job: bytes, stop: threading.Event) -> bytes:
        batch = self.converter.convert(pieces_from_bytes(job))
        return pack([batch.rejected, batch.examples], {"games": batch.games, "moves": batch.moves})


def converter_to_bytes(converter: Converter) -> bytes:
    return pack(converter.filter.plain(), {"index": converter.index})


def batch_from_bytes(data: bytes) -> Batch:
    (rejected, examples), arrays = unpack(data)
    return Batch(arrays["games"], arrays["moves"], Counter(rejected), examples)


def pieces_to_bytes(group: list[Piece]) -> bytes:
    """Return the pieces as a job."""
    texts = [text for piece in group for text in (piece.data, *piece.lines)]
    plain = [[piece.name, len(piece.lines), piece.error] for piece in group]
    sizes = np.array([len(text) for text in texts], np.int64)
    return pack(plain, {"sizes": sizes, "texts": np.frombuffer(b"".join(texts), np.uint8)})


def pieces_from_bytes(job: bytes) -> list[Piece]:
    plain, arrays = unpack(job)
    data, ends = arrays["texts"].tobytes(), np.cumsum(arrays["sizes"])
    texts = iter([data[end - size : end] for end, size in zip(ends, arrays["sizes"], strict=True)])
    return [Piece(name, next(texts), tuple(next(texts) for _ in range(lines)), error) for name, lines, error in plain]
