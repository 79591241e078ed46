"""Self-play between two moves, as data: the games that are not over, and the random streams behind them."""

import io
import zlib
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import torch

from alphago.mcts.evaluator import Evaluator
from alphago.records.record import GameRecord, RecordBuilder, read_arrays, to_arrays
from alphago.training.group import Group
from alphago.training.selfplay import SelfPlay


def unfinished(selfplay: SelfPlay) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """All that self-play needs to go on at a move boundary, but for trees: tensors by name, and plain data.

    Its threads must stand still.
    """
    groups, games = [], []
    for group in selfplay.groups:
        slots = [slot_state(group, slot) for slot in range(len(group.builders))]
        kept = {
            "next": group.numbers.start,
            "left": group.left,
            "readouts": group.readouts,
            "room": group.room,
            "finished": len(group.finished),
        }
        groups.append({**kept, "slots": slots})
        begun = [builder for builder in group.builders if builder is not None]
        games += [builder.finish(0.0, 0.0, False, group.env.action_space) for builder in begun]
        games += [record for _, record in group.finished]
    return {"games": packed(to_arrays(games))}, {"groups": groups}


def packed(arrays: Mapping[str, np.ndarray]) -> torch.Tensor:
    """Arrays as bytes, uint8 [n], compressed a little: policies of thousands of games are most of a state."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return torch.frombuffer(bytearray(zlib.compress(file.getbuffer(), 1)), dtype=torch.uint8)


def unpacked(data: torch.Tensor) -> dict[str, np.ndarray]:
    """The arrays that `packed` took."""
    with np.load(io.BytesIO(zlib.decompress(data.numpy().data)), allow_pickle=False) as arrays:
        return dict(arrays)


def without_policies(games: torch.Tensor, share: float) -> torch.Tensor:
    """The games of a state, where only a share of them, the first ones, still has policies to learn from."""
    arrays = unpacked(games)
    first = int(arrays["lengths"][: int(share * len(arrays["lengths"]))].sum())  # plies
    for name in ("policies", "weights"):
        arrays[name][first:] = 0
    return packed(arrays)


def slot_state(group: Group, slot: int) -> dict[str, Any] | None:
    """What a group knows of the game in a slot beside its record; None for an empty slot."""
    if group.builders[slot] is None:
        return None
    return {
        "plies": int(group.plies[slot]),
        "opening": int(group.opening[slot]),
        "decided": int(group.decided[slot]),
        "may_resign": bool(group.may_resign[slot]),
        "played_out": bool(group.played_out[slot]),
        "generator": group.generators[slot].bit_generator.state,
    }


def go_on_with(
    selfplay: SelfPlay, evaluator: Evaluator, tensors: Mapping[str, torch.Tensor], data: Mapping[str, Any]
) -> None:
    """Puts what `unfinished` gave in place of the games that `selfplay` would begin; empty slots begin what is left.

    The number of groups and of games side by side become what they were, if there were any.
    """
    if not data["groups"]:
        return
    games = iter(read_arrays(unpacked(tensors["games"])))
    end, step = selfplay.numbers.stop, selfplay.numbers.step * len(data["groups"])
    selfplay.groups = []
    for kept in data["groups"]:
        width, numbers = len(kept["slots"]), range(kept["next"], end, step)
        group = selfplay.new_group(width, numbers, len(data["groups"]))
        group.left, group.readouts, group.room = kept["left"], kept["readouts"], kept["room"]
        group.search = group.make_search(evaluator)
        for slot, slot_kept in enumerate(kept["slots"]):
            if slot_kept is None:
                group.begin(slot)
            else:
                put(group, slot, slot_kept, next(games))
        for record in islice(games, kept["finished"]):
            assert record.seed is not None
            group.finished.append((record.seed[1], record))
        selfplay.groups.append(group)


def put(group: Group, slot: int, kept: dict[str, Any], record: GameRecord) -> None:
    """Plays a game up to where it was, in a slot."""
    assert group.search is not None
    slots = np.array([slot])
    batch = group.search.batch
    batch.reset(slots, **record.setup)
    batch.replay(slots, record.moves.astype(np.int32)[None, :], np.array([len(record)], np.int32), slots)
    group.builders[slot] = RecordBuilder.of(record)
    group.plies[slot], group.opening[slot] = kept["plies"], kept["opening"]
    group.decided[slot], group.may_resign[slot] = kept["decided"], kept["may_resign"]
    group.played_out[slot] = kept["played_out"]
    group.generators[slot] = np.random.default_rng(0)
    group.generators[slot].bit_generator.state = kept["generator"]
