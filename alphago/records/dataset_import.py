"""`import_games`: stream games from files into a dataset.  Several processes may convert; a stopped import goes on."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from alphago.records.dataset_writer import Collector, DatasetWriter, LeftOut, Split
from alphago.records.game_conversion import Converter, GameFilter
from alphago.records.sources import OTHER_NAMES, SourcePart, find_indexes, list_files, pieces, read_indexes
from alphago.system.files import user_path
from alphago.system.validation import checks_keywords
from alphago.workers.jobs import JobPool, open_pool
from alphago.workers.work import pack, unpack

BYTES_PER_JOB = 300_000
PIECES_PER_JOB = 200


@dataclass
class ImportReport:
    """The result of an import.

    Attributes:
        kept: number of games added.
        total: number of games in the dataset now.
        rejected: number of games left out, by reason; its `examples` are the first few messages for each reason.
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
    nothing if no file was added or changed since.  Otherwise all files are read again, and the new games are added.

    Args:
        paths: SGF files, archives (`.tar.gz`, `.zip`), texts with a game on each line (`id TAB ;B[pd];W[dp]…`),
            any of these compressed, and folders with such files.
        dataset: the dataset's folder, which need not exist.
        filter: which games to keep.
        split: shares of validation and test games; None for those of the dataset, or `Split()` for a new dataset.
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
    sources = [user_path(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    if not sources:
        raise ValueError("games must be in one file, folder or archive or more, got none")
    for path in sources:
        if not path.exists():
            raise FileNotFoundError(f"games must be in a file, a folder or an archive, got {path}")
    index_paths = [index] if isinstance(index, (str, Path)) else index
    indexes = find_indexes(sources) if index_paths is None else [user_path(path) for path in index_paths]
    converter = Converter(filter, read_indexes(indexes))
    stamps = [source_stamp(path, dataset) for path in sources]
    # The pool is opened first: without workers no folder is made.  It is None if this process converts the games.
    with open_pool(None if str(workers) == "1" else workers) as pool, DatasetWriter(dataset, split) as writer:
        # A repeated call is known by its sources and these options; of the index only the number of its games counts.
        jobs_done = writer.begin_import(stamps, options={"filter": asdict(filter), "index": len(converter.index)})
        if jobs_done is None:  # the import is complete
            return ImportReport(0, writer.games)
        groups = islice(jobs(sources), jobs_done, None)  # the pieces of each job, without the jobs done before
        for job, batch in enumerate(convert_all(groups, converter, pool), jobs_done + 1):  # job: its number, from 1
            writer.add_batch(batch, jobs_done=job)
            if on_progress is not None:
                on_progress(writer.kept + sum(writer.left_out.values()), writer.kept)
        writer.complete_import()
        return ImportReport(writer.kept, writer.games, writer.left_out)


def convert_all(groups: Iterable[list[SourcePart]], converter: Converter, pool: JobPool | None) -> Iterator[Collector]:
    """Return the games in each group of pieces, in order; pool: of the workers, None to convert in this process."""
    if pool is None:
        return map(converter.convert, groups)
    data = pack(asdict(converter.filter), {"index": converter.index})  # as `Converter.from_bytes` reads it
    return pool.map(Converter, data, map(pieces_to_bytes, groups), batch_from_bytes, in_order=True)


def source_stamp(path: str | Path, dataset: str | Path) -> list[str]:
    """Return [path, digest] of a source, by which a later call knows whether it has changed.

    The digest is of the names, sizes and modification times of its files.

    Args:
        dataset: the dataset's folder.  Files in it, and files that no import reads, are left out.
    """
    source, written_to = Path(path), user_path(dataset).resolve()
    digest = hashlib.blake2b(digest_size=16)
    for file in list_files(source):
        is_read = file == source or not OTHER_NAMES.search(file.name)
        if is_read and written_to not in file.resolve().parents:
            with contextlib.suppress(FileNotFoundError):  # deleted since the folder was listed
                status = file.stat()
                name = os.fsencode(file.relative_to(source))
                digest.update(b"%d %d %d %s" % (len(name), status.st_size, status.st_mtime_ns, name))
    return [str(path), digest.hexdigest()]


def jobs(paths: Sequence[str | Path]) -> Iterator[list[SourcePart]]:
    """Yield the jobs of an import: groups of pieces, each large enough to be worth sending to a worker."""
    waiting: list[SourcePart] = []
    for piece in pieces(paths):
        waiting.append(piece)
        size = sum(len(part.data) for part in waiting)
        if size >= BYTES_PER_JOB or len(waiting) >= PIECES_PER_JOB:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def pieces_to_bytes(group: list[SourcePart]) -> bytes:
    """Return pieces as a job of a `Converter`: JSON in which the data, which is bytes, is decoded as Latin-1."""
    plain = [[piece.name, piece.data.decode("latin-1"), piece.is_lines, piece.error] for piece in group]
    return json.dumps(plain).encode()


def batch_from_bytes(data: bytes) -> Collector:
    """Return the games, and the games left out, in the answer of `Converter.do` to a job."""
    (counts, examples), arrays = unpack(data)
    batch, games = Collector(LeftOut(counts, examples)), arrays["games"]
    batch.games = games.tolist()
    batch.moves = np.split(arrays["moves"], games["start"])[1:]  # [0] is what comes before the first game: nothing
    return batch
