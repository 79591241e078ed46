"""The table of levels, their names, and the level that follows an opponent."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, MCTSPlayer, NeuralNet, Puct, exam, load_model
from alphago.env.packaged_nets import packaged_nets
from alphago.mcts.analyst import Analyst
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.levels import (
    FULL_STRENGTH,
    Level,
    all_tables,
    check_level,
    describe_level,
    level_conditions,
    level_table,
    measured_network,
)
from alphago.mcts.opponent import USUAL, StrengthEstimator
from alphago.mcts.questions import Limit

TABLES = [(game, board) for game, boards in all_tables()["games"].items() for board in boards]


@pytest.mark.parametrize(("game", "board"), TABLES)
def test_the_table_falls(game: str, board: str) -> None:
    """From level to level less is lost, at full strength nothing that the search knows of."""
    rows = all_tables()["games"][game][board]["levels"]
    targets = [row["target"] for row in rows]
    assert (len(rows), targets[-1]) == (FULL_STRENGTH, 0)
    assert targets == sorted(targets, reverse=True)
    lost = [row["lost"] for row in rows if "lost" in row]
    noise = 0.05 if game == "go" else 0.0  # in points, at the top
    assert all(before > after - noise for before, after in pairwise(lost))
    assert all(row["low"] <= row["lost"] <= row["high"] for row in rows if "lost" in row)


@pytest.mark.parametrize(("size", "board"), [(5, 7), (7, 7), (8, 9), (13, 13), (19, 13)])
def test_each_board_has_a_table(size: int, board: int) -> None:
    assert level_table(GoEnv(size)).board == board
    assert level_table(GoEnv(size)).unit == "points"
    assert level_table(GoEnv(size), has_scores=False).unit == level_table(ConnectFourEnv()).unit == "win rate"


def test_levels_between_two() -> None:
    targets = [level_conditions(level, GoEnv(9)).target for level in (3, 3.5, 4, 10)]
    assert targets[1] == pytest.approx((targets[0] + targets[2]) / 2)
    assert targets[3] == 0


@pytest.mark.parametrize("given", [0, 11, "x", "", None, float("nan"), True, [7]])
def test_what_a_level_is(given: object) -> None:
    assert [check_level(level) for level in ("7", 7, "2.5", "even", 10)] == [7, 7, 2.5, "even", 10]
    with pytest.raises(ValueError, match=r"^level must be a number from 1 to 10, or 'even', got "):
        check_level(given)


def test_words() -> None:
    text = describe_level(7, GoEnv(9))
    row = level_table(GoEnv(9)).rows[6]
    assert text.startswith(f"level 7: loses {row['lost']:.1f} ± ")
    assert "points a move" in text
    assert describe_level(7, GoEnv(19)).endswith("measured on 13x13")
    assert describe_level(4, GoEnv(8), measured="b7c96h3tfrs").endswith("2.4 ± 0.2 points a move, measured on 9x9")
    assert describe_level("even", GoEnv(9)) == "level even: follows your strength"


@pytest.mark.parametrize("name", [name for name in packaged_nets() if not name.endswith("-large")])
def test_what_was_measured_is_told_of_the_network_that_was_measured(name: str, tmp_path: Path) -> None:
    """By its weights, wherever they come from, and of no other, whose aim is told."""
    net = load_model(name)
    env = net.env
    net.save(tmp_path / "mine.safetensors")
    assert measured_network(net, env)
    assert measured_network(load_model(tmp_path / "mine.safetensors"), env)
    other = load_model("9x9-large") if name == "9x9" else NeuralNet(env, tower_height=0, channels=4)
    assert not measured_network(other, env)
    assert not measured_network(HashEvaluator(), env)
    if isinstance(env, GoEnv):
        komis = [env.komi + more for more in (1, -1, 2, -2)]
        assert [measured_network(net, env.replace(komi=komi)) for komi in komis] == [name, name, "", ""]
    for level in (3, FULL_STRENGTH):
        text = describe_level(level, env, measured="")
        assert "not measured with this network" in text
        assert "±" not in text
        assert "against" not in text


def test_few_moves_are_no_measurement() -> None:
    env = GoEnv(5)
    estimator, position = StrengthEstimator(env, HashEvaluator()), env.position()
    told = []
    for move in ("A1", "B1", "C1", "D1", "E1", "A2", "B2", "C2", "D2", "E3"):
        position = position.play(move)
        told.append(str(estimator.estimate(position)))
    assert [text.startswith("You lose about ") for text in told] == [False] * 8 + [True] * 2
    assert told[0].startswith("You have made 1 of 5 moves that tell your strength: level ")


@pytest.mark.parametrize("env", [GoEnv(5), ConnectFourEnv()], ids=str)
def test_a_player_at_a_level(env: GameEnv) -> None:
    """A whole game of two levels is legal, and one of level 10 is a search's."""
    player = MCTSPlayer(env, HashEvaluator(), 8, level=3, seed=1)
    while not player.is_done():
        player.play_move(player.suggest_move())
    full = [MCTSPlayer(env, HashEvaluator(), 8, seed=1, level=level).suggest_move() for level in (10, None)]
    assert full[0] == full[1]


