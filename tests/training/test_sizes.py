"""Several board sizes at once: their shares, their batches, their metrics, and that both are learned."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from alphago.training.shares import apportion

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.loss import LossWeights
from alphago.nn.net import NeuralNet, load_model
from alphago.nn.threads import Workers
from alphago.records.record import load_records
from alphago.training.boards import Boards
from alphago.training.learner import Learner
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.runs.resume import saved_settings
from alphago.training.selfplay import selfplay
from alphago.training.session import train
from alphago.training.settings import TrainingSettings, stages
from examples.tic_tac_toe import TicTacToeEnv
from tests.training.small_runs import GO, TINY, Listener, go_on, run, run_killed, same

GO4 = GoEnv(4, komi=0.5)
BOTH: dict[str, Any] = {"env": GO4, "sizes": ((3, 0.4), (4, 0.6)), "num_games": 20, "games_in_flight": 5}
TIMES = ("seconds", "processor_seconds", "moves_per_second", "readouts_per_second", "selfplay_share")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, NeuralNet, Listener]:
    """A run on one board, then on it and another one."""
    folder = tmp_path_factory.mktemp("sizes") / "run"
    return folder, *run(folder, **BOTH, curriculum=((3, 0.2),))


def learning(rate: float, **settings: Any) -> TrainingSettings:
    return TrainingSettings(learning_rate=rate, weight_decay=0.0, weight_averaging=0.9, **settings)


class TestShares:
    @pytest.mark.parametrize(
        ("whole", "shares", "wanted"),
        [
            (10, (0.3, 0.7), [3, 7]),
            (128, (1.0,), [128]),
            (3, (0.98, 0.01, 0.01), [1, 1, 1]),
            (100, (0.005, 0.995), [1, 99]),
            (1, (0.5, 0.5), [0, 1]),
            (0, (0.5, 0.5), [0, 0]),
            (9, (1, 1, 1), [3, 3, 3]),
        ],
    )
    def test_apportion(self, whole: int, shares: tuple[float, ...], wanted: list[int]) -> None:
        assert apportion(whole, shares) == wanted

    def test_games_of_a_stage(self) -> None:
        """Side by side as the shares say; of the larger board fewer in all; no number twice."""
        settings = TrainingSettings(num_games=1000, games_in_flight=100, sizes=((5, 0.5), (7, 0.5)), readouts=4)
        (stage,) = stages(GoEnv(7), settings)
        five, seven = Boards(stage, settings, range(30, 1000), {}).boards
        assert [sum(len(g.builders) for g in board.selfplay.groups) for board in (five, seven)] == [50, 50]
        numbers = [board.selfplay.numbers for board in (five, seven)]
        assert len(numbers[0]) + len(numbers[1]) == 970
        assert len(numbers[0]) / len(numbers[1]) == pytest.approx(49 / 25, rel=0.01)
        assert not set(numbers[0]) & set(numbers[1])
        assert min(numbers[0][0], numbers[1][0]) == 30

    def test_komi_of_each_board(self) -> None:
        """The run's own is as it was given, the others have their usual one."""
        settings = TrainingSettings(sizes=((7, 0.5), (9, 0.5)), curriculum=((7, 0.1), (((5, 0.5), (9, 0.5)), 0.2)))
        first, second, third = stages(GoEnv(9, komi=5.5), settings)
        assert [[env for env, _ in stage.boards] for stage in (first, second, third)] == [
            [GoEnv(7)], [GoEnv(5), GoEnv(9, komi=5.5)], [GoEnv(7), GoEnv(9, komi=5.5)],
        ]  # fmt: skip
        assert [stage.end for stage in (first, second, third)] == pytest.approx([0.1, 0.3, 1.0])


