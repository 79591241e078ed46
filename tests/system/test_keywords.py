"""Keywords of public functions and classes: typos name what was meant, wrong types what was wanted."""

import inspect
import json
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from re import escape as re_escape
from typing import Any

import numpy as np
import pytest

import alphago
from alphago import (
    ConnectFourEnv,
    GoEnv,
    GomokuEnv,
    MCTSPlayer,
    NeuralNet,
    OwareEnv,
    ReplayMemory,
    ReversiEnv,
    SearchSettings,
    check_game,
    evaluate,
    load_model,
    play,
    plot,
    selfplay,
    train,
)
from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.sprt import Sprt
from alphago.arena.tournament import TournamentSettings
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.player import USUAL_LEAVES
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.loss import LossWeights
from alphago.system.validation import make_settings
from alphago.training.judges.gate import Gate
from alphago.training.judges.proof import Opponent
from alphago.training.settings import TrainingSettings
from alphago.ui.terminal.thinking import Limit
from examples.tic_tac_toe import TicTacToeEnv

GO = GoEnv(3)
NOT_A_GAME = "env must be a game, such as GoEnv(9), got 9"


@pytest.mark.parametrize(
    ("call", "typo", "meant"),
    [
        (GoEnv, "kommi", "komi"),
        (GomokuEnv, "conect_row", "connect_row"),
        (ReversiEnv, "bord_size", "board_size"),
        (OwareEnv, "max_move", "max_moves"),
        (GO.position, "blak", "black"),
        (OwareEnv().position, "house", "houses"),
        (GO.replace, "kommi", "komi"),
        (NeuralNet, "tower_hight", "tower_height"),
        (load_model, "bas_net", "base_net"),
        (MCTSPlayer, "num_readout", "num_readouts"),
        (SearchSettings, "c_pukt", "c_puct"),
        (LossWeights, "ownershp", "ownership"),
        (Gate, "winrate", "win_rate"),
        (Opponent, "readout", "readouts"),
        (TournamentSettings, "random_openings", "random_opening"),
        (Entrant, "serch", "search"),
        (Engine, "time_out", "timeout"),
        (Sprt, "elo_1", "elo1"),
        (TrainingSettings, "batchsize", "batch_size"),
        (ReplayMemory, "capazity", "capacity"),
        (evaluate, "num_game", "num_games"),
        (selfplay, "sead", "seed"),
        (selfplay, "resign_treshold", "resign_threshold"),
        (check_game, "game", "games"),
        (play, "num_readout", "num_readouts"),
        (plot, "outt", "out"),
        (train, "tower_hight", "tower_height"),
        (train, "folderr", "folder"),
        (train, "presett", "preset"),
        (train, "stop_affter", "stop_after"),
        (train, "modle", "model"),
        (train, "devise", "device"),
        (train, "learning_rat", "learning_rate"),
    ],
)
def test_a_typo_is_told_with_what_was_meant(call: Callable[..., Any], typo: str, meant: str) -> None:
    with pytest.raises(TypeError, match=rf" has no keyword '{typo}': did you mean .*\b{meant}\b"):
        call(**{typo: 1})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ConnectFourEnv(komi=3), "ConnectFourEnv has no keyword 'komi': there are none"),
        (lambda: GomokuEnv(5).position(black="C3"), "GomokuEnv.position has no keyword 'black': there are none"),
        (lambda: TicTacToeEnv().position(xyz=1), "TicTacToeEnv.position has no keyword 'xyz': there are none"),
        (lambda: OwareEnv().position(slots=1), "OwareEnv.position has no keyword 'slots': there are houses, margin"),
    ],
)
def test_what_there_is_where_nothing_is_near(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        call()


def test_a_setting_that_is_made_of_settings_names_its_own() -> None:
    with pytest.raises(TypeError, match="SearchSettings has no keyword 'c_skale': did you mean c_scale"):
        make_settings(SearchSettings, c_skale=2)


def test_a_game_may_take_any_set_up() -> None:
    class AnySetUp(TicTacToeEnv):
        def new(self, **setup: Any) -> Any:
            self.came = setup
            return super().new()

    env = AnySetUp()
    env.position(xyz=1)
    assert env.came == {"xyz": 1}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: train(GO, 2, model="7x7"), "model is a NeuralNet, such as load_model gives, or None, got '7x7'"),
        (lambda: train(GO, 2, until={"name": "random"}), "until is an opponent's name, an Opponent or None, got {"),
        (lambda: train(GO, 2, reports=5), "reports is a list of reports or None, got 5"),
        (lambda: train(GO, 2, search="gumbel"), "search is SearchSettings, a dictionary such as"),
        (lambda: selfplay(GO, HashEvaluator(), search="gumbel"), "search is SearchSettings, a dictionary such as"),
        (lambda: load_model("7x7", "7"), "env must be a game, such as GoEnv(9), got '7'"),
    ],
)
def test_another_kind_is_told_with_what_was_wanted(
    call: Callable[[], Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=f"^{re_escape(sentence)}"):
        call()
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers_are_numbers() -> None:
    """In settings that a run's config keeps, and in parts that a file describes."""
    made = [
        SearchSettings(considered=np.int64(2), c_scale=np.float32(0.5)),
        Gate(games=np.int64(4), sprt=(np.float64(0), np.int64(20))),
        LossWeights(policy=np.float32(1)),
        TrainingSettings(search={"considered": np.int64(2)}).search,
        ResidualTower(GO.planes, np.int64(8), np.int64(1)).arguments,
        DenseBase(GO.planes, (np.int64(3), 3), [np.int32(4)]).arguments,
    ]
    for one in made:
        json.dumps(asdict(one) if is_dataclass(one) else one)
    assert made[0] == SearchSettings(considered=2, c_scale=0.5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"search": {"c_scale": np.ones(2)}}, "search settings out of range: c_scale"),
        ({"exact_rules": np.ones(2, bool)}, "exact_rules must be True or False, got array"),
        ({"bfloat16": np.ones(2, bool)}, "bfloat16 is True, False or None, got array"),
    ],
)
def test_arrays_are_none(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re_escape(sentence)}"):
        TrainingSettings(**given)


