"""Playout players: the search against its naive twin, what it has to find, and how it ends games."""

from typing import Any

import numpy as np
import pytest

from alphago import GoEnv
from alphago.arena.entrant import find_player, resolve_player
from alphago.arena.playout_player import PlayoutPlayer, PlayoutSettings
from alphago.env.go_position import GoPosition
from alphago.examples.tic_tac_toe import TicTacToeEnv
from tests.arena.playing import match_on
from tests.diagrams import position
from tests.naive.go import NaiveGo, naive_go
from tests.naive.playouts import NaivePlayoutSearch

ONE = np.zeros(1, np.int64)
NEVER = np.zeros(1, np.bool_)


def player_at(start: GoPosition, settings: PlayoutSettings) -> PlayoutPlayer:
    """A player with one game, which stands at the position."""
    player = PlayoutPlayer(start.env, settings, 1)
    player.batch.copy(ONE, ONE, of=start.batch)
    return player


def chosen(start: GoPosition, name: str, chance: float = 0.3) -> str:
    action = player_at(start, find_player(name)).choose(ONE, NEVER, np.array([chance]))
    return start.env.to_text(int(action[0]))


@pytest.mark.parametrize(
    "settings",
    [
        PlayoutSettings(40, 0.4, 0.0, 0),
        PlayoutSettings(40, 1.5, 0.0, 0),
        PlayoutSettings(40, 0.0, 1000.0, 5),
        PlayoutSettings(40, 0.0, 3.0, 1),
    ],
)
@pytest.mark.parametrize(
    ("size", "rules", "plies"),
    [
        (2, {"komi": 0.5}, (0, 1, 4, 5)),
        (3, {"komi": 0.0}, (0, 5, 6, 8)),
        (4, {"komi": 2.0, "max_moves": 21}, (11, 18)),
        (4, {"komi": 1.5, "first_pass": 20}, (15, 19)),
        (3, {"komi": 0.0, "turns": 6}, (0, 5, 9)),
        (3, {"komi": 0.5, "turns": 8, "first_pass": 16}, (7, 13)),
        (3, {"komi": 0.5, "ko": "situational", "suicide": True, "max_moves": 30}, (6, 9)),
        (3, {"komi": 0.5, "ko": "simple", "max_moves": 30}, (6, 9)),
    ],
)
def test_agrees_with_its_twin(
    settings: PlayoutSettings, size: int, rules: dict[str, Any], plies: tuple[int, ...]
) -> None:
    """In every node of the tree, in positions of random games."""
    env, plain = GoEnv(size, **rules), naive_go(size, **rules)
    random = np.random.default_rng(size)
    checked = 0
    while checked < len(plies):
        start, twin = env.position(), NaiveGo(plain)
        while not start.is_over:
            if len(start.moves) in plies and not wins_by_passing(start):
                chance = float(random.random())
                player = player_at(start, settings)
                action = int(player.choose(ONE, NEVER, np.array([chance]))[0])
                search = NaivePlayoutSearch(
                    twin,
                    int(chance * 2**63),
                    exploration=settings.exploration,
                    equivalence=settings.equivalence,
                    prior=settings.prior,
                )
                visits = search.run(settings.playouts)
                assert same_tree(player, search), f"in {start}"
                assert visits[action] == visits.max()
                checked += 1
            legal = np.flatnonzero(start.legal_mask)
            action = int(legal[-1] if random.random() < 0.2 else random.choice(legal))
            start = start.play(action)
            twin.play(action)


def wins_by_passing(start: GoPosition) -> bool:
    passed = start.moves[-1:] == (start.env.pass_action,)
    return passed and start.env.turns is None and start.score() * start.to_play > 0


def same_tree(player: PlayoutPlayer, search: NaivePlayoutSearch) -> bool:
    """Compares node by node, children in their order."""
    tree = player.tree
    pairs = [(0, search.root)]
    for number, node in pairs:  # grows
        points = 0 if node is search.root else 2 * node.wins()  # no side chose the root
        fields = [tree.action, tree.visits, tree.points, tree.amaf_visits, tree.amaf_points, tree.children]
        expected = [node.action, node.visits, points, node.amaf_visits, 2 * node.amaf_wins, len(node.children)]
        if [field[number] for field in fields] != expected:
            return False
        first = int(tree.first_child[number])
        pairs += list(enumerate(node.children, first))
    return len(pairs) == tree.used[0]


ONE_STONE_TO_TAKE = """
    . X . X O
    X X X X .
    . X X X X
    X O O O O
    O O . O .
"""


class TestPasses:
    """White has passed; Black is 4 points ahead, 7 once it has taken E5, for which there is time."""

    @pytest.mark.parametrize("name", ["uct:1", "rave:1", "rave:500"])
    def test_ends_a_won_game(self, name: str) -> None:
        """However little it searches, and whatever else there is to win."""
        start = position(ONE_STONE_TO_TAKE, "W pass", env=GoEnv(5, komi=3.5), to_play="white")
        assert chosen(start, name) == "pass"

    @pytest.mark.parametrize("name", ["uct:500", "rave:500"])
    def test_plays_on_where_passing_loses(self, name: str) -> None:
        start = position(ONE_STONE_TO_TAKE, "W pass", env=GoEnv(5, komi=5.5), to_play="white")
        assert chosen(start, name) != "pass"


class TestNames:
    def test_playouts(self) -> None:
        assert find_player("rave:250") == PlayoutSettings(250, 0.0, 1000.0, 5)
        assert find_player("uct:250") == PlayoutSettings(250, 0.4, 0.0, 0)
        assert [find_player(name).name for name in ("rave", "uct")] == ["rave:1000", "uct:1000"]
        assert resolve_player("rave:7") == find_player("rave:7")

    def test_uct_plays_any_game(self) -> None:
        """A game of one's own too, and the same games on any number of cores."""
        one, two = (match_on(cores, TicTacToeEnv(), "uct:60", "random", 8, seed=3) for cores in (1, 2))
        assert one.games == two.games
        assert one.wins >= 6
        with pytest.raises(ValueError, match="env must be Go for rave:5"):
            resolve_player("rave:5", TicTacToeEnv())
