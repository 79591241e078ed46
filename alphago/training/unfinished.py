"""Self-play between two moves, as data: the games that are not over, and the random streams behind them."""

from typing import Any, NamedTuple

import numpy as np

from alphago.mcts.evaluator import Evaluator
from alphago.mcts.search import Search
from alphago.records.record import GameRecord, RecordBuilder
from alphago.training.selfplay import Group, SelfPlay


class Unfinished(NamedTuple):
    """What self-play needs to go on, but for trees: they are searched anew."""

    groups: list[dict[str, Any]]  # plain data, one per group; one entry of "slots" per slot
    games: list[GameRecord]  # of each group: its slots' games so far, then those that nobody has taken yet


def unfinished(selfplay: SelfPlay) -> Unfinished:
    """The state of self-play at a move boundary; its threads must stand still."""
    groups, games = [], []
    for group in selfplay.groups:
        slots = [slot_state(group, slot) for slot in range(len(group.builders))]
        groups.append({"next": group.next, "left": group.left, "readouts": group.readouts, "slots": slots})
        begun = [builder for builder in group.builders if builder is not None]
        games += [builder.finish(0.0, 0.0, False, group.env.action_space) for builder in begun]
        games += [record for _, record in group.finished]
        groups[-1]["finished"] = len(group.finished)
    return Unfinished(groups, games)


def slot_state(group: Group, slot: int) -> dict[str, Any] | None:
    """What a group knows of the game in a slot beside its record; None for an empty slot."""
    if group.builders[slot] is None:
        return None
    return {
        "plies": int(group.plies[slot]),
        "opening": int(group.opening[slot]),
        "decided": int(group.decided[slot]),
        "may_resign": bool(group.may_resign[slot]),
        "generator": group.generators[slot].bit_generator.state,
    }


def go_on_with(selfplay: SelfPlay, state: Unfinished, evaluator: Evaluator) -> None:
    """Puts the games of `state` in place of those that `selfplay` would begin; empty slots begin what is left.

    Groups and games side by side become those of `state`.
    """
    pattern = selfplay.groups[0]
    games = iter(state.games)
    selfplay.groups = []
    for kept in state.groups:
        width, stride = len(kept["slots"]), len(state.groups)
        group = Group(pattern.env, pattern.settings, width, pattern.seed, kept["next"], stride, pattern.last)
        group.left, group.readouts = kept["left"], kept["readouts"]
        group.search = Search(group.env, evaluator, width, group.settings.search)
        for slot, slot_kept in enumerate(kept["slots"]):
            if slot_kept is None:
                group.begin(slot)
            else:
                put(group, slot, slot_kept, next(games))
        for _ in range(kept["finished"]):
            record = next(games)
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
    group.generators[slot] = np.random.default_rng(0)
    group.generators[slot].bit_generator.state = kept["generator"]