def test_a_players_search_may_be_a_dictionary() -> None:
    player = MCTSPlayer(GO, HashEvaluator(), settings={"gumbel": True})
    assert player.search.settings == SearchSettings(gumbel=True, leaves=USUAL_LEAVES)


def test_public_functions_keep_signature_and_docstring() -> None:
    """Help, the command line and the site read them."""
    assert list(inspect.signature(GoEnv).parameters)[:2] == ["board_size", "komi"]
    assert list(inspect.signature(train).parameters)[-1] == "settings"
    assert inspect.signature(ConnectFourEnv).parameters == {}
    assert (train.__name__, train.__module__) == ("train", "alphago.training.session")
    for name in alphago.__all__:
        assert inspect.getdoc(getattr(alphago, name)), name


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: GoEnv(3, komi="seven"), "komi must be a multiple of 0.5 from -1000 to 1000, got 'seven'"),
        (lambda: GoEnv(3, komi=[7]), "komi must be a multiple of 0.5 from -1000 to 1000, got [7]"),
        (lambda: GoEnv(3, margin_weight="1"), "margin_weight must be a number from 0 to 1, got '1'"),
        (lambda: GoEnv(3, margin_weight=float("nan")), "margin_weight must be a number from 0 to 1, got nan"),
        (lambda: GoEnv(3, komi_spread="1"), "komi_spread must be a number >= 0, got '1'"),
        (lambda: GoEnv(3, komi_spread=float("inf")), "komi_spread must be a number >= 0, got inf"),
        (lambda: GoEnv(3, komi_spread=10**400), "komi_spread must be a number >= 0, got 1000"),
        (lambda: GoEnv(3, ko=[]), "ko must be one of 'simple', 'positional', 'situational', got []"),
        (lambda: GO.position(black=[3.7]), "stones must be on points of GoEnv(3), got 3.7"),
        (lambda: GO.position(black=[True]), "stones must be on points of GoEnv(3), got True"),
        (lambda: GO.position(white=5), "stones must be a text such as 'D4 E5' or a collection of points, got 5"),
        (lambda: train(GO, max_minutes="5"), "max_minutes must be a number > 0, got '5'"),
        (lambda: train(GO, stop_after="5"), "stop_after, in minutes, must be a number > 0, got '5'"),
        (lambda: train(GO, stop_after=float("inf")), "stop_after, in minutes, must be a number > 0, got inf"),
        (lambda: train(GO, 9, gradient_norm="5"), "gradient_norm must be a number > 0, got '5'"),
        (lambda: train(GO, 9, gate={"games": "5"}), "a gate's games are an even number from 2, got '5'"),
        (lambda: train(GO, 9, gate={"win_rate": "5"}), "a gate's win_rate is more than 0 and at most 1, got '5'"),
        (lambda: train(GO, 9, gate={"every": 0.5}), "a gate's every is 1 game or more, or None, got 0.5"),
        (lambda: train(GO, 9, gate={"readouts": "x"}), "a gate's readouts are 0 or more, or None, got 'x'"),
        (lambda: train(GO, 9, search={"c_scale": "1"}), "search settings out of range: c_scale"),
        (lambda: SearchSettings(leaves=1.5), "search settings out of range: leaves"),
        (lambda: SearchSettings(c_puct=float("inf")), "search settings out of range: c_puct"),
        (lambda: SearchSettings(dirichlet_alpha="1"), "search settings out of range: dirichlet_alpha"),
        (lambda: MCTSPlayer(GO, HashEvaluator(), "2"), "num_readouts must be an integer from 1 to 10000000, got '2'"),
        (
            lambda: MCTSPlayer(GO, HashEvaluator(), resign_threshold="x"),
            "resign_threshold must be a number from -1 to 1, got 'x'",
        ),
        (lambda: Limit(2.5), "num_readouts must be an integer from 0 to 10000000, got 2.5"),
        (
            lambda: play(GO, HashEvaluator(), num_readouts="2"),
            "num_readouts must be an integer from 0 to 10000000, got '2'",
        ),
        (lambda: play(GO, HashEvaluator(), seconds="3"), "seconds must be a number > 0, got '3'"),
        (lambda: selfplay(GO, HashEvaluator(), num_games="x"), "num_games must be an integer >= 1, got 'x'"),
        (lambda: selfplay(GO, HashEvaluator(), seed=-1), "seed must be an integer >= 0, got -1"),
        (lambda: evaluate(GO, "random", "random", "2"), "num_games must be an integer >= 1, got '2'"),
        (lambda: evaluate(GO, "random", "random", 2, "64"), "readouts must be an integer >= 0, got '64'"),
        (lambda: evaluate(GO, "random", "random", 2, seed=-1), "seed must be an integer >= 0, got -1"),
        (lambda: evaluate(GO, "random", "random", 2, opening_plies="a"), "opening_plies must be an integer >= 0"),
        (lambda: evaluate(GO, "random", "random", 2, adjudicator=5), "adjudicator must be 'gnugo', 'gnugo:LEVEL', an"),
        (lambda: MCTSPlayer(GO, HashEvaluator(), seed=1.5), "seed must be an integer >= 0, got 1.5"),
        (lambda: MCTSPlayer(GO, HashEvaluator(), 10**8), "num_readouts must be an integer from 1 to 10000000"),
        (lambda: train(GO, 2, exact_rules="no"), "exact_rules must be True or False, got 'no'"),
        (lambda: SearchSettings(gumbel="no"), "gumbel must be True or False, got 'no'"),
        (lambda: MCTSPlayer(GO, HashEvaluator(), two_player_mode="no"), "two_player_mode must be True or False"),
        (lambda: LossWeights(policy="1"), "the loss's weight policy "),
        (lambda: LossWeights(kl=2), "kl must be True or False, got 2"),
        (lambda: Gate(sprt=5), "a gate's sprt is a pair of Elo differences or None, got 5"),
        (lambda: ResidualTower(GO.planes, 8, -1), "height must be an integer >= 0, got -1"),
        (lambda: ResidualTower(GO.planes, "8", 1), "channels must be an integer >= 1, got '8'"),
        (lambda: DenseBase(GO.planes, (3, 3), [0]), "a size in hidden must be an integer >= 1, got 0"),
        (lambda: ReplayMemory(GO, capacity="9"), "capacity is 1 position or more, got '9'"),
        (lambda: ReplayMemory(GO, search_share=float("nan")), "search_share must be a number from 0 to 1, got nan"),
    ],
)
def test_a_wrong_type_is_told_with_what_was_wanted(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re_escape(sentence)}"):
        call()


@pytest.mark.parametrize("call", [train, play, selfplay, evaluate, NeuralNet, MCTSPlayer])
def test_what_is_no_game(call: Callable[..., Any]) -> None:
    needed = {name: None for name in ("nn", "network", "black", "white") if name in inspect.signature(call).parameters}
    with pytest.raises(TypeError, match=re_escape(NOT_A_GAME)):
        call(9, **needed)


def test_numbers_of_numpy_are_numbers() -> None:
    stones = GO.position(black=np.array([4]), komi=np.float32(0.5))
    assert (stones.board[1, 1], stones.komi) == (1, 0.5)
    assert Limit(np.int64(3), np.float32(1.5)).left(0, 0.0) == 3
