"""Reduce a run's folder until it is small enough to carry to another machine.

Config, logs, the latest network, one state and the newest games are kept.  The replay memory is truncated to these
games.  The run can continue, but not bit-identically to a run whose folder was not reduced.
"""

from pathlib import Path
from typing import NamedTuple

import torch

from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord, records_to_bytes
from alphago.system.files import DAMAGED, explain_os_error, write_atomic
from alphago.training.runs.folder import GAMES, LOGS, MATCHES, STATE, WEIGHTS, RunFolder, file_size
from alphago.training.runs.shards import Shard, Shards, digest_of, read_shard
from alphago.training.runs.state import PIECE, State, pack_arrays, tensor_name, to_bytes, unpack_arrays

FOLDER_LIMIT = 60 * 2**20  # bytes of all files
FILE_LIMIT = PIECE  # bytes of one file
LOG_LIMIT = 4 * 2**20  # bytes of each log
UNFINISHED_LIMIT = 12 * 2**20  # bytes of the games in progress
SPARE = 2**18  # bytes left free for growth when the run continues
LEAST_SPACE = 2**18  # smallest space for which a file of games is written, in bytes
COPIES = 3  # least number of copies of the weights in a folder: latest network, learning network, optimizer state
SMALLEST_SHARE = 1 / 16  # smallest share of games in progress that keep their policies, unless none keeps them
FILLED = 0.9  # share of a file's space that is planned for games, since games differ in size


class CompactSize(NamedTuple):
    """The size of a compact folder, for a report."""

    games: int  # games in memory now
    games_before: int  # games in memory before the reduction
    size: int  # bytes
    files: int  # number of files

    def __str__(self) -> str:
        return (
            f"the run folder is compact: {self.size / 2**20:.1f} MiB in {self.files} files, "
            f"with the {self.games:,} newest of {self.games_before:,} games in memory"
        )


def check_network(net: NeuralNet) -> None:
    """Raise ValueError if a network is too large for a compact folder."""
    weights = sum(tensor.numel() * tensor.element_size() for tensor in net.state_dict().values())
    if COPIES * weights > FOLDER_LIMIT:
        raise ValueError(
            f"the network of a compact run must be at most {FOLDER_LIMIT // COPIES / 2**20:.0f} MiB, "
            f"got {weights / 2**20:.0f} MiB ({net.num_parameters:,} parameters)"
        )


def make_compact(run: RunFolder, state: State, board: int) -> CompactSize:
    """Remove the files that a run does not need to continue, then its oldest games until the folder is small enough.

    Afterwards no file is larger than FILE_LIMIT, and the folder is not larger than FOLDER_LIMIT.  If the process is
    killed meanwhile, the run can still be resumed.

    state: the present state, just saved by a checkpoint.  It is changed in place: its replay memory has fewer games
        afterwards, and its games in progress may have fewer policies.
    board: the size of the board that the run plays now.
    Returns the size of the reduced folder.
    Raises ValueError, before a game is removed, if the folder would be too large even without games.
    """
    with explain_os_error(f"the run folder {run.path} could not be made compact"):
        for name in LOGS:
            thin_log(run.path / name, LOG_LIMIT)
        shrink_unfinished(state, board)
        memory = state.data["stage"]["memory"]
        games_before = memory["games"]
        permanent = [path for path in files_in(run.path) if not is_replaceable(run.path, path)]
        fixed = SPARE + len(to_bytes(state)) + sum(map(file_size, permanent))  # bytes of all but the games in memory
        if fixed > FOLDER_LIMIT:
            raise ValueError(
                f"the run in {run.path} is saved, but cannot be compact: without any games it takes "
                f"{fixed / 2**20:.0f} MiB, more than {FOLDER_LIMIT / 2**20:.0f}"
            )
        run.shards.files = newest_files(run.shards, board, max_games=games_before, space=FOLDER_LIMIT - fixed)
        memory["games"] = sum(shard.games for shard in run.shards.files)
        run.write_state(state)
        needed = {run.path / GAMES / shard.name for shard in run.shards.files} | set(run.states.newest_files())
        for path in files_in(run.path):
            if is_replaceable(run.path, path) and path not in needed:
                path.unlink()
    files = files_in(run.path)
    return CompactSize(
        games=memory["games"], games_before=games_before, size=sum(map(file_size, files)), files=len(files)
    )


