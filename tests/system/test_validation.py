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
from alphago import GoEnv, Gumbel, MCTSPlayer, NeuralNet, OwareEnv, Puct, evaluate, load_model, play, selfplay, train
from alphago.arena.engine import Engine
from alphago.arena.entrant import Entrant
from alphago.arena.sprt import Sprt
from alphago.arena.tournament import TournamentSettings
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.questions import Limit
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.loss import LossWeights
from alphago.system.validation import checks_keywords, printable
from alphago.training.settings.judge_settings import Gate, Opponent
from alphago.training.settings.learning_settings import LearningSettings
from alphago.training.settings.run_settings import RunSettings
from tests.training.small_runs import run_settings

GO = GoEnv(3)


# What functions return, and classes to derive from; programs make neither by hand.
MADE = (
    "Analysis ExamResult Explanation GameBatch GameEnv GameRecord IllegalMove MatchResult Position Report SweepResult"
)
CALLS = [
    *(getattr(alphago, name) for name in alphago.__all__ if name not in (*MADE.split(), "SearchSettings")),
    *(GO.position, GO.replace, OwareEnv().position, LossWeights, Gate, Opponent, TournamentSettings, Entrant, Engine),
    *(Sprt, run_settings, RunSettings, LearningSettings),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_an_unknown_keyword_is_refused(call: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r" has no keyword 'nonsense_': (did you mean|there are) "):
        call(nonsense_=1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: GoEnv(kommi=1), r"GoEnv has no keyword 'kommi': did you mean .*\bkomi\b"),
        (lambda: Puct(c_pukt=1), r"Puct has no keyword 'c_pukt': did you mean .*\bc_puct\b"),
        (lambda: train(learning_rat=1), r"train has no keyword 'learning_rat': did you mean .*\blearning_rate\b"),
        (lambda: alphago.ConnectFourEnv(komi=3), "ConnectFourEnv has no keyword 'komi': there are none"),
        (lambda: OwareEnv().position(slots=1), "OwareEnv.position has no keyword 'slots': there are houses, margin"),
        (lambda: train(num_games=3), r"train must be called as train\(env, num_games, …\): missing .* argument: 'env'"),
        (lambda: load_model("a", GO, None), r"load_model must be called as load_model\(path, env, …\): too many pos"),
        (lambda: evaluate(GO, 1, 2, black=3), r"evaluate must be called as evaluate\(env, .*: multiple .* 'black'"),
        (lambda: alphago.ConnectFourEnv(7), r"ConnectFourEnv must be called as ConnectFourEnv\(…\): too many pos"),
    ],
)
def test_how_a_function_is_called(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=f"^{sentence}"):
        call()


def test_a_type_error_of_the_body_stays() -> None:
    @checks_keywords()
    def function(value: Any) -> Any:
        return value + 1

    with pytest.raises(TypeError, match="can only concatenate str"):
        function("a")


def test_messages_leave_out_the_middle_of_long_values() -> None:
    with pytest.raises(ValueError, match=r"^board_size must be .*, got 'x{99} … x{89}'$"):
        GoEnv("x" * 5_000_000)


def test_a_game_may_take_any_set_up() -> None:
    class AnySetUp(TicTacToeEnv):
        def new(self, **setup: Any) -> Any:
            self.setup = setup
            return super().new()

    env = AnySetUp()
    env.position(xyz=1)
    assert env.setup == {"xyz": 1}


def test_numpy_numbers_are_numbers() -> None:
    """In settings that a run's config keeps, and in parts that a file describes."""
    made = [
        Gumbel(considered=np.int64(2), c_scale=np.float32(0.5), decisive_moves=np.True_),
        Gate(games=np.int64(4), win_rate=np.float64(0.5)),
        LossWeights(policy=np.float32(1)),
        run_settings(search={"considered": np.int64(2)}).selfplay.search,
        ResidualTower(GO.planes, np.int64(8), np.int64(1)).arguments,
        DenseBase(GO.planes, (np.int64(3), 3), [np.int32(4)]).arguments,
    ]
    for one in made:
        json.dumps(asdict(one) if is_dataclass(one) else one)
    assert made[0] == Gumbel(considered=2, c_scale=0.5)
    stones = GO.position(black=np.array([4]), komi=np.float32(0.5))
    assert (stones.board[1, 1], stones.komi) == (1, 0.5)
    assert Limit(np.int64(3), np.float32(1.5)).readouts == 3


def test_public_functions_keep_name_and_signature() -> None:
    """Help, the command line and the site read them."""
    assert list(inspect.signature(GoEnv).parameters)[:2] == ["board_size", "planes"]
    assert list(inspect.signature(train).parameters)[-1] == "settings"
    assert (train.__name__, train.__module__) == ("train", "alphago.training.call.train_call")


@pytest.mark.parametrize("call", [train, play, selfplay, evaluate, NeuralNet, MCTSPlayer])
def test_what_is_no_game(call: Callable[..., Any]) -> None:
    needed = {name: None for name in ("nn", "network", "black", "white") if name in inspect.signature(call).parameters}
    with pytest.raises(TypeError, match=re_escape("env must be a game, such as GoEnv(9), got 9")):
        call(9, **needed)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda: alphago.analyze(HashEvaluator(), GO.position()), "positions must be Position or Sequence, got "),
        (lambda: alphago.analyze(GO.position(), GO), "network must be a NeuralNet, an evaluator"),
        (lambda: alphago.evaluate(GO, np.zeros(3), "random"), "network must be a NeuralNet, an evaluator"),
        (lambda: alphago.train_on("7x7", 3, 0, 0), "positions must be Sequence, got 3"),
        (lambda: alphago.import_games(None, "x"), "paths must be str or Path or Sequence, got None"),
        (lambda: alphago.Dataset(GO), r"path must be str or Path, got GoEnv\(3"),
        (lambda: alphago.export_page(3, None), "net must be NeuralNet or str or PathLike, got 3"),
        (lambda: alphago.check_game("x"), r"env must be a game, such as GoEnv\(9\), got 'x'"),
        (lambda: train(GO, 2, model=7), r".*\bmodel\b"),
        (lambda: train(GO, 2, until=3), r".*\buntil\b"),
        (lambda: train(GO, 2, reports=5), r".*\breports\b"),
        (lambda: train(GO, 2, search=2), r".*\bsearch\b"),
        (lambda: selfplay(GO, HashEvaluator(), search=Puct), r".*\bsearch\b"),
        (lambda: load_model("7x7", "7"), r".*\benv\b"),
    ],
)
def test_another_type_is_refused_by_name(
    call: Callable[[], Any], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match="^" + fault):
        call()
    assert list(tmp_path.iterdir()) == []


def test_what_a_terminal_must_not_get() -> None:
    assert printable("a\tb\nc \u738b \x1b[2J\x07\x9b\u202e\udc80") == "a\tb\nc \u738b \ufffd[2J\ufffd\ufffd\ufffd\ufffd"
