"""Gradient steps: they learn, they leave broken samples alone, and threads share a batch out fairly."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import nn

from alphago.mcts.evaluator import HashEvaluator
from alphago.mcts.search import SearchSettings
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.training.learner import GRADIENT_NORM, METRICS, WARM_UP_STEPS, Learner, mean_metrics, measure, pearson
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.selfplay import selfplay
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


def state(net: NeuralNet) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def damaged(sample: Sample, field: str, value: float = np.nan) -> Sample:
    array = getattr(sample, field).copy()
    array.ravel()[7] = value
    return sample._replace(**{field: array})


class TestSteps:
    def test_the_losses_fall_on_a_fixed_batch(self, sample: Sample, workers: Workers) -> None:
        learner = Learner(network(), 0.01, 0.0, 0.995, workers)
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
        learner = Learner(network_without_batch_norm(), 0.01, 0.0, 0.995, workers)
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
            Learner(network_without_batch_norm(), 0.01, 0.0, 0.995, workers).step(given)["gradient_norm"]  # type: ignore[index]
            for given in (sample._replace(weight=weight), half)
        ]
        assert norms[0] == pytest.approx(norms[1], rel=0.02)

    def test_the_values_weight(self, sample: Sample, workers: Workers) -> None:
        """At 0 the policy learns and the value does not; the metrics tell both losses as they are."""
        nets = [network_without_batch_norm(), network_without_batch_norm()]
        silent, usual = (
            Learner(net, 0.01, 0.0, 0.995, workers, value_weight=weight).step(sample)
            for net, weight in zip(nets, (0.0, 1.0), strict=True)
        )
        assert silent is not None
        assert usual is not None
        assert silent["value_loss"] == usual["value_loss"] > 0
        before = network_without_batch_norm()
        assert all(map(torch.equal, nets[0].value.parameters(), before.value.parameters()))
        assert not any(map(torch.equal, nets[1].value.parameters(), before.value.parameters()))

    def test_a_batch_of_one(self, memory: ReplayMemory, workers: Workers) -> None:
        learner = Learner(network(), 0.01, 0.0, 0.995, workers)
        assert learner.step(memory.sample(1, np.random.default_rng(0))) is not None

    def test_gradients_are_clipped(self, sample: Sample, workers: Workers) -> None:
        net = network_without_batch_norm()
        with torch.no_grad():
            net.policy.weight *= 300  # type: ignore[union-attr, operator]
        learner = Learner(net, 0.01, 0.0, 0.995, workers)
        metrics = learner.step(sample)
        assert metrics is not None
        assert metrics["gradient_norm"] > GRADIENT_NORM
        norm = torch.stack([parameter.grad.norm() for parameter in net.parameters()]).norm()  # type: ignore[union-attr]
        assert float(norm) == pytest.approx(GRADIENT_NORM, rel=1e-3)

    def test_weight_decay_is_for_matrices_only(self, workers: Workers) -> None:
        decays = {
            (group["weight_decay"], parameter.dim() > 1)
            for group in Learner(network(), 0.01, 0.3, 0.995, workers).optimizer.param_groups
            for parameter in group["params"]
        }
        assert decays == {(0.3, True), (0.0, False)}


class TestAverage:
    def test_it_follows_the_weights(self, sample: Sample, workers: Workers) -> None:
        """`averaging` of it is kept at each step, less in the first ones; running statistics too."""
        learner = Learner(network(), 0.05, 0.0, 0.8, workers)
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
        learner = Learner(network(), 0.05, 0.0, 0.9, workers)
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
        broken, healthy = (Learner(net, 0.01, 0.01, 0.995, workers) for net in nets)
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
        learner = Learner(network(), 0.01, 0.0, 0.995, workers)
        for _ in range(3):
            learner.step(damaged(sample, "value"))
        assert learner.skipped == 3
        assert learner.rate(0.0) == pytest.approx(0.01 / WARM_UP_STEPS)


class TestReplicas:
    def test_two_threads_give_the_gradient_of_one(self, sample: Sample) -> None:
        gradients, metrics = [], []
        for count in (1, 2, 3):
            with Workers(count) as workers:
                learner = Learner(network_without_batch_norm(), 0.01, 0.01, 0.995, workers)
                learner.autocast = False
                metrics.append(learner.step(sample))
                gradients.append([p.grad.clone() for p in learner.net.parameters() if p.grad is not None])
        for other in (1, 2):
            assert metrics[other] == pytest.approx(metrics[0], rel=1e-4, abs=1e-5)
            for mine, right in zip(gradients[other], gradients[0], strict=True):
                assert torch.allclose(mine, right, rtol=1e-3, atol=1e-6)

    def test_replicas_share_weights_and_nothing_else(self, sample: Sample) -> None:
        with Workers(2) as workers:
            learner = Learner(network(), 0.01, 0.0, 0.995, workers)
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
            learner = Learner(network(), 0.01, 0.0, 0.995, workers)
            assert learner.step(memory.sample(2, np.random.default_rng(0))) is not None


class TestLearningRate:
    def test_it_rises_and_falls(self, workers: Workers) -> None:
        learner = Learner(network(), 0.02, 0.0, 0.995, workers)
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
        learner = Learner(network(), 0.02, 0.0, 0.995, workers)
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
        learner = Learner(network(), 0.01, 0.0, 0.995, workers)
        rows = [learner.step(sample) for _ in range(3)]
        means = mean_metrics(rows)  # type: ignore[arg-type]
        assert means.keys() == set(METRICS) >= rows[0].keys()  # type: ignore[union-attr]
        assert means["ownership_loss"] is None  # tic-tac-toe has none
        assert means["policy_loss"] == pytest.approx(np.mean([row["policy_loss"] for row in rows]))  # type: ignore[index]
        assert set(mean_metrics([]).values()) == {None}
        assert mean_metrics([]).keys() == means.keys()
