"""Every setting of the package, and what other calls take: what is out of its range is refused by name and value."""

import importlib
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from alphago import (
    GoEnv,
    GomokuEnv,
    MCTSPlayer,
    NeuralNet,
    OwareEnv,
    ReplayMemory,
    ReversiEnv,
    VectorEnv,
    evaluate,
    play,
    selfplay,
    sweep,
    train,
    train_on,
)
from alphago.arena.sprt import Sprt
from alphago.arena.tournament import TournamentSettings
from alphago.exams.exam_maker import MakeSettings
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.questions import Limit
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.policy import FlatPolicy
from alphago.system.validation import check_range
from alphago.training.settings.judge_settings import Gate
from tests.test_package import PACKAGE, ROOT
from tests.training.small_runs import run_settings


def declared() -> Iterator[Any]:
    """The settings of the package: class, field, the types of its values."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "\n@settings\n" in path.read_text():
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for kind in vars(module).values():
                its_own = getattr(kind, "__module__", "") == module.__name__ and not inspect.isabstract(kind)
                if its_own and "__dataclass_fields__" in vars(kind):
                    for one in fields(kind):
                        hint = get_type_hints(kind)[one.name]
                        yield pytest.param(kind, one, {hint, *get_args(hint)}, id=f"{kind.__name__}.{one.name}")


DECLARED = list(declared())
RANGED = [case for case in DECLARED if "least" in case.values[1].metadata and case.values[2] & {int, float}]
BOOLS = [case for case in DECLARED if case.values[2] == {bool}]


def refuses(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"(\b|_){name} must .*got {re.escape(repr(value))}$"):
        kind(**{name: value})


@pytest.mark.parametrize(("kind", "one", "types"), RANGED)
def test_a_number_out_of_its_range(kind: Any, one: Field[Any], types: set[Any]) -> None:
    least, most = one.metadata["least"], one.metadata["most"]
    wrong = [True, "7", math.nan, math.inf, np.ones(2)]
    wrong += [0, -0.5] if one.metadata["positive"] else [least - 1]
    wrong += [most + 1] if most < math.inf else [1e30 if float in types or one.metadata["positive"] else 10**30]
    wrong += [] if float in types else [least + 0.5]
    wrong += [] if type(None) in types or one.default is None else [None]
    for value in wrong:
        refuses(kind, one.name, value)


@pytest.mark.parametrize(("kind", "one", "types"), RANGED)
def test_the_ends_of_a_range(kind: Any, one: Field[Any], types: set[Any]) -> None:
    number = float if float in types else int
    ends = [one.metadata["most"], 1e-9 if one.metadata["positive"] else one.metadata["least"]]
    for end in filter(math.isfinite, ends):
        assert check_range(one.name, np.dtype(number).type(end), number, one) == end


@pytest.mark.parametrize(("kind", "one", "types"), BOOLS)
def test_neither_true_nor_false(kind: Any, one: Field[Any], types: set[Any]) -> None:
    for value in ("no", 1, None, np.ones(2, bool)):
        refuses(kind, one.name, value)


GO, NET = GoEnv(3), HashEvaluator()
SMALL = NeuralNet(GO, tower_height=0, channels=4)
# What other calls refuse: by keyword the values, each alone, beside what a call must have.
WRONG: list[tuple[Any, dict[str, list[Any]]]] = [
    (GoEnv, {"board_size": [1, 26, 0, "9", 9.0, None, True], "planes": [0, 1, 2, 16, -3, True, "", "rule", "17"]}),
    (GoEnv, {"komi": ["seven", 0.25, 1000.5, math.nan], "max_moves": [-1, 70_000], "turns": [0], "ko": ["super", []]}),
    (GoEnv, {"suicide": [1], "first_pass": [-1, 10**19], "margin_weight": [2, "1"], "komi_spread": [-1, "1"]}),
    (GomokuEnv, {"board_size": [1, 26], "connect_row": [0, 16], "planes": [1, 4]}),
    (OwareEnv, {"max_moves": [0], "rules": ["kalah"], "repetition": ["no"], "remainder": [1], "planes": [17]}),
    (ReversiEnv, {"board_size": [2, 7, 18, 0]}),
    (GO.position, {"to_play": ["red", 0], "captures": [3, (1, -1)], "history": [5], "move_number": [90]}),
    (OwareEnv().position, {"houses": [[4] * 11, [5] * 12, [-1, *[4] * 11]], "margin": [2]}),
    (OwareEnv().position, {"to_play": [0], "move_number": [201]}),
    (partial(VectorEnv, GO), {"num_envs": [0]}),
    (partial(VectorEnv, GO, 2), {"device": ["tpu"]}),
    (partial(NeuralNet, GO), {"tower_height": [-1], "channels": [0], "preset": ["huge"]}),
    (partial(ResidualTower, 3, 8), {"height": [-1]}),
    (partial(ResidualTower, 3, 8, 1), {"block": ["bottleneck"], "activation": ["gelu"]}),
    (partial(DenseBase, 3, (5, 5)), {"activation": ["tanh"]}),
    (partial(FlatPolicy, 5, 6), {"hidden": [-1]}),
    (partial(ReplayMemory, GO), {"capacity": ["9"], "search_share": [math.nan]}),
    (Gate, {"games": [5]}),
    (TournamentSettings, {"games": [5]}),
    (partial(Sprt, 0, 10), {"alpha": [0.0], "beta": [0.5]}),
    (MakeSettings, {"komi": [0.3]}),
    (run_settings, {"optimizer": ["lion", 3], "selfplay_dtype": ["int4"], "losses": ["huber"]}),
    (run_settings, {"curriculum": [((2, 1.0),), ((2, 0),), (3, 4), ((2,),)]}),
    (partial(train_on, SMALL, [GO.position()], np.eye(10)[:1], [1]), {"epochs": [0], "batch_size": [0]}),
    (partial(sweep, dict, {"a": {}}, folder="swept", processes=1), {"seeds": [0, [1, 1], []]}),
    (Limit, {"readouts": [2.5, -1], "seconds": [0, math.inf]}),
    (partial(MCTSPlayer, GO, NET), {"num_readouts": ["2"], "resign_threshold": ["x"], "two_player_mode": ["no"]}),
    (MCTSPlayer(GO, NET).tree_search, {"parallel_readouts": [0, 2**31]}),
    (partial(play, GO, NET), {"num_readouts": ["2"], "seconds": ["3"]}),
    (partial(selfplay, GO, NET), {"num_games": ["x", 0, 10**30], "readouts": [0], "seed": [-1, 2**63]}),
    (partial(evaluate, GO, "random", "random"), {"num_games": ["2"], "readouts": ["64"], "opening_plies": ["a"]}),
    (partial(evaluate, GO, "random", "random"), {"adjudicator": [5]}),
    (partial(train, GO), {"stop_after": ["5", 0, math.nan], "num_games": [0], "preset": ["8x8"]}),
    (partial(train, GO, 1), {"workers": ["many", 0], "max_lag": [3], "gate": [True, "0.55"], "watch": [7]}),
]


@pytest.mark.parametrize(
    ("call", "name", "value"),
    [(call, name, value) for call, wrong in WRONG for name, values in wrong.items() for value in values],
)
def test_what_other_calls_refuse(
    call: Any, name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=rf"\b{name}\b.* must .*got .*{re.escape(str(value))}"):
        call(**{name: value})
    assert not any(tmp_path.iterdir())
