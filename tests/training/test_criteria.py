"""What a gate and an opponent refuse; numbers out of range are in test_settings."""

from typing import Any

import pytest

from alphago.training.criteria import Gate, Opponent


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"win_rate": 0.0}, "a gate's win_rate must be a number > 0 and <= 1, got 0.0"),
        ({"games": 5}, "a gate's games must be an even number, got 5"),
        ({"sprt": (10, 0)}, "elo0 must be below elo1"),
        ({"sprt": 10}, "a gate's sprt must be a pair of Elo differences or None, got 10"),
    ],
    ids=str,
)
def test_gates(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Gate(**given)


def test_opponents() -> None:
    with pytest.raises(ValueError, match=r"^an opponent's readouts must be an integer >= 0, got -3$"):
        Opponent("random", readouts=-3)
    with pytest.raises(TypeError, match="did you mean most_games"):
        Opponent("random", most_game=2)  # type: ignore[call-arg]
