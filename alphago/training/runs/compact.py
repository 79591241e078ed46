"""A run's folder made small enough to be carried to another machine.

What is kept: config, metrics, the latest network, one state, and the newest games.  The memory is truncated to these,
so that the run goes on, but not to the bit as it would have gone on otherwise.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from alphago.nn.model_files import write_whole
from alphago.nn.net import NeuralNet
from alphago.records.record import GameRecord, save_records
from alphago.training.boards import tensor_name
from alphago.training.runs.folder import GAMES, LOGS, STATE, WEIGHTS, RunFolder, size, told_as
from alphago.training.runs.shards import Shard, Shards, digest_of, read_shard
from alphago.training.runs.state import DAMAGED, PIECE, State, pack_arrays, to_bytes, unpack_arrays

FOLDER_LIMIT = 60 * 2**20  # bytes of all files
FILE_LIMIT = PIECE  # of one of them
LOG_LIMIT = 4 * 2**20  # of metrics, and of evaluations
UNFINISHED_LIMIT = 12 * 2**20  # of games in progress
SPARE = 2**18  # left for what grows a little when the run goes on; smaller files of games are not worth making
COPIES = 4  # at least, of the weights: the network, as it learns, its average, and the optimizer's memory


class Kept(NamedTuple):
    """What is left of a run's folder."""

    games: int  # in its memory
    of: int  # games that were in it before
    size: int  # bytes
    files: int

    def __str__(self) -> str:
        return (
            f"the run folder is compact: {self.size / 2**20:.1f} MiB in {self.files} files, "
            f"with the {self.games:,} newest of {self.of:,} games in memory"
        )


def check_network(net: NeuralNet) -> None:
    """ValueError if a network is so large that no compact folder can hold it."""
    weights = sum(tensor.numel() * tensor.element_size() for tensor in net.state_dict().values())
    if COPIES * weights > FOLDER_LIMIT:
        raise ValueError(
            f"a compact run holds networks of at most {FOLDER_LIMIT // COPIES / 2**20:.0f} MiB, "
            f"came one of {weights / 2**20:.0f} MiB ({net.num_parameters:,} parameters)"
        )


def make_compact(run: RunFolder, state: State, boards: Sequence[int]) -> Kept:
    """Drops from a run's folder what is not needed to go on, and the oldest games until it is small enough.

    state: of this moment, of which a checkpoint has just been made; its memories become those that are kept.
    boards: their sizes, in the state's order.
    Files are at most FILE_LIMIT, all together at most FOLDER_LIMIT.  A process that is killed meanwhile leaves a run
    that goes on.  ValueError, with all games still there, if what is needed is too large.
    """
    with told_as(f"the run folder {run.path} could not be made compact"):
        for name in LOGS:
            shorten(run.path / name, LOG_LIMIT)
        lighten(state, boards)
        memories = [board["memory"] for board in state.data["boards"]]
        before = sum(memory["games"] for memory in memories)
        room = FOLDER_LIMIT - SPARE - len(to_bytes(state)) - needed_bytes(run.path)
        if room < 0:
            raise ValueError(
                f"the run in {run.path} is saved, but cannot be compact: without any games it takes "
                f"{(FOLDER_LIMIT - room) / 2**20:.0f} MiB, more than {FOLDER_LIMIT / 2**20:.0f}"
            )
        wanted = {board: memory["games"] for board, memory in zip(boards, memories, strict=True)}
        files = newest_files(run.shards, wanted, room)
        for board, memory in zip(boards, memories, strict=True):
            memory["games"] = sum(shard.end - shard.first for shard in files if shard.board == board)
        run.shards.files = files
        run.write_state(state)
        drop_the_rest(run)
    found = [path for path in run.path.rglob("*") if path.is_file()]
    return Kept(sum(memory["games"] for memory in memories), before, sum(map(size, found)), len(found))


