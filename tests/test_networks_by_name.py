"""Wherever the package takes a network, it takes a name, a file or a run folder, which `load_model` finds."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import alphago
from alphago import GameRecord, GoEnv
from alphago.nn.model_files import ModelError

ENV = GoEnv(3)
POSITION = ENV.position()
TAKES = {"net", "nn", "network", "networks", "model", "black", "white"}  # parameters that are networks


@functools.cache
def games() -> list[GameRecord]:
    return alphago.selfplay(ENV, lambda position: (position.legal_mask, 0.0), 2, 20, seed=1)


CALLS: dict[str, Callable[[Any], object]] = {
    "MCTSPlayer network": lambda net: alphago.MCTSPlayer(ENV, net),
    "analyze net": lambda net: alphago.analyze(POSITION, net, 2),
    "evaluate black": lambda net: alphago.evaluate(ENV, net, "random", 1, 2),
    "evaluate white": lambda net: alphago.evaluate(ENV, "random", net, 1, 2),
    "exam networks": lambda net: alphago.exam([net], 0),
    "explain net": lambda net: alphago.explain(POSITION, "B2", net, 2),
    "export_page net": lambda net: alphago.export_page(net, "page.html"),
    "iter_analysis net": lambda net: list(alphago.iter_analysis(POSITION, net, 2)),
    "play nn": lambda net: alphago.play(ENV, net, 2),
    "predict_games net": lambda net: alphago.predict_games(net, []),
    "selfplay nn": lambda net: alphago.selfplay(ENV, net, 2),
    "train model": lambda net: alphago.train(ENV, 1, model=net, reports=[]),
    "train_on net": lambda net: alphago.train_on(net, [POSITION], np.eye(10)[:1], [1]),
    "train_supervised net": lambda net: alphago.train_supervised(ENV, games(), net, reports=[]),
}


def test_all_that_take_a_network_are_tried() -> None:
    functions = {name: value for name in alphago.__all__ if callable(value := getattr(alphago, name))}
    taking = {f"{name} {one}" for name, f in functions.items() for one in TAKES & {*inspect.signature(f).parameters}}
    assert taking == set(CALLS)


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("call", CALLS)
def test_a_network_may_be_a_file(
    call: str, kind: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What looks for it says that it is not there, and nothing else has happened."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ModelError, ValueError), match="missing"):
        CALLS[call](kind("missing"))
    assert not list(tmp_path.rglob("*.html"))