def test_a_game_that_is_joined_late_is_estimated_as_time_allows() -> None:
    """The latest moves first, the rest with the next moves: with a second on the clock all were searched, for 77 s."""
    estimator, position = StrengthEstimator(GoEnv(5), HashEvaluator()), GoEnv(5).position()
    for move in ("A1", "E5", "B1", "D5", "C1"):
        position = position.play(move)
    assert estimator.estimate(position, seconds=-1).moves == 0
    estimator.search_seconds = 100.0  # of one more search
    assert estimator.estimate(position, seconds=50).moves == 0
    estimator.search_seconds = 0.0
    estimator.estimate(GoEnv(5).position().play("A1"))
    assert estimator.estimate(position, seconds=-1).moves == 1
    assert estimator.estimate(position).moves == estimator.estimate(position, seconds=-1).moves == 3
    estimator.search_seconds = 100.0
    assert [estimator.estimate(position.play("A5"), seconds=60).moves for _ in range(2)] == [0, 3]
    by_black = GoEnv(5).position().after(["A1", "E5", "B1"], [1, 1, 1])  # of these only A1 was searched
    assert estimator.estimate(by_black, seconds=-1).moves == 1


@pytest.mark.parametrize("level", [3, "even", 10])
def test_nothing_is_searched_once_the_time_is_over(level: Level) -> None:
    """Nor to confirm a pass."""
    position = GoEnv(5).position().after(["A1", "pass"])
    with Analyst(HashEvaluator(), settings=Puct(leaves=8)) as analyst:
        answer = analyst.ask(position, limit=Limit(800, 1e-9), level=level).last()
    assert position.legal_mask[answer.action]
    assert answer.found.root_visits[0] <= 1 + 8


def test_an_open_board_is_not_done() -> None:
    """White is ahead by the komi, and the network gives most points to no side: that is no board to pass on."""
    player = MCTSPlayer(GoEnv(9, komi=7), "9x9", level=2, seed=1)
    for move in ("B6", "C7", "D8"):
        player.play_move(move)
    assert player.suggest_move() != player.env.pass_action


def test_an_opponent() -> None:
    """Who plays the moves that the search likes best is taken for stronger than who plays those it likes least."""
    env, found = GoEnv(5), {}
    for sign in (1, -1):
        opponent, position = StrengthEstimator(env, HashEvaluator()), env.position()
        assert (opponent.estimate(position.play(25)).moves, opponent.estimate(position).level) == (1, USUAL)
        for _ in range(6):
            player = MCTSPlayer(env, HashEvaluator(), 32)
            player.initialize_game(position)
            player.tree_search(32)
            value = np.nan_to_num(player.analysis().q[0], nan=-sign)
            position = position.play(int((sign * value - 9 * (player.visits() == 0)).argmax()))
            position = position.play(int(np.flatnonzero(position.legal_mask)[0]))
        found[sign] = opponent.estimate(position.play(int(np.flatnonzero(position.legal_mask)[0])))
    assert found[1].level > USUAL > found[-1].level
    assert str(found[1]).startswith("You lose about ")
    assert found[1].moves == 7


@pytest.mark.slow
@pytest.mark.parametrize("size", [7, 9])
def test_a_level_loses_what_the_table_says(size: int) -> None:
    levels = (1, 3, 5, 7, 9)
    result = exam([f"{size}x{size}@level={level}" for level in levels], threads=1)
    found = [grade.points.value for grade in result.grades]
    assert found == sorted(found, reverse=True)
    rows = level_table(GoEnv(size)).rows
    assert found == pytest.approx([rows[level - 1]["exam"][0] for level in levels], rel=0.2)
