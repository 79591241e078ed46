"""`import_games`: stream games from files into a dataset, on several processes, resumable after a stop."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from alphago.records.dataset_writer import Collector, DatasetWriter, LeftOut, Split
from alphago.records.game_conversion import Converter, GameFilter
from alphago.records.sources import OTHER_NAMES, SourcePart, find_indexes, list_files, pieces, read_indexes
from alphago.system.files import user_path
from alphago.system.validation import checks_keywords
from alphago.workers.jobs import open_pool
from alphago.workers.work import pack, unpack

BYTES_PER_JOB = 300_000
PIECES_PER_JOB = 200


@dataclass
class ImportReport:
    """The result of an import.

    Attributes:
        kept: number of games added.
        total: number of games in the dataset now.
        rejected: number of games left out for each reason; its `examples` are some messages for each reason.
    """

    kept: int
    total: int
    rejected: LeftOut = field(default_factory=LeftOut)

    def __str__(self) -> str:
        lines = [f"{self.kept} games are new, {sum(self.rejected.values())} were left out, {self.total} in all"]
        for reason, count in self.rejected.most_common():
            example = next(iter(self.rejected.examples.get(reason, ())), "")
            lines.append(f"{count:8}  {reason}" + (f", such as {example}" if example else ""))
        return "\n".join(lines)


@checks_keywords()
def import_games(
    paths: str | Path | Sequence[str | Path],
    dataset: str | Path,
    *,
    filter: GameFilter | None = None,
    split: Split | None = None,
    index: str | Path | Sequence[str | Path] | None = None,
    workers: int | str = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Import games from files, folders and archives into a dataset, and report how many were kept.

    A game is left out if the dataset already has it or a rotated or reflected copy of it.  To resume an import that was
    stopped, repeat the call; a call with other arguments adds to the dataset.  Repeating a complete import does
    nothing, unless files were added or changed since: then all are read again, and the new games are added.

    Args:
        paths: SGF files, archives (`.tar.gz`, `.zip`), texts with a game on each line (`id TAB ;B[pd];W[dp]…`),
            compressed or not, and folders with such files; one of them, or several.
        dataset: the dataset's folder, which need not exist.
        filter: which games to keep.
        split: shares of validation and test games; None for the dataset's own, or the default for a new one.
        index: index files with results and komi, for texts with a game on each line; None to search for `*.index` in
            `paths` and their parent folders.
        workers: who converts the games, as in `train`: a number of processes, "folder:PATH", a Ray cluster's
            "HOST:PORT", or "auto"; 1 for this process.
        on_progress: called with the numbers of games read and kept so far.

    Raises:
        FileNotFoundError: for a path that does not exist.
        ValueError: without paths, for other workers, if another import into the dataset was interrupted, or the
            dataset has another split.
        FileExistsError: if the folder is neither empty nor a dataset.
        BlockingIOError: if another process writes to the dataset.
        ChildProcessError: if processes of workers end before they have begun.
    """
    filter = filter or GameFilter()
    places = [user_path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    if not places:
        raise ValueError("games must be in one file, folder or archive or more, got none")
    for path in places:
        if not path.exists():
            raise FileNotFoundError(f"games must be in a file, a folder or an archive, got {path}")
    given = [index] if isinstance(index, (str, Path)) else index
    indexes = find_indexes(places) if given is None else [user_path(path) for path in given]
    converter = Converter(filter, read_indexes(indexes))
    sources = [stamp(path, dataset) for path in places]
    # Workers are found, or refused, before there is a folder; with 1 this process converts.
    with open_pool(None if str(workers) == "1" else workers) as pool, DatasetWriter(dataset, split) as writer:
        jobs_done = writer.begin(sources, {"filter": asdict(filter), "index": len(converter.index)})
        if jobs_done is None:  # the import is complete
            return ImportReport(0, writer.games)
        groups = islice(jobs(places), jobs_done, None)
        batches: Iterator[Collector]
        if pool is None:
            batches = map(converter.convert, groups)
        else:
            data = pack(asdict(converter.filter), {"index": converter.index})
            batches = pool.map(Converter, data, map(pieces_to_bytes, groups), batch_from_bytes, in_order=True)
        for job, batch in enumerate(batches, jobs_done + 1):
            writer.add(batch, jobs=job)
            if on_progress is not None:
                on_progress(writer.kept + sum(writer.waiting.left_out.values()), writer.kept)
        writer.finish()
        return ImportReport(writer.kept, writer.games, writer.waiting.left_out)


def stamp(path: str | Path, dataset: str | Path) -> list[str]:
    """Return [path, digest] of a source; the digest is of its files' names, sizes and times.

    Args:
        dataset: the dataset's folder.  Files in it, and files that no import reads, are left out.
    """
    place, written_to = Path(path), user_path(dataset).resolve()
    digest = hashlib.blake2b(digest_size=16)
    for file in list_files(place):
        is_read = file == place or not OTHER_NAMES.search(file.name)
        if is_read and written_to not in file.resolve().parents:
            with contextlib.suppress(FileNotFoundError):  # deleted since the folder was listed
                status = file.stat()
                name = os.fsencode(file.relative_to(place))
                digest.update(b"%d %d %d %s" % (len(name), status.st_size, status.st_mtime_ns, name))
    return [str(path), digest.hexdigest()]


def jobs(paths: Sequence[str | Path]) -> Iterator[list[SourcePart]]:
    """Yield the jobs of an import: groups of pieces, each large enough to be worth sending to a worker."""
    waiting: list[SourcePart] = []
    size = 0
    for piece in pieces(paths):
        waiting.append(piece)
        size += len(piece.data)
        if size >= BYTES_PER_JOB or len(waiting) >= PIECES_PER_JOB:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def pieces_to_bytes(group: list[SourcePart]) -> bytes:
    """Return the pieces as a job of a Converter, in JSON with bytes as letters of Latin 1."""
    plain = [[piece.name, piece.data.decode("latin-1"), piece.is_lines, piece.error] for piece in group]
    return json.dumps(plain).encode()


def batch_from_bytes(data: bytes) -> Collector:
    """Return the games in a Converter's answer."""
    left_out, arrays = unpack(data)
    batch, games = Collector(LeftOut(*left_out)), arrays["games"]
    batch.rows, batch.words = games.tolist(), np.split(arrays["moves"], games["start"])[1:]  # the first begins at 0
    return batch