def thin_log(path: Path, limit: int) -> None:
    """Drop every second line of a log's older half, repeatedly, until the log has at most `limit` bytes."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    count = len(lines)
    while sum(map(len, lines)) > limit and len(lines) > 1:
        half = max(2, len(lines) // 2)  # at least 2, so that a line is dropped
        lines = lines[:half:2] + lines[half:]
    if len(lines) < count:
        write_atomic(path, b"".join(lines))


def shrink_unfinished(state: State, board: int) -> None:
    """Drop policies of the games in progress in `state` until these games take at most UNFINISHED_LIMIT bytes.

    state: changed in place.  board: the board size of its games.
    """
    name = tensor_name(board)
    share = 1.0  # of the games keep their policies
    while state.tensors[name].numel() > UNFINISHED_LIMIT and share:
        share = share / 2 if share > SMALLEST_SHARE else 0.0
        state.tensors[name] = without_policies(state.tensors[name], share)


def without_policies(games: torch.Tensor, share: float) -> torch.Tensor:
    """Zero the policies and weights of all games in progress except the first `share` (0 .. 1) of them.

    games: the packed games of a state, from `pack_arrays`; the result has the same format.
    """
    arrays = unpack_arrays(games)
    lengths = arrays["lengths"]
    kept_games = int(share * len(lengths))
    kept_plies = int(lengths[:kept_games].sum())
    for name in ("policies", "weights"):
        arrays[name][kept_plies:] = 0
    return pack_arrays(arrays)


def files_in(folder: Path) -> list[Path]:
    """Return all files in a folder and its subfolders, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def is_replaceable(folder: Path, path: Path) -> bool:
    """Return whether a file of a run's folder holds games, a match, a state or an older network, or is damaged.

    A compact folder may lack such files.
    """
    return path.relative_to(folder).parts[0] in (GAMES, MATCHES, STATE, WEIGHTS) or path.name.endswith(DAMAGED)


def newest_files(shards: Shards, board: int, *, max_games: int, space: int) -> list[Shard]:
    """Return the files of the newest games that fit into `space` bytes, oldest file first.

    If a file is too large, or only some of its games are kept, its games are written to smaller new files.

    board: the games' board size.  max_games: largest number of games to keep.
    """
    newest: list[Shard] = []  # the newest first
    for shard in reversed([shard for shard in shards.files if shard.board == board]):
        if max_games == 0:
            break
        count = min(shard.games, max_games)
        max_games -= count
        path = shards.folder / shard.name
        if not path.exists():
            continue  # the file is lost, so a resumed run has lost these games too
        if count == shard.games and file_size(path) <= min(FILE_LIMIT, space):
            pieces = [shard]
        else:
            try:
                records = read_shard(path, shard.digest)[-count:]
            except ValueError:
                continue  # the file is damaged, which is as if it were lost
            pieces = write_pieces(shards.folder, shard, records, space)
        newest += pieces
        space -= sum(file_size(shards.folder / piece.name) for piece in pieces)
        has_left_out = sum(piece.games for piece in pieces) < count  # because the space is used up
        if has_left_out:
            break  # games older than a game that is left out are not kept
    return newest[::-1]


def write_pieces(folder: Path, shard: Shard, records: list[GameRecord], space: int) -> list[Shard]:
    """Write the last games of a file to new files of at most FILE_LIMIT bytes each and at most `space` bytes in all.

    shard: the old file.  records: its last games; the oldest of these games are left out if they do not fit.
    Returns the new files, newest games first.
    """
    pieces: list[Shard] = []
    bytes_per_game = file_size(folder / shard.name) / shard.games
    end = shard.end
    while records and space >= LEAST_SPACE:
        limit = min(FILE_LIMIT, space)
        count = min(len(records), max(1, int(FILLED * limit / bytes_per_game)))
        while len(data := records_to_bytes(records[-count:])) > limit:
            if count == 1:  # this game does not fit, and no older game is kept without it
                return pieces
            count //= 2
        piece = Shard(first=end - count, end=end, digest=digest_of(data), board=shard.board)
        write_atomic(folder / piece.name, data)
        pieces.append(piece)
        records = records[:-count]
        end -= count
        space -= len(data)
    return pieces
