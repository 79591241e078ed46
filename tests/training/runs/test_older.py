"""What earlier versions wrote is read in the form of today."""

from typing import Any

import pytest

from alphago.training.runs.older import newer_config, newer_state


def config(**settings: Any) -> dict[str, Any]:
    return {"game": "go", "settings": {"readouts": 16, "sizes": [], **settings}}


def test_a_config() -> None:
    assert newer_config(config()) == {"game": "go", "version": 2, "settings": {"readouts": 16}}


def test_several_boards_cannot_go_on() -> None:
    with pytest.raises(ValueError, match="several boards at the same time"):
        newer_config(config(sizes=[[7, 0.5], [9, 0.5]]))


def test_a_state() -> None:
    stage = {"has_learned": True}
    was = {"stage": [1, 20, 30], "games": 40, "boards": [stage]}
    assert newer_state(was) == {"lesson": [1, 20, 30], "games": 40, "stage": stage}
