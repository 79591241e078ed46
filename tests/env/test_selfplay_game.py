"""What helps to learn a game: a game of one's own may say how games of self-play begin."""

from typing import Any

import numpy as np

from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.training.settings.selfplay_settings import SelfPlaySettings, draw_beginning


class OddEnv(TicTacToeEnv):
    """One that begins with a move of Black's."""

    name = "odd"

    def random_setup(self, generator: np.random.Generator) -> dict[str, Any]:
        return {"first": int(generator.integers(9))}


def test_a_game_of_ones_own_can_have_its_own() -> None:
    beginning = draw_beginning(OddEnv(), SelfPlaySettings(), 3, 5)
    assert beginning.setup == {"first": int(np.random.default_rng([3, 5]).integers(9))}
    assert draw_beginning(TicTacToeEnv(), SelfPlaySettings(), 3, 5).setup == {}
