"""Gradient steps: they learn, they leave broken samples alone, and threads share a batch out fairly."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from alphago.env.go import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.loss import LossWeights
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.nn.value import AddedForecast, DenseValue, ForecastValue
from alphago.training.learner import WARM_UP_STEPS, Learner
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.selfplay import selfplay
from alphago.training.settings import TrainingSettings
from alphago.training.watch.measures import METRICS, mean_metrics, measure, pearson
from examples.tic_tac_toe import TicTacToeEnv

ENV = TicTacToeEnv()


@pytest.fixture(scope="module")
def memory() -> ReplayMemory:
    memory = ReplayMemory(ENV)
    memory.add(selfplay(ENV, HashEvaluator(), 8, 20, search=SearchSettings(), groups=1))
    return memory


@pytest.fixture
def sample(memory: ReplayMemory) -> Sample:
    return memory.sample(48, np.random.default_rng(0))


@pytest.fixture(params=[1, 2])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with Workers(request.param) as some:
        yield some


def network(seed: int = 0) -> NeuralNet:
    torch.manual_seed(seed)
    return NeuralNet(ENV, tower_height=1, channels=8)


def network_without_batch_norm(seed: int = 0) -> NeuralNet:
    """A batch can be shared out among threads without any change to it."""
    torch.manual_seed(seed)
    return NeuralNet(
        ENV,
        base_net=nn.Sequential(nn.Flatten(), nn.Linear(18, 32), nn.Tanh()),
        value=nn.Sequential(nn.Linear(32, 1), nn.Tanh()),
        policy=nn.Linear(32, 9),
    )


def learner_of(
    net: NeuralNet, workers: Workers, rate: float = 0.01, decay: float = 0.0, averaging: float = 0.995, **settings: Any
) -> Learner:
    given = TrainingSettings(learning_rate=rate, weight_decay=decay, weight_averaging=averaging, **settings)
    return Learner(net, given, workers)


def state(net: NeuralNet) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def damaged(sample: Sample, field: str, value: float = np.nan) -> Sample:
    array = getattr(sample, field).copy()
    array.ravel()[7] = value
    return sample._replace(**{field: array})


class TestSteps:
    def test_the_losses_fall_on_a_fixed_batch(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
        first = learner.step(sample)
        assert first is not None
        for _ in range(80):
            last = learner.step(sample)
        assert last is not None
        assert learner.steps == 81
        assert last["value_loss"] < 0.5 * first["value_loss"]
        assert last["policy_loss"] < first["policy_loss"] - 0.1
        assert last["value_correlation"] > 0.7
        assert last["top_move_agreement"] > first["top_move_agreement"]

    def test_weights_of_zero_teach_nothing(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network_without_batch_norm(), workers, 0.01, 0.0, 0.995)
        before = state(learner.net)
        metrics = learner.step(sample._replace(weight=np.zeros(48, np.float32)))
        assert metrics is not None
        assert metrics["policy_loss"] == metrics["value_loss"] == metrics["gradient_norm"] == 0
        for name, tensor in state(learner.net).items():
            assert torch.equal(tensor, before[name]), name

    def test_only_weighted_samples_count(self, sample: Sample, workers: Workers) -> None:
        """Half of the batch is worth nothing: the gradient is the other half's, whoever computes it."""
        weight = np.repeat(np.array([1, 0], np.float32), 24)
        half = Sample(*(array[:24] for array in sample))
        norms = [
            learner_of(network_without_batch_norm(), workers, 0.01, 0.0, 0.995).step(given)["gradient_norm"]  # type: ignore[index]
            for given in (sample._replace(weight=weight), half)
        ]
        assert norms[0] == pytest.approx(norms[1], rel=0.02)

    def test_a_batch_of_one(self, memory: ReplayMemory, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
        assert learner.step(memory.sample(1, np.random.default_rng(0))) is not None

    def test_gradients_are_clipped(self, sample: Sample, workers: Workers) -> None:
        net = network_without_batch_norm()
        with torch.no_grad():
            net.policy.weight *= 300  # type: ignore[union-attr, operator]
        learner = learner_of(net, workers, 0.01, 0.0, 0.995)
        metrics = learner.step(sample)
        assert metrics is not None
        assert metrics["gradient_norm"] > 5.0
        norm = torch.stack([parameter.grad.norm() for parameter in net.parameters()]).norm()  # type: ignore[union-attr]
        assert float(norm) == pytest.approx(5.0, rel=1e-3)

    def test_weight_decay_is_for_matrices_only(self, workers: Workers) -> None:
        decays = {
            (group["weight_decay"], parameter.dim() > 1)
            for group in learner_of(network(), workers, 0.01, 0.3, 0.995).optimizer.param_groups
            for parameter in group["params"]
        }
        assert decays == {(0.3, True), (0.0, False)}


class TestAverage:
    def test_it_follows_the_weights(self, sample: Sample, workers: Workers) -> None:
        """`averaging` of it is kept at each step, less in the first ones; running statistics too."""
        learner = learner_of(network(), workers, 0.05, 0.0, 0.8)
        wanted = state(learner.net)
        assert all(torch.equal(a, b) for a, b in zip(wanted.values(), state(learner.average).values(), strict=True))
        for step in range(1, 60):
            learner.step(sample)
            kept = min(0.8, step / (step + 10))
            for name, tensor in learner.net.state_dict().items():
                wanted[name] = kept * wanted[name] + (1 - kept) * tensor if tensor.is_floating_point() else tensor
        for name, tensor in state(learner.average).items():
            if tensor.is_floating_point():
                assert torch.allclose(tensor, wanted[name], rtol=1e-3, atol=1e-5), name
        assert not learner.average.training

    def test_losses_on_unseen_positions_are_its_own(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.05, 0.0, 0.9)
        for _ in range(5):
            learner.step(sample)
        with torch.no_grad():
            logits, value = learner.average(torch.from_numpy(sample.planes))
        policy, result = torch.from_numpy(sample.policy), torch.from_numpy(sample.value)
        told = learner.unseen(sample)
        assert told["fresh_value_loss"] == pytest.approx(float(((value - result) ** 2).mean()), rel=1e-4)
        wanted = -(policy * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()
        assert told["fresh_policy_loss"] == pytest.approx(float(wanted), rel=1e-4)


class TestNonFinite:
    @pytest.mark.parametrize(
        ("field", "value"), [("planes", np.nan), ("policy", np.nan), ("value", np.inf), ("planes", np.inf)]
    )
    def test_a_broken_sample_changes_nothing_and_is_counted(
        self, sample: Sample, workers: Workers, field: str, value: float
    ) -> None:
        """Neither weights nor batch norm's statistics nor the optimizer's; the next step learns as usual."""
        nets = [network(), network()]
        broken, healthy = (learner_of(net, workers, 0.01, 0.01, 0.995) for net in nets)
        for learner in (broken, healthy):
            learner.step(sample)
        before = state(broken.net)
        assert broken.step(damaged(sample, field, value)) is None
        assert (broken.skipped, broken.steps) == (1, 1)
        for name, tensor in state(broken.net).items():
            assert torch.equal(tensor, before[name]), name
        again, wanted = broken.step(sample), healthy.step(sample)
        assert again == wanted
        for name, tensor in state(broken.net).items():
            assert torch.equal(tensor, state(healthy.net)[name]), name

    def test_the_learning_rate_counts_real_steps(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
        for _ in range(3):
            learner.step(damaged(sample, "value"))
        assert learner.skipped == 3
        assert learner.rate(0.0) == pytest.approx(0.01 / WARM_UP_STEPS)


def nadam(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """An optimizer of one's own."""
    return torch.optim.NAdam(parameters, lr=learning_rate, weight_decay=weight_decay)


class Counting(torch.optim.SGD):
    """Keeps numbers for each parameter too, and moves by them."""

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for parameter in self.param_groups[0]["params"]:
            kept = self.state[parameter]
            kept["calls"], kept["length"] = kept.get("calls", 0) + 1, kept.get("length", 0.1) * 1.1
            parameter.data -= 0.01 * kept["length"] / kept["calls"] * parameter.grad.sign()


def counting(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    return Counting(list(parameters), lr=learning_rate)


# Each with a learning rate that suits it.
OPTIMIZERS = {"muon": ("muon", 0.02), "adamw": ("adamw", 0.02), "sgd": ("sgd", 0.05), "own": (nadam, 0.005)}
GO = GoEnv(3, komi=0.5)


def bases() -> dict[str, nn.Module]:
    planes = GO.planes
    return {
        "residual": ResidualTower(planes, 8, 2, pooled=True),
        "residual elu": ResidualTower(planes, 8, 2, activation="elu"),
        "preactivation": ResidualTower(planes, 8, 2, pooled=True, block="preactivation"),
        "plain": ResidualTower(planes, 8, 2, pooled=True, block="plain", activation="elu"),
        "dense": DenseBase(planes, (3, 3), (32, 16)),
    }


@pytest.fixture(scope="module")
def go_sample() -> Sample:
    memory = ReplayMemory(GO)
    memory.add(selfplay(GO, HashEvaluator(), 6, 8, search=SearchSettings(), groups=1))
    return memory.sample(32, np.random.default_rng(0))


class TestParts:
    """What one may pass in learns."""

    def fall(self, net: NeuralNet, sample: Sample, rate: float, steps: int = 60, **settings: Any) -> dict[str, float]:
        """Least losses over first ones, of a few steps on one batch; from step to step they may leap."""
        with Workers(1) as workers:
            learner = learner_of(net, workers, rate, **settings)
            learner.steps = WARM_UP_STEPS
            rows = [learner.step(sample) for _ in range(steps)]
        assert learner.skipped == 0
        assert all(row is not None for row in rows)
        return {name: min(row[name] for row in rows) / rows[0][name] for name in rows[0] if name.endswith("_loss")}  # type: ignore[index, operator]

    @pytest.mark.parametrize("optimizer", OPTIMIZERS)
    @pytest.mark.parametrize("base", bases())
    def test_each_base_with_each_optimizer(self, go_sample: Sample, base: str, optimizer: str) -> None:
        torch.manual_seed(0)
        net = NeuralNet(GO, bases()[base])
        made, rate = OPTIMIZERS[optimizer]
        fall = self.fall(net, go_sample, rate, optimizer=made)
        assert fall["value_loss"] < 0.75
        assert fall["policy_loss"] < 0.97
        assert ("ownership_loss" in fall) == (base != "dense")
        if base != "dense":
            assert fall["ownership_loss"] < 0.97
            assert fall["score_loss"] < 0.9

    @pytest.mark.parametrize("losses", ["alphago-zero", "alphago.jl", "cody2007", LossWeights(kl=True)], ids=str)
    @pytest.mark.parametrize("optimizer", ["muon", "sgd"])
    def test_each_loss(self, go_sample: Sample, losses: Any, optimizer: str) -> None:
        torch.manual_seed(0)
        net = NeuralNet(GO, tower_height=1, channels=8)
        # Losses of a hundredth have gradients of a hundredth, which is a learning rate to SGD.
        rate = 0.02 if optimizer == "muon" else 5.0 if losses in ("alphago.jl", "cody2007") else 0.05
        fall = self.fall(net, go_sample, rate, optimizer=optimizer, losses=losses)
        assert fall["value_loss"] < 0.7
        assert fall["policy_loss"] < 0.98

    @pytest.mark.parametrize("head", ["beside", "added"])
    def test_forecasts_with_alphago_zeros_heads(self, go_sample: Sample, head: str) -> None:
        torch.manual_seed(0)
        value = ForecastValue(8) if head == "beside" else AddedForecast(DenseValue(8, (3, 3)), 8)
        net = NeuralNet(GO, value=value, tower_height=1, channels=8, size_free=False)
        fall = self.fall(net, go_sample, 0.02)
        assert fall["value_loss"] < 0.7
        assert fall["ownership_loss"] < 0.8
        assert fall["score_loss"] < 0.8

    def test_a_weight_of_zero_teaches_nothing(self, go_sample: Sample, workers: Workers) -> None:
        torch.manual_seed(0)
        net = NeuralNet(GO, tower_height=1, channels=8)
        before = state(net)
        losses = LossWeights(ownership=0, score=0)
        learner = learner_of(net, workers, losses=losses)
        learner.step(go_sample)
        assert torch.equal(net.value.owner.weight, before["value.owner.weight"]) is False  # it is part of the value
        assert torch.equal(net.value.last.weight[1], before["value.last.weight"][1])  # the score's row
        assert not torch.equal(net.value.last.weight[0], before["value.last.weight"][0])

    @pytest.mark.parametrize("bfloat16", [True, False])
    def test_bfloat16_is_a_setting(self, go_sample: Sample, bfloat16: bool) -> None:
        torch.manual_seed(0)
        net = NeuralNet(GO, tower_height=1, channels=8)
        types = []
        net.base_net.entry.register_forward_hook(lambda module, inputs, output: types.append(output.dtype))
        with Workers(1) as workers:
            assert learner_of(net, workers, bfloat16=bfloat16).step(go_sample) is not None
        assert types == [torch.bfloat16 if bfloat16 else torch.float32]

    def test_clipping_is_a_setting(self, sample: Sample, workers: Workers) -> None:
        lengths: dict[float | None, tuple[Any, float]] = {}
        for limit in (None, 0.01, 1e6):
            learner = learner_of(network_without_batch_norm(), workers, gradient_norm=limit, bfloat16=False)
            metrics = learner.step(sample)
            assert metrics is not None
            gradients = [parameter.grad.norm() for parameter in learner.net.parameters()]  # type: ignore[union-attr]
            lengths[limit] = float(torch.stack(gradients).norm()), metrics["gradient_norm"]
        assert lengths[0.01] == (pytest.approx(0.01, rel=1e-3), pytest.approx(lengths[None][0]))
        assert lengths[None] == lengths[1e6]

    def test_l2_draws_all_parameters_to_zero(self, sample: Sample, workers: Workers) -> None:
        """Without anything to learn, a step of SGD is the L2 term alone: - rate 2 l2 w."""
        nothing = sample._replace(weight=np.zeros(48, np.float32))
        net = network_without_batch_norm()
        before = state(net)
        learner = learner_of(net, workers, 0.1, optimizer="sgd", losses=LossWeights(l2=0.5), gradient_norm=None)
        learner.steps = WARM_UP_STEPS
        learner.step(nothing)
        for name, tensor in state(net).items():
            torch.testing.assert_close(tensor, before[name] * (1 - 0.1 * 2 * 0.5), msg=name)

    def test_a_schedule_is_a_setting(self, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.02, schedule="steps")
        learner.steps = WARM_UP_STEPS
        assert [learner.rate(progress) for progress in (0, 0.5, 0.6, 1)] == pytest.approx([0.02, 0.02, 0.002, 0.0002])


class TestGoingOn:
    """A learner that goes on from another one's tensors does as that one would have done, to the bit."""

    @pytest.mark.parametrize("optimizer", [*OPTIMIZERS, "counting"])
    def test_with_each_optimizer(self, memory: ReplayMemory, optimizer: str) -> None:
        made = counting if optimizer == "counting" else OPTIMIZERS[optimizer][0]
        samples = [memory.sample(24, np.random.default_rng(number)) for number in range(8)]
        with Workers(2) as workers:
            one, other = (learner_of(network(seed), workers, 0.05, 0.1, optimizer=made) for seed in (0, 1))
            for sample in samples[:5]:
                one.step(sample)
            # As a file has them: row by row, and no longer the learner's own.
            saved = {
                name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in one.tensors().items()
            }
            other.restore(saved, one.steps, one.skipped)
            remembered = [name for name in saved if name.startswith(("optimizer.", "number."))]
            assert len(remembered) >= len(list(one.net.parameters()))
            for sample in samples[5:]:
                assert one.step(sample) == other.step(sample)
        for name, tensor in one.tensors().items():
            assert torch.equal(tensor, other.tensors()[name]), name

    def test_nothing_is_remembered_before_the_first_step(self, workers: Workers) -> None:
        learner = learner_of(network(), workers, optimizer="sgd")
        assert not [name for name in learner.tensors() if name.startswith(("optimizer.", "number."))]

    def test_a_memory_that_cannot_be_kept(self, workers: Workers) -> None:
        learner = learner_of(network(), workers)
        learner.optimizer.state[next(learner.net.parameters())]["history"] = []
        with pytest.raises(ValueError, match="MuonAdamW keeps history, a list, wanted tensors and numbers"):
            learner.tensors()


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"optimizer": "lion"}, "optimizer is 'muon', 'adamw', 'sgd' or a function that makes one, got 'lion'"),
            ({"optimizer": 3}, "optimizer is 'muon', 'adamw', 'sgd' or a function that makes one, got 3"),
            ({"schedule": "linear"}, "schedule is 'cosine', 'steps', 'constant', or pairs of"),
            ({"gradient_norm": -1.0}, "gradient_norm must be a number > 0, got -1.0"),
            ({"gradient_norm": 0.0}, "gradient_norm must be a number > 0, got 0.0"),
            ({"gradient_norm": float("nan")}, "gradient_norm must be a number > 0, got nan"),
            ({"bfloat16": "yes"}, "bfloat16 is True, False or None, got 'yes'"),
            ({"selfplay_dtype": "int4"}, "selfplay_dtype is 'float32', 'bfloat16', 'int8' or None, got 'int4'"),
            ({"losses": "huber"}, "losses is 'default', 'alphago-zero', 'alphago.jl', 'cody2007' or a LossWeights"),
        ],
    )
    def test_impossible_ones(self, given: dict[str, Any], text: str) -> None:
        with pytest.raises(ValueError, match=text):
            TrainingSettings(**given)

    def test_they_are_plain_data(self) -> None:
        settings = TrainingSettings(optimizer=nadam, losses="cody2007", schedule=[(0.5, 0.1)])  # type: ignore[arg-type]
        plain = json.loads(json.dumps(settings.plain()))
        assert plain["optimizer"].endswith("test_learner.nadam")
        assert plain["losses"] == {
            "policy": 1 / 49, "value": 0.025, "ownership": 0.0, "score": 0.0, "l2": 5e-4, "kl": False,
        }  # fmt: skip
        assert plain["schedule"] == [[0.5, 0.1]]


class TestReplicas:
    def test_two_threads_give_the_gradient_of_one(self, sample: Sample) -> None:
        gradients, metrics = [], []
        for count in (1, 2, 3):
            with Workers(count) as workers:
                learner = learner_of(network_without_batch_norm(), workers, 0.01, 0.01, 0.995)
                learner.autocast = False
                metrics.append(learner.step(sample))
                gradients.append([p.grad.clone() for p in learner.net.parameters() if p.grad is not None])
        for other in (1, 2):
            assert metrics[other] == pytest.approx(metrics[0], rel=1e-4, abs=1e-5)
            for mine, right in zip(gradients[other], gradients[0], strict=True):
                assert torch.allclose(mine, right, rtol=1e-3, atol=1e-6)

    def test_replicas_share_weights_and_nothing_else(self, sample: Sample) -> None:
        with Workers(2) as workers:
            learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
            for _ in range(3):
                learner.step(sample)
        one, other = learner.replicas
        assert one is learner.net
        for mine, right in zip(one.parameters(), other.parameters(), strict=True):
            assert mine.data_ptr() == right.data_ptr()
            assert mine.grad is not right.grad
        moved = [not torch.equal(a, b) for a, b in zip(one.buffers(), other.buffers(), strict=True)]
        assert any(moved)  # each saw other samples

    def test_a_batch_smaller_than_the_threads(self, memory: ReplayMemory) -> None:
        with Workers(3) as workers:
            learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
            assert learner.step(memory.sample(2, np.random.default_rng(0))) is not None


class TestLearningRate:
    def test_it_rises_and_falls(self, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.02, 0.0, 0.995)
        assert learner.rate(0.0) == pytest.approx(0.02 / WARM_UP_STEPS)
        learner.steps = WARM_UP_STEPS // 2 - 1
        assert learner.rate(0.0) == pytest.approx(0.01)
        learner.steps = 10 * WARM_UP_STEPS
        rates = [learner.rate(progress) for progress in (0, 0.25, 0.5, 0.75, 1)]
        assert rates[0] == pytest.approx(0.02)
        assert rates[2] == pytest.approx(0.02 * 0.525)
        assert rates[4] == pytest.approx(0.001)
        assert rates == sorted(rates, reverse=True)
        assert learner.rate(1.5) == learner.rate(1.0)
        assert learner.rate(-0.5) == learner.rate(0.0)

    def test_it_is_the_optimizers(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.02, 0.0, 0.995)
        learner.step(sample, progress=0.5)
        for group in learner.optimizer.param_groups:
            assert group["lr"] == pytest.approx(0.02 * 0.525 / WARM_UP_STEPS)


class TestMeasures:
    def test_pearson(self) -> None:
        assert pearson(torch.tensor([1.0, 2, 3]), torch.tensor([2.0, 4, 6])) == pytest.approx(1)
        assert pearson(torch.tensor([1.0, 2, 3]), torch.tensor([3.0, 2, 1])) == pytest.approx(-1)
        assert pearson(torch.tensor([1.0, 2, 3, 4]), torch.tensor([1.0, -1, -1, 1])) == pytest.approx(0, abs=1e-6)
        assert pearson(torch.ones(3), torch.tensor([3.0, 2, 1])) == 0

    def test_measure(self) -> None:
        """Two moves of four, evenly; the network is even over all four and right about the first of two best moves."""
        logits = torch.tensor([[0.0, 0, 0, 0], [9.0, 0, 0, 0]])
        policy = torch.tensor([[0.5, 0.5, 0, 0], [0.0, 1, 0, 0]])
        found = measure(logits, torch.tensor([0.5, -0.5]), policy, torch.tensor([1.0, -1]))
        assert found["target_entropy"] == pytest.approx(np.log(2) / 2)
        assert found["policy_entropy"] == pytest.approx(np.log(4) / 2, abs=0.01)
        assert found["top_move_agreement"] == 0.5
        assert found["value_correlation"] == pytest.approx(1)

    def test_mean_metrics(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.01, 0.0, 0.995)
        rows = [learner.step(sample) for _ in range(3)]
        means = mean_metrics(rows)  # type: ignore[arg-type]
        assert means.keys() == set(METRICS) >= rows[0].keys()  # type: ignore[union-attr]
        assert means["ownership_loss"] is None  # tic-tac-toe has none
        assert means["policy_loss"] == pytest.approx(np.mean([row["policy_loss"] for row in rows]))  # type: ignore[index]
        assert set(mean_metrics([]).values()) == {None}
        assert mean_metrics([]).keys() == means.keys()