def shorten(path: Path, limit: int) -> None:
    """Leaves out every second line of the older half of a log until it is no larger than that."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    whole = len(lines)
    while sum(map(len, lines)) > limit and len(lines) > 1:
        half = len(lines) // 2
        lines = lines[:half:2] + lines[half:]
    if len(lines) < whole:
        write_whole(path, b"".join(lines))


def lighten(state: State, boards: Sequence[int]) -> None:
    """Takes policies from games in progress, half of the games at a time, until they are small enough."""
    names = [tensor_name(board) for board in boards]
    share = 1.0
    while sum(state.tensors[name].numel() for name in names) > UNFINISHED_LIMIT and share:
        share = share / 2 if share > 1 / 16 else 0.0
        for name in names:
            state.tensors[name] = without_policies(state.tensors[name], share)


def without_policies(games: torch.Tensor, share: float) -> torch.Tensor:
    """Return a state's games in progress without policies, but for a share of the games, the first ones."""
    arrays = unpack_arrays(games)
    first = int(arrays["lengths"][: int(share * len(arrays["lengths"]))].sum())  # plies
    for name in ("policies", "weights"):
        arrays[name][first:] = 0
    return pack_arrays(arrays)


def needed_bytes(folder: Path) -> int:
    """Of all files but those that are dropped, or written anew."""
    needed = [path for path in folder.rglob("*") if path.is_file() and not is_dropped(folder, path)]
    return sum(size(path) for path in needed)


def is_dropped(folder: Path, path: Path) -> bool:
    """Whether a file is a game's, a state's, an older network or a damaged one."""
    return path.relative_to(folder).parts[0] in (GAMES, STATE, WEIGHTS) or path.name.endswith(DAMAGED)


def newest_files(shards: Shards, wanted: dict[int, int], room: int) -> list[Shard]:
    """Files of the newest games, oldest first: of each board no more games than wanted, in so many bytes.

    A file that is too large, or half wanted, is written anew in pieces beside the old one.
    """
    kept: list[Shard] = []
    left = dict(wanted)
    for shard in reversed(shards.files):
        count = min(shard.end - shard.first, left.get(shard.board, 0))
        if count == 0:
            continue
        left[shard.board] -= count
        path = shards.folder / shard.name
        if not path.exists():
            continue
        if count == shard.end - shard.first and size(path) <= min(FILE_LIMIT, room):
            found = [shard]
        else:
            try:
                records = read_shard(path, shard.digest)[-count:]
            except ValueError:
                continue  # damaged: these games are lost, whoever reads them
            found = write_pieces(shards.folder, shard, records, room)
        kept += found
        room -= sum(size(shards.folder / piece.name) for piece in found)
        if sum(piece.end - piece.first for piece in found) < count:
            break
    return kept[::-1]


def write_pieces(folder: Path, shard: Shard, records: list[GameRecord], room: int) -> list[Shard]:
    """Files of a shard's last games, newest first, as many as there is room for."""
    pieces: list[Shard] = []
    each = size(folder / shard.name) / (shard.end - shard.first)  # bytes of a game, about
    end = shard.end
    while records and room >= SPARE:
        limit = min(FILE_LIMIT, room)
        count = min(len(records), max(1, int(0.9 * limit / each)))
        while len(data := bytes_of(records[-count:])) > limit:
            if count == 1:
                return pieces
            count //= 2
        piece = Shard(end - count, end, digest_of(data), shard.board)
        write_whole(folder / piece.name, data)
        pieces.append(piece)
        records, end, room = records[:-count], end - count, room - len(data)
    return pieces


def bytes_of(records: list[GameRecord]) -> bytes:
    file = io.BytesIO()
    save_records(file, records)
    return file.getvalue()


def drop_the_rest(run: RunFolder) -> None:
    """Removes older networks and states, damaged files, and games that the state does not name."""
    needed = {run.path / GAMES / shard.name for shard in run.shards.files} | set(run.states.newest_files())
    for path in sorted(run.path.rglob("*")):
        if path.is_file() and is_dropped(run.path, path) and path not in needed:
            path.unlink()
