"""Gradient steps: they learn, they leave broken samples alone, and threads share a batch out fairly."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from alphago import GameEnv, GoEnv, GomokuEnv, NeuralNet, Puct, ReplayMemory, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.nn.base import DenseBase, ResidualTower
from alphago.nn.inference import hardware
from alphago.nn.inference.hardware import torch_device
from alphago.nn.loss import Losses, LossWeights, alphazero_loss
from alphago.nn.threads import Workers
from alphago.system.settings import make_settings
from alphago.training import step_graphs
from alphago.training.learner import WARM_UP_STEPS, Learner, choose_bfloat16
from alphago.training.memory import Sample
from alphago.training.optimizer import OPTIMIZERS as MADE
from alphago.training.settings.learning_settings import LearningSettings
from tests.training.small_runs import GO, nadam

ENV = TicTacToeEnv()


@pytest.fixture(scope="module")
def memory() -> ReplayMemory:
    memory = ReplayMemory(ENV)
    memory.add(selfplay(ENV, HashEvaluator(), 8, 20, search=Puct(), groups=1, device="cpu", seed=0))
    return memory


@pytest.fixture
def sample(memory: ReplayMemory) -> Sample:
    return memory.sample(48, np.random.default_rng(0))


@pytest.fixture(params=[1, 2])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    with Workers(request.param) as some:
        yield some


def network(seed: int = 0, env: GameEnv = ENV) -> NeuralNet:
    torch.manual_seed(seed)
    return NeuralNet(env, tower_height=1, channels=8)


@pytest.mark.parametrize(("env", "weight"), [(GomokuEnv(5), 1e-4), (ENV, 0), (GoEnv(3), 0)], ids=str)
def test_logits_are_kept_near_0_where_they_may_drift(env: GameEnv, weight: float) -> None:
    """Where the policy is of points alone: neither dense nor with a pass."""
    with Workers(1) as workers:
        net = NeuralNet(env, tower_height=0, channels=4)
        assert Learner(net, LearningSettings(), workers).weights == LossWeights(log_sum=weight)


def network_without_batch_norm(seed: int = 0) -> NeuralNet:
    """A batch can be shared out among threads without any change to it."""
    torch.manual_seed(seed)
    return NeuralNet(
        ENV,
        base_net=nn.Sequential(nn.Flatten(), nn.Linear(18, 32), nn.Tanh()),
        value=nn.Sequential(nn.Linear(32, 1), nn.Tanh()),
        policy=nn.Linear(32, 9),
    )


def learner_of(net: NeuralNet, workers: Workers, rate: float = 0.01, decay: float = 0.0, **settings: Any) -> Learner:
    """In float32, unless it is asked otherwise: the same numbers on every processor."""
    given = {"learning_rate": rate, "weight_decay": decay, "bfloat16": False, **settings}
    return Learner(net, make_settings(LearningSettings, given), workers)


def state(net: NeuralNet) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def assert_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=0)


def damaged(sample: Sample, field: str, value: float = np.nan) -> Sample:
    array = getattr(sample, field).copy()
    array.ravel()[7] = value
    return sample._replace(**{field: array})


class TestSteps:
    def test_the_losses_fall_on_a_fixed_batch(self, sample: Sample, workers: Workers) -> None:
        assert set(np.sign(sample.value)) >= {-1, 1}
        learner = learner_of(network(), workers)
        first, *_, last = (learner.step(sample) or {} for _ in range(81))
        assert learner.steps == 81
        assert last["value_loss"] < 0.5 * first["value_loss"]
        assert last["policy_loss"] < first["policy_loss"] - 0.1
        assert last["value_correlation"] > 0.8  # labels reach the gradient in their order
        assert last["top_move_agreement"] > first["top_move_agreement"]

    def test_only_weighted_samples_count(self, sample: Sample, workers: Workers) -> None:
        """Half of the batch is worth nothing: the gradient is the other half's, whoever computes it."""
        weight = np.repeat(np.array([1, 0], np.float32), 24)
        half = sample.map(lambda array: array[:24])
        norms = [
            learner_of(network_without_batch_norm(), workers).step(given)["gradient_norm"]  # type: ignore[index]
            for given in (sample._replace(weight=weight), half)
        ]
        assert norms[0] == pytest.approx(norms[1], rel=0.02)

    def test_a_loss_function_of_ones_own(self, sample: Sample, workers: Workers) -> None:
        """The value alone is learned, by its absolute error."""

        def absolute_error(logits: Tensor, value: Tensor, policy: Tensor, result: Tensor, weight: Tensor) -> Losses:
            error = (weight * (value.flatten() - result).abs()).mean()
            return Losses(error, torch.zeros(()), error)

        wrong = learner_of(network_without_batch_norm(), workers, losses=lambda *given: given[1].mean())
        with pytest.raises(TypeError, match=r"must give alphago.nn.loss.Losses\(total, policy, value\), got ten"):
            wrong.step(sample)
        learner = learner_of(network_without_batch_norm(), workers, losses=absolute_error)
        before = state(learner.net)
        first, _ = (learner.step(sample) or {} for _ in range(2))
        assert first["policy_loss"] == 0
        assert torch.equal(before["policy.weight"], state(learner.net)["policy.weight"])
        assert not torch.equal(before["value.0.weight"], state(learner.net)["value.0.weight"])
        assert learner.losses_on(sample)["fresh_policy_loss"] == 0

    def test_losses_on_new_positions(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.05)
        for _ in range(5):
            learner.step(sample)
        with torch.no_grad():
            logits, value = learner.net.eval()(torch.from_numpy(sample.planes))
        policy, result = torch.from_numpy(sample.policy), torch.from_numpy(sample.value)
        losses = learner.losses_on(sample)
        assert losses["fresh_value_loss"] == pytest.approx(float(((value - result) ** 2).mean()), rel=1e-4)
        expected = -(policy * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()
        assert losses["fresh_policy_loss"] == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize(
    ("field", "value"), [("planes", np.nan), ("policy", np.nan), ("value", np.inf), ("planes", np.inf)]
)
def test_a_broken_sample_changes_nothing_and_is_counted(
    sample: Sample, workers: Workers, field: str, value: float
) -> None:
    """Neither weights nor batch norm's statistics nor the optimizer's; the next step learns as usual."""
    nets = [network(), network()]
    broken, healthy = (learner_of(net, workers, 0.01, 0.01) for net in nets)
    for learner in (broken, healthy):
        learner.step(sample)
    before = state(broken.net)
    assert broken.step(damaged(sample, field, value)) is None
    assert (broken.skipped, broken.steps) == (1, 1)
    assert_equal(state(broken.net), before)
    assert broken.step(sample) == healthy.step(sample)
    assert_equal(state(broken.net), state(healthy.net))


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


BASES: dict[str, Callable[[], nn.Module]] = {
    "residual": partial(ResidualTower, GO.planes, 8, 2, pooled=True),
    "preactivation": partial(ResidualTower, GO.planes, 8, 2, pooled=True, block="preactivation"),
    "plain": partial(ResidualTower, GO.planes, 8, 2, pooled=True, block="plain", activation="elu"),
    "dense": partial(DenseBase, GO.planes, (3, 3), (32, 16)),
}


@pytest.fixture(scope="module")
def go_sample() -> Sample:
    memory = ReplayMemory(GO)
    memory.add(selfplay(GO, HashEvaluator(), 6, 8, search=Puct(), groups=1, device="cpu", seed=0))
    return memory.sample(32, np.random.default_rng(0))


class TestParts:
    """What one may pass in learns."""

    def fall(self, net: NeuralNet, sample: Sample, rate: float, steps: int = 60, **settings: Any) -> dict[str, float]:
        """Least losses over first ones, of a few steps on one batch; from step to step they may leap."""
        with Workers(1) as workers:
            learner = learner_of(net, workers, rate, **settings)
            learner.steps = WARM_UP_STEPS
            rows = [learner.step(sample) or {} for _ in range(steps)]
        assert learner.skipped == 0
        return {name: min(row[name] for row in rows) / rows[0][name] for name in rows[0] if name.endswith("_loss")}

    @pytest.mark.parametrize(
        ("base", "optimizer"),
        [
            *(("preactivation", "muon"), ("dense", "muon"), ("residual", "sgd"), ("residual", "own")),
            *(pytest.param(base, "adamw", marks=pytest.mark.slow) for base in ("residual", "plain")),
        ],
    )
    def test_each_base_and_each_optimizer(self, go_sample: Sample, base: str, optimizer: str) -> None:
        torch.manual_seed(0)
        net = NeuralNet(GO, BASES[base]())
        made, rate = OPTIMIZERS[optimizer]
        fall = self.fall(net, go_sample, rate, optimizer=made)
        assert fall["value_loss"] < 0.75
        assert fall["policy_loss"] < 0.97
        assert ("ownership_loss" in fall) == (base != "dense")
        if base != "dense":
            assert fall["ownership_loss"] < 0.97
            assert fall["score_loss"] < 0.9

    @pytest.mark.parametrize("losses", ["alphago-zero", "alphago.jl", "cody2007", "cgzero"], ids=str)
    def test_each_loss(self, go_sample: Sample, losses: Any) -> None:
        # Losses of a hundredth have gradients of a hundredth, which is a learning rate to SGD.
        rate = 5.0 if losses in ("alphago.jl", "cody2007") else 0.05
        fall = self.fall(network(env=GO), go_sample, rate, optimizer="sgd", losses=losses)
        assert fall["value_loss"] < 0.7
        assert fall["policy_loss"] < 0.98

    @pytest.mark.parametrize("bfloat16", [True, False])
    def test_bfloat16_is_a_setting(self, go_sample: Sample, bfloat16: bool) -> None:
        net = network(env=GO)
        types = []
        net.base_net.entry.register_forward_hook(lambda module, inputs, output: types.append(output.dtype))
        with Workers(1) as workers:
            assert learner_of(net, workers, bfloat16=bfloat16).step(go_sample) is not None
        assert types == [torch.bfloat16 if bfloat16 else torch.float32]

    def test_clipping_is_a_setting(self, sample: Sample, workers: Workers) -> None:
        lengths: dict[float | None, tuple[Any, float]] = {}
        for limit in (None, 0.01, 1e6):
            learner = learner_of(network_without_batch_norm(), workers, gradient_norm=limit)
            metrics = learner.step(sample) or {}
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
        assert_equal(one.tensors(), other.tensors())

    def test_a_memory_that_cannot_be_kept(self, workers: Workers) -> None:
        learner = learner_of(network(), workers)
        learner.optimizer.state[next(learner.net.parameters())]["history"] = []
        with pytest.raises(ValueError, match="MuonAdamW cannot be saved: history is a list"):
            learner.tensors()


class TestReplicas:
    def test_two_threads_give_the_gradient_of_one(self, sample: Sample) -> None:
        gradients, metrics = [], []
        for count in (1, 2, 3):
            with Workers(count) as workers:
                learner = learner_of(network_without_batch_norm(), workers, 0.01, 0.01)
                metrics.append(learner.step(sample))
                gradients.append([p.grad.clone() for p in learner.net.parameters() if p.grad is not None])
        for other in (1, 2):
            assert metrics[other] == pytest.approx(metrics[0], rel=1e-4, abs=1e-5)
            torch.testing.assert_close(gradients[other], gradients[0], rtol=1e-3, atol=1e-6)

    def test_replicas_share_weights_and_nothing_else(self, sample: Sample) -> None:
        with Workers(2) as workers:
            learner = learner_of(network(), workers)
            for _ in range(3):
                learner.step(sample)
        one, other = learner.replicas
        assert one is learner.net
        for mine, right in zip(one.parameters(), other.parameters(), strict=True):
            assert mine.data_ptr() == right.data_ptr()
            assert mine.grad is not right.grad
        moved = [not torch.equal(a, b) for a, b in zip(one.buffers(), other.buffers(), strict=True)]
        assert any(moved)  # each saw other samples

    @pytest.mark.parametrize("count", [1, 2])
    def test_a_batch_smaller_than_the_threads(self, memory: ReplayMemory, count: int) -> None:
        with Workers(3) as workers:
            learner = learner_of(network(), workers)
            assert learner.step(memory.sample(count, np.random.default_rng(0))) is not None


class TestLearningRate:
    def test_it_rises_and_falls(self, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.02)
        assert learner.rate(0.0) == pytest.approx(0.02 / WARM_UP_STEPS)
        learner.steps = WARM_UP_STEPS // 2 - 1
        assert learner.rate(0.0) == pytest.approx(0.01)
        learner.steps = 10 * WARM_UP_STEPS
        assert [learner.rate(progress) for progress in (0, 0.5, 1)] == pytest.approx([0.02, 0.02 * 0.525, 0.001])

    def test_it_is_the_optimizers(self, sample: Sample, workers: Workers) -> None:
        learner = learner_of(network(), workers, 0.02)
        learner.step(sample, progress=0.5)
        for group in learner.optimizer.param_groups:
            assert group["lr"] == pytest.approx(0.02 * 0.525 / WARM_UP_STEPS)


INTEL, AMD = "Intel(R) Xeon(R)", "AMD EPYC"


@pytest.mark.parametrize(
    ("processor", "instructions", "size", "bfloat16"),
    [
        (INTEL, {"amx_tile", "avx512_bf16"}, (4, 32), True),
        (INTEL, {"amx_tile", "avx512_bf16"}, (2, 16), False),
        (INTEL, {"avx512_bf16"}, (4, 32), False),
        (AMD, {"avx512_bf16"}, (4, 32), True),
        (AMD, {"avx512_bf16"}, (2, 16), False),
        (AMD, {"avx512_vnni"}, (4, 32), False),
    ],
)
def test_by_the_kind_of_processor(
    monkeypatch: pytest.MonkeyPatch, processor: str, instructions: set[str], size: tuple[int, int], bfloat16: bool
) -> None:
    """What is given stays."""
    monkeypatch.setattr(hardware, "processor", lambda: processor)
    monkeypatch.setattr(hardware, "cpu_has", lambda *names: bool(set(names) & instructions))
    net, settings = NeuralNet(GO, tower_height=size[0], channels=size[1]), LearningSettings()
    assert choose_bfloat16(settings, net).bfloat16 is bfloat16
    given = replace(settings, bfloat16=not bfloat16)
    assert choose_bfloat16(given, net) == given


@pytest.mark.gpu
class TestGpu:
    @pytest.mark.parametrize("optimizer", MADE)
    def test_it_learns_as_the_cpu(self, optimizer: str, go_sample: Sample) -> None:
        """Five steps on the same batch in float32, the last two from what was remembered on the other one."""
        settings = LearningSettings(optimizer=optimizer, bfloat16=False, learning_rate=0.01)
        places, rows = [torch.device("cpu"), torch_device("cuda")], []
        with Workers(1) as workers:  # one replica on both: batch norm sees the whole batch
            learners = [Learner(network(env=GO), settings, workers, place) for place in places]
            for learner in learners:
                rows.append([learner.step(go_sample) for _ in range(3)])
            saved = [(learner.tensors(), learner.steps, learner.skipped) for learner in learners]
            assert all(tensor.device == places[0] for tensors, *_ in saved for tensor in tensors.values())
            crossed = [Learner(network(5, GO), settings, workers, place) for place in reversed(places)]
            for learner, state_of, own in zip(crossed, saved, rows, strict=True):
                learner.restore(*state_of)
                own += [learner.step(go_sample) for _ in range(2)]
        for step, (one, two) in enumerate(zip(*rows, strict=True)):
            assert one is not None
            assert two is not None
            for name in ("policy_loss", "value_loss", "gradient_norm"):
                # Muon makes directions that hardly matter as large as all others, and with them what was rounded.
                assert two[name] == pytest.approx(one[name], rel=0.02 if step == 0 else 0.3, abs=0.02), (step, name)

    @pytest.mark.parametrize("optimizer", MADE)
    def test_graphs_compute_what_single_operations_do(
        self, optimizer: str, go_sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Ten steps, of which the last eight are repetitions of a graph, with rates that rise from step to step."""
        settings = LearningSettings(optimizer=optimizer, bfloat16=False, learning_rate=0.01)
        rows, nets = [], []
        with Workers(1) as workers:
            for calls in (step_graphs.WARM_UP_CALLS, 100):
                monkeypatch.setattr(step_graphs, "WARM_UP_CALLS", calls)
                learner = Learner(network(env=GO), settings, workers, torch_device("cuda"))
                rows.append([learner.step(go_sample) for _ in range(10)])
                graphs = {steps.accumulate.is_captured for steps in learner._gpu_steps.values()}
                assert graphs == {calls < 100}
                nets.append(learner.tensors())
        for one, two in zip(*rows, strict=True):
            assert one == pytest.approx(two, rel=0.05, abs=0.01)
        assert nets[0]["net.base_net.entry.1.num_batches_tracked"] == 10

    def test_a_loss_that_waits_for_the_gpu_is_computed_as_it_is(self, go_sample: Sample) -> None:
        def loss(*given: torch.Tensor) -> Losses:
            losses = alphazero_loss(*given)
            assert float(losses.total) > 0  # which no graph can hold
            return losses

        with Workers(1) as workers:
            learner = Learner(network(env=GO), LearningSettings(losses=loss), workers, torch_device("cuda"))
            assert all(learner.step(go_sample) is not None for _ in range(5))
            assert not any(steps.accumulate.is_captured for steps in learner._gpu_steps.values())