def samples(env: GoEnv, count: int, seed: int = 0) -> Sample:
    memory = ReplayMemory(env)
    memory.add(selfplay(env, HashEvaluator(), 4, 6, groups=1, seed=seed))
    return memory.sample(count, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def parts() -> tuple[Sample, Sample]:
    """A batch of two boards."""
    return samples(GO, 24), samples(GO4, 40)


@pytest.fixture(params=[1, 2])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with Workers(request.param) as some:
        yield some


def plain_network() -> NeuralNet:
    """Size-free and without batch norm, so that a gradient is the sum of its parts'."""
    torch.manual_seed(3)
    base = torch.nn.Sequential(torch.nn.Conv2d(16, 8, 3, padding=1), torch.nn.Tanh())
    return NeuralNet(GO4, base)


def gradients(workers: Workers, *batch: Sample) -> list[torch.Tensor]:
    settings = learning(0.01, gradient_norm=None, bfloat16=False, losses=LossWeights(l2=0.1))
    learner = Learner(plain_network(), settings, workers)
    assert learner.step(*batch) is not None
    return [parameter.grad.clone() for parameter in learner.net.parameters()]


class TestBatches:
    def test_a_gradient_is_that_of_the_mean_over_all_positions(
        self, parts: tuple[Sample, Sample], workers: Workers
    ) -> None:
        """As if boards of two sizes stood in one tensor: masks could add nothing to that.  The weights' own part, l2,
        comes once."""
        three, four = parts
        together, one, other = gradients(workers, three, four), gradients(workers, three), gradients(workers, four)
        weights = [float(part.weight.sum()) for part in parts]
        for whole, mine, yours in zip(together, one, other, strict=True):
            wanted = (weights[0] * mine + weights[1] * yours) / sum(weights)
            assert torch.allclose(whole, wanted, atol=1e-5, rtol=1e-3)

    def test_metrics_tell_boards_apart(self, parts: tuple[Sample, Sample], workers: Workers) -> None:
        three, four = parts
        told, alone = (Learner(plain_network(), learning(0.0), workers).step(*batch) for batch in (parts, (four,)))
        assert told is not None
        assert alone is not None
        assert told["policy_loss_4x4"] == pytest.approx(alone["policy_loss"], rel=0.02)
        shares = np.array([part.weight.sum() for part in parts]) / (three.weight.sum() + four.weight.sum())
        mean = shares @ [told["value_loss_3x3"], told["value_loss_4x4"]]
        assert told["value_loss"] == pytest.approx(mean, rel=1e-5)
        assert told["top_move_agreement"] == pytest.approx(
            (24 * told["top_move_agreement_3x3"] + 40 * told["top_move_agreement_4x4"]) / 64
        )
        assert not [name for name in alone if "x" in name]

    def test_parts_smaller_than_the_threads(self, parts: tuple[Sample, Sample]) -> None:
        with Workers(3) as workers:
            few = [Sample(*(array[:count] for array in part)) for part, count in zip(parts, (1, 2), strict=True)]
            assert Learner(plain_network(), learning(0.01), workers).step(*few) is not None

    def test_both_boards_are_learned(self, workers: Workers) -> None:
        """From one network, at once, though each has something else to learn."""
        batch = samples(GoEnv(5), 32), samples(GoEnv(7), 32)
        torch.manual_seed(1)
        learner = Learner(NeuralNet(GoEnv(7), tower_height=1, channels=8), learning(0.02), workers)
        rows = [learner.step(*batch) for _ in range(50)]
        first, last = rows[0], rows[-1]
        assert first is not None
        assert last is not None
        for size in ("5x5", "7x7"):
            for loss in ("policy_loss", "value_loss", "ownership_loss"):
                assert last[f"{loss}_{size}"] < 0.95 * first[f"{loss}_{size}"], (loss, size)


class TestRun:
    def test_boards_side_by_side(self, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        folder, net, listener = undisturbed
        assert net.env == GO4
        assert listener.last["games"] == 20
        both = [row for row in listener.rows if row["board_size"] is None]
        assert {row["board_size"] for row in listener.rows} == {3, None}
        assert both[-1]["positions_3x3"] > 0 < both[-1]["positions_4x4"]
        assert both[-1]["memory"] == both[-1]["positions_3x3"] + both[-1]["positions_4x4"]
        assert any(row.get("policy_loss_3x3") and row.get("policy_loss_4x4") for row in both)
        assert not any("policy_loss_3x3" in row for row in listener.rows if row["board_size"])
        for name in ("games", "positions", "steps"):
            values = [row[name] for row in listener.rows]
            assert values == sorted(values), name
        played = [load_records(path) for path in sorted((folder / "games").iterdir())]
        assert {records[0].policies.shape[1] for records in played} == {10, 17}
        assert all(len({r.policies.shape[1] for r in records}) == 1 for records in played)
        seeds = [record.seed for records in played for record in records]
        assert len(set(seeds)) == len(seeds) == 20
        load_model(folder, GO4)

    def test_a_memory_goes_on_into_the_next_stage(self, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        """3x3 is played before and after: its positions stay, and so does the start of training."""
        rows = undisturbed[2].rows
        last = max(i for i, row in enumerate(rows) if row["board_size"] == 3)
        assert rows[last]["memory"] > 0
        assert rows[last + 1]["positions_3x3"] >= rows[last]["memory"]

    @pytest.mark.parametrize("saves", [35, 75])
    def test_it_goes_on_to_the_bit(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener], saves: int
    ) -> None:
        run_killed(tmp_path, saves, **BOTH, curriculum=((3, 0.2),))
        net, listener = go_on(tmp_path, env=GO4)
        assert same(net, undisturbed[1])
        told = [
            {name: value for name, value in row.items() if name not in TIMES and not name.endswith("_share")}
            for row in listener.rows
        ]
        wanted = [
            {n: v for n, v in row.items() if n not in TIMES and not n.endswith("_share")} for row in undisturbed[2].rows
        ]
        # The first one has the means of the steps that were left of its iteration.
        assert told[1:] == wanted[len(wanted) - len(told) + 1 :]

    def test_more_games(self, tmp_path: Path) -> None:
        """Boards that were done begin again."""
        settings = {**BOTH, "num_games": 3}
        run(tmp_path, **settings)
        _, listener = go_on(tmp_path, 9, env=GO4)
        assert listener.last["games"] == 9
        assert listener.last["games_3x3"] > 2 < listener.last["games_4x4"]


class TestRefusals:
    @pytest.mark.parametrize(
        "wrong", [((3, 1.0), (3, 0.0)), ((3, 0.5),), ((3, 0.5), (3, 0.5)), (3, 4), ((3,),), ((3.5, 1.0),), 3]
    )
    def test_sizes(self, wrong: Any) -> None:
        with pytest.raises(ValueError, match="sizes are pairs of a board size and its share"):
            TrainingSettings(sizes=wrong)
        with pytest.raises(ValueError, match="curriculum is pairs of a board size"):
            TrainingSettings(curriculum=((wrong if isinstance(wrong, tuple) else "x", 0.5),))

    @pytest.mark.parametrize("name", ["batch_size", "games_in_flight"])
    def test_fewer_than_boards(self, name: str) -> None:
        with pytest.raises(ValueError, match=rf"{name} is at least the number of boards side by side \(2\), got 1"):
            TrainingSettings(sizes=((3, 0.5), (4, 0.5)), **{name: 1})

    def test_boards_that_do_not_suit(self, tmp_path: Path) -> None:
        settings = {**TINY, "sizes": ((3, 0.5), (4, 0.5))}
        for env, sentence in (
            (GoEnv(5), r"sizes have to name the board that is trained for, 5, got \(\(3"),
            (TicTacToeEnv(), "has one board size, 4 was wanted"),
        ):
            with pytest.raises(ValueError, match=sentence):
                train(env, 4, folder=tmp_path / env.name, reports=[], **settings)

    def test_a_run_keeps_its_sizes(self, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        with pytest.raises(ValueError, match=r"has sizes \(\(3, 0.4\), \(4, 0.6\)\), now \(\) came"):
            go_on(undisturbed[0], env=GO4, sizes=())
        config = json.loads((undisturbed[0] / "config.json").read_text())
        assert saved_settings(config, undisturbed[0]).sizes == ((3, 0.4), (4, 0.6))
