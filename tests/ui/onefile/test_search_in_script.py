"""The search of a file, against the package's: with a stand-in for the network every visit is the same."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameBatch, GameEnv, GoEnv, GomokuEnv, MCTSPlayer, Puct, ReversiEnv, load_model
from alphago.mcts.level_choice import ERRORS_HOPED_FOR, move_probabilities, sure_losses
from alphago.mcts.levels import PACKAGED, LevelTerms
from alphago.mcts.opponent import StrengthEstimator
from alphago.ui.onefile.page import level_facts
from alphago.ui.web.answers import analysis_fields
from tests.random_games import random_game
from tests.ui.onefile.scripts import ask, inputs, options_of
from tests.ui.onefile.test_network_in_script import model_of

READOUTS = 64


class StandIn:
    """An evaluator of whole numbers and powers of two, which nothing rounds; ask.mjs has its twin.

    settled: whether it expects each point to stay whose it is, so that levels pass.
    """

    makes_forecasts = True

    def __init__(self, env: GameEnv, planes: int, settled: bool = False) -> None:
        self.settled = settled
        self.env, self.inputs = env, planes * env.plane_shape[0] * env.plane_shape[1]

    def sums(self, batch: GameBatch, slots: np.ndarray) -> np.ndarray:
        planes = batch.planes(slots, np.empty((len(slots), self.env.planes, *self.env.plane_shape), np.float32))
        seen = planes.reshape(len(slots), planes[0].size if len(slots) else self.inputs)[:, : self.inputs]
        return (seen * (np.arange(self.inputs) % 89 + 1)).sum(axis=1).astype(np.int64)

    def evaluate(
        self, batch: Any, slots: Any, priors: Any, values: Any, forecasts: Any = None, symmetries: Any = (0,)
    ) -> None:
        legal, sums = batch.legal_mask(slots, np.empty(priors.shape, np.bool_)), self.sums(batch, slots)
        priors[:] = np.where(legal, (np.outer(sums % 60 + 1, np.arange(priors.shape[1]) + 3) % 61 + 1) / 64, 0)
        values[:] = (sums % 33 - 16) / 32
        if forecasts is None:
            return
        if self.settled:
            forecasts[0][:] = 0
            forecasts[1][:] = batch.ownership(slots, np.empty(forecasts[1].shape, np.int8))
            return
        forecasts[0][:] = sums % 41 - 20
        forecasts[1][:] = np.outer(sums, np.arange(forecasts[1].shape[1]) + 5) % 3 - 1


def searched(
    env: GameEnv, evaluator: Any, games: list[list[int]], readouts: int, question: dict[str, Any], **options: Any
) -> Iterator[tuple[MCTSPlayer, dict[str, Any]]]:
    """A player at each position of games, and the modules' answer there; both search, and keep their trees."""
    settings = question.pop("settings", Puct(leaves=8))
    asked = {"game": env.name, "options": options_of(env), "games": games, "planes": inputs(env)}
    asked |= {"inputs": getattr(evaluator, "inputs", 0), "settings": asdict(settings), "readouts": readouts, **question}
    for moves, answers in zip(games, ask("search", **asked), strict=True):
        player = MCTSPlayer(env, evaluator, settings=settings, **options)
        for move, answer in zip([*moves, None], answers, strict=True):
            player.tree_search(readouts)
            yield player, answer
            if move is not None:
                player.play_move(move)


@pytest.mark.parametrize(
    ("env", "planes", "leaves"),
    [(ConnectFourEnv(), 2, 1), (GomokuEnv(6, 4, 5), 5, 8), (ReversiEnv(4), 4, 8), (GoEnv(5, "katago"), 18, 8)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_visit_is_the_same(env: GameEnv, planes: int, leaves: int) -> None:
    """In games of some moves, after each of which the tree is kept."""
    games = [list(random_game(env, seed, most=6 + 9 * seed)[-2].moves) for seed in range(2)]
    question = {"settings": Puct(leaves=leaves)}
    for player, answer in searched(env, StandIn(env, planes), games, READOUTS, question):
        visits = np.zeros(env.action_space, int)
        for action, count in answer["visits"]:
            visits[action] = count
        assert visits.tolist() == player.visits().tolist()
        assert answer["value"] == pytest.approx(player.root_value, abs=1e-6)
        listed = answer["analysis"]["moveInfos"]
        own = [move["winrate"] if len(player.position.moves) % 2 == 0 else 1 - move["winrate"] for move in listed]
        assert max(own) == pytest.approx(own[0])
        theirs = analysis_fields(player.analysis())
        seen = [(one["moveInfos"][0]["winrate"], one["rootInfo"]["winrate"]) for one in (answer["analysis"], theirs)]
        assert seen[0] == pytest.approx(seen[1], abs=2e-4)
        assert answer["analysis"]["policy"] == pytest.approx(theirs["policy"], abs=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("readouts", [8, 24])
def test_moves_at_full_strength_are_the_same(readouts: int) -> None:
    """In games to their end; for some moves that were searched most another is played, and for some passes."""
    env = GoEnv(4).match_variant()
    games = [list(random_game(env, seed)[-2].moves) for seed in range(12)]
    question = {"settings": Puct(leaves=1), "pass": env.pass_action}
    replaced: Counter[bool] = Counter()
    for player, answer in searched(env, StandIn(env, 11), games, readouts, question, two_player_mode=True):
        visits = player.visits()
        if (visits == visits.max()).sum() == 1:  # the package draws one of several
            assert answer["move"] == player.pick_move()
            replaced[answer["best"] == env.pass_action] += answer["move"] != answer["best"]
    assert replaced[True]
    assert replaced[False]


@pytest.mark.parametrize(
    ("env", "planes", "terms", "settled"),
    [
        (GoEnv(5).match_variant(), 11, LevelTerms(2.4, "points", 16), False),
        (GoEnv(4).match_variant(), 11, LevelTerms(0.3, "points", 24), False),
        (GoEnv(4).match_variant(), 11, LevelTerms(0.3, "points", 24), True),
        (ReversiEnv(4), 4, LevelTerms(0.1, "win rate", 16), False),
        (ConnectFourEnv(), 2, LevelTerms(0.2, "win rate", 16), False),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_levels_choose_alike(env: GameEnv, planes: int, terms: LevelTerms, settled: bool) -> None:
    """In games to their end, where passes count; in those of `settled` neutral points are taken before."""
    games = [list(random_game(env, seed)[-2].moves) for seed in ((5, 27, 38) if settled else range(3))]
    question = {"settings": Puct(leaves=8, decisive_moves=env.has_decisive_moves), "level": terms._asdict()}
    question |= {"shape": env.plane_shape, "settled": settled, "pass": env.pass_action}
    options = {"resign_threshold": 0.1, "level": 10, "seed": 0}
    resigned = []
    for player, answer in searched(env, StandIn(env, planes, settled), games, terms.readouts, question, **options):
        losses = sure_losses(player.search, np.zeros(1, np.int64), terms)
        assert answer["level"] == pytest.approx(move_probabilities(losses, terms)[0].tolist(), abs=1e-4)
        player._least_behind = ERRORS_HOPED_FOR * terms.target if terms.unit == "points" else 0.0
        if env.name != "connect-four":  # which has no scores, and so no forecast of one
            resigned.append(player.should_resign())
            assert answer["resigns"] == resigned[-1]
    assert set(resigned) == {True, False} or env.name == "connect-four"


@pytest.mark.parametrize(("env", "planes"), [(GoEnv(5).match_variant(), 11), (ConnectFourEnv(), 2)], ids=["go", "four"])
def test_the_level_even_follows_alike(env: GameEnv, planes: int) -> None:
    """From the moves of the side that is not to move."""
    evaluator = StandIn(env, planes)
    games = [list(random_game(env, 1, most=most)[-1].moves) for most in (0, 3, 12)]
    question = {"game": env.name, "options": options_of(env), "games": games, "planes": inputs(env)}
    question |= {"inputs": evaluator.inputs, "settings": asdict(Puct(leaves=8)), "pass": env.pass_action}
    told = ask("even", **question, levels=[level_facts(level, env, True, True) for level in range(1, 11)])
    ours = StrengthEstimator(env, evaluator)
    ours.measured = PACKAGED
    for moves, answer in zip(games, told, strict=True):
        found = ours.estimate(env.position().after(moves))
        assert (answer["level"], answer["text"]) == (pytest.approx(found.level), str(found).replace("%", " %"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["7x7", "9x9", "13x13", "connect-four", "gomoku", "oware", "reversi"])
def test_moves_are_the_packages(name: str) -> None:
    """In 200 positions of games that the network might play; the package computes networks in fewer bits."""
    env = (net := load_model(name)).env.match_variant()
    net = net.resized(env) if net.size_free else net
    generator, games = np.random.default_rng(3), list[list[int]]()
    while sum(len(game) + 1 for game in games) < 200:
        position, most = env.position(), int(generator.integers(8, 40))
        while len(position.moves) < most:
            policy = np.asarray(net(position)[0], np.float64)
            after = position.play(int(generator.choice(len(policy), p=policy / policy.sum())))
            if after.is_over:
                break
            position = after
        games.append(list(position.moves))
    question = {"shape": list(env.plane_shape), **model_of(net, "w16")}
    same: list[bool] = []
    for player, answer in searched(env, net, games, READOUTS, question, two_player_mode=True, level=10):
        visits = player.visits()
        same.append(bool(visits[answer["best"]] == visits.max()))
        check_analysis(analysis_fields(player.analysis()), answer["analysis"])
    print(f"{name}: {sum(same)} of {len(same)} moves are the same")
    assert np.mean(same) >= 0.95


def check_analysis(ours: Any, theirs: Any) -> None:
    """The same facts; win rates and owners differ as much as bits, and so visits, do."""
    assert abs(ours["rootInfo"]["winrate"] - theirs["rootInfo"]["winrate"]) < 0.15
    if ours.get("ownership") is not None and theirs["ownership"] is not None:
        assert np.abs(np.subtract(ours["ownership"], theirs["ownership"])).mean() < 0.15
