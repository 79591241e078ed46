"""Runs whose boards and network are on a device: the host build on the CPU, and with -m gpu the GPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.arena.match import evaluate
from alphago.cuda.contract import BackendMissing
from alphago.cuda.host import find_compiler
from alphago.env.go import GoEnv
from alphago.mcts import ranges
from alphago.mcts.player import MCTSPlayer
from alphago.nn.inference.devices import torch_device
from alphago.nn.inference.gpu import DeviceEvaluator
from alphago.nn.net import NeuralNet
from alphago.nn.threads import Workers
from alphago.records.record import load_records
from alphago.training.batches import DeviceSample, sent
from alphago.training.boards import Boards
from alphago.training.group import SelfPlaySettings
from alphago.training.judges.gate import Gate
from alphago.training.learner import Learner
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.optimizer import OPTIMIZERS
from alphago.training.runs.config import holds_run, read_config
from alphago.training.selfplay import SelfPlay, selfplay
from alphago.training.settings import TrainingSettings, stages
from alphago.ui.gtp.commands import GoEngine
from alphago.ui.terminal.terminal_game import play
from tests.training.small_runs import GO, go_on, run

CPU = torch.device("cpu")


@pytest.fixture(params=["host", pytest.param("cuda", marks=pytest.mark.gpu)], scope="module")
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "host" and find_compiler() is None:
        pytest.skip("there is no C++ compiler")
    return request.param


def tiny(seed: int = 0) -> NeuralNet:
    torch.manual_seed(seed)
    return NeuralNet(GO, tower_height=1, channels=8)


@pytest.mark.parametrize("dtype", ["float32", "int8", None])
def test_self_play_computes_in_what_the_settings_say(dtype: str | None) -> None:
    settings = TrainingSettings(num_games=8, selfplay_dtype=dtype)
    boards = Boards(stages(GO, settings)[0], settings, range(8), {})
    boards.publish(tiny())
    assert [made.dtype for made in boards.evaluators] == [tiny().evaluator(dtype).dtype]


def test_games_on_a_device_are_the_cpus(device: str) -> None:
    """In float32, of the same seeds; on a GPU sums may decide between moves that are as good as equal."""
    net, settings = tiny(), SelfPlaySettings(readouts=8, games_in_flight=6, groups=2)
    played = []
    for evaluator in (net.evaluator("float32"), net.evaluator("float32", device)):
        games = SelfPlay(GO, settings, range(12), seed=3)
        with Workers(2) as workers:
            played.append(games.run(workers, evaluator))
        assert all(group.search is not None and group.search.batch.device == evaluator.device for group in games.groups)
    same = [np.array_equal(one.moves, two.moves) for one, two in zip(*played, strict=True)]
    assert np.mean(same) >= {"host": 0.75, "cuda": 0.5}[device]


def test_the_cores_help_with_trees(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more of them than groups, which on the CPU have one each; the games stay the same."""
    evaluator, played = tiny().evaluator("float32", device), []
    monkeypatch.setattr(ranges, "LEAST", 1)
    for cores in (1, 5):
        monkeypatch.setattr("alphago.training.selfplay.available_cores", lambda cores=cores: cores)
        settings = SelfPlaySettings(readouts=8, games_in_flight=6, groups=2)
        games = SelfPlay(GO, settings, range(6), 3, device)
        with Workers(2) as workers:
            played.append(games.run(workers, evaluator))
        assert [group.threads for group in games.groups] == [max(1, cores // 2)] * 2
        assert [group.threads for group in SelfPlay(GO, settings, range(6), 3).groups] == [1, 1]
    for one, two in zip(*played, strict=True):
        assert device == "cuda" or np.array_equal(one.moves, two.moves)
    assert len(SelfPlay(GO, SelfPlaySettings(), range(5000), 0, device).groups) == 4
    assert sum(len(group.builders) for group in SelfPlay(GO, SelfPlaySettings(), range(5000), 0, device).groups) == 4096


def test_a_run_on_a_device_goes_on_on_the_cpu_and_back(device: str, tmp_path: Path) -> None:
    net, listener = run(tmp_path, 8, device=device)
    assert listener.notes[0] == f"boards and network are on {device}"
    assert {parameter.device.type for parameter in net.parameters()} == {"cpu"}
    assert listener.last["steps"] > 0
    for where, games in (("cpu", 11), (device, 14)):
        net, listener = go_on(tmp_path, games, device=where)
        assert listener.last["games"] >= games
        assert "device" not in str(read_config(tmp_path))  # nothing that the run has to know
        assert all(torch.isfinite(parameter).all() for parameter in net.parameters())


def factored(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """An optimizer whose memory of a matrix is its rows and columns."""
    return torch.optim.Adafactor(parameters, lr=learning_rate, weight_decay=weight_decay)


def test_memory_of_other_shapes_than_the_weights_goes_on_there(device: str, tmp_path: Path) -> None:
    run(tmp_path, 8, device=device, optimizer=factored)
    _, listener = go_on(tmp_path, 12, device=device, optimizer=factored)
    assert listener.last["skipped_steps"] == 0
    assert listener.last["steps"] > 0


def test_what_takes_a_device(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the caller does is the same, and boards and network are there."""
    made: list[DeviceEvaluator] = []
    explore = DeviceEvaluator.explore

    def counted(self: DeviceEvaluator, *arguments: Any) -> Any:
        made.append(self)
        return explore(self, *arguments)

    monkeypatch.setattr(DeviceEvaluator, "explore", counted)
    net = tiny()
    player = MCTSPlayer(GO, net, 16, device=device)
    assert GO.position().legal_mask[player.suggest_move()]
    assert player.search.batch.device == device
    (record,) = selfplay(GO, net, 4, device=device)
    assert record.position(GO).is_over or record.resigned
    assert len(evaluate(GO, net, "random", 4, 4, device=device).games) == 4
    assert len(evaluate(GO, net, net, 2, 0, device=device).games) == 2  # policies alone, whose boards are the CPU's
    answers = iter(["hint", "quit"])
    play(GO, net, 4, read=lambda _: next(answers), write=lambda _: None, device=device)
    engine = GoEngine(GO, net, 4, device=device)
    assert engine.commands["genmove"](["b"])
    assert engine.player.search.batch.device == device
    assert len({id(one) for one in made}) == 5


def test_what_is_published_keeps_its_graphs(device: str) -> None:
    """New weights go into the evaluator that there is; on the CPU each network has its own."""
    settings = TrainingSettings(num_games=8)
    for where, kept in ((device, True), ("cpu", False)):
        boards = Boards(stages(GO, settings)[0], settings, range(8), {}, where)
        told = []
        for seed in (1, 2):
            net = tiny(seed)
            with torch.no_grad():
                net.policy.last.bias.fill_(seed)  # how much is passed tells them apart
            boards.publish(net)
            told.append((boards.evaluators[0], passes(boards.evaluators[0])))
        assert (told[0][0] is told[1][0]) == kept
        assert told[1][1] > told[0][1]


def passes(evaluator: Any) -> float:
    """The prior of passing at the start."""
    priors = np.empty((1, GO.action_space), np.float32)
    evaluator.evaluate(GO.new_batch(1), np.zeros(1, np.int64), priors, np.empty(1, np.float32))
    return float(priors[0, -1])


def test_where_there_is_no_gpu_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendMissing, match="no CUDA device can be used"):
        run(tmp_path / "run", device="cuda")
    with pytest.raises(ValueError, match="device is 'cpu', 'cuda', 'auto', 'host', got 'gpu'"):
        run(tmp_path / "run", device="gpu")
    with pytest.raises(ValueError, match="device is 'cpu', 'cuda', 'auto', 'host', got 'gpu'"):
        selfplay(GO, lambda position: (position.legal_mask, 0.0), device="gpu")
    assert not (tmp_path / "run").exists()


FULL = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 139.80 GiB"


@pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
@pytest.mark.parametrize(("owner", "verb"), [(Learner, "step"), (DeviceEvaluator, "explore")])
def test_a_gpu_that_becomes_full(owner: type, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a gradient step, or in a thread of self-play: "auto" goes on on the CPU, others are told in one sentence."""
    whole, calls = getattr(owner, verb), []

    def filling(self: Any, *arguments: Any, **options: Any) -> Any:
        calls.append(verb)
        if len(calls) == 8:
            raise torch.OutOfMemoryError(FULL)
        return whole(self, *arguments, **options)

    monkeypatch.setattr(owner, verb, filling)
    for module in ("alphago.training.session", "alphago.nn.inference.gpu"):
        monkeypatch.setattr(f"{module}.find_device", lambda env, name: "host" if name == "auto" else name)
    told = "20.00 MiB does not fit into the memory that is left on the GPU"
    _, listener = run(tmp_path / "auto", 10, device="auto")
    assert listener.notes[0] == "boards and network are on host"
    assert listener.notes[1] == f"a new run of {GO} begins in {tmp_path / 'auto'}"
    assert listener.notes[2] == f"{told}: this run goes on on the CPU, from where it was saved"
    assert listener.notes[3].startswith("this run goes on after ")
    assert len(listener.notes) == 4
    assert (listener.last["games"], listener.stopped) == (10, False)
    kept = [game.seed for path in (tmp_path / "auto").glob("games/*.npz") for game in load_records(path)]
    assert sorted(kept) == [(0, number) for number in range(10)]
    calls.clear()
    with pytest.raises(MemoryError, match=f"^{told}$"):
        run(tmp_path / "host", 10, device="host")
    assert holds_run(tmp_path / "host")


def batch_of(count: int = 32) -> Sample:
    memory = ReplayMemory(GO)
    memory.add(selfplay(GO, lambda position: (position.legal_mask, 0.0), 4, 6, device="cpu"))
    return memory.sample(count, np.random.default_rng(1))


def test_a_sample_is_the_same_on_the_cpu() -> None:
    sample = batch_of()
    assert sent(sample, CPU) is sample


@pytest.mark.gpu
@pytest.mark.parametrize("optimizer", [*OPTIMIZERS])
def test_a_gpu_learns_as_the_cpu(optimizer: str) -> None:
    """Five steps on the same batch in float32, the last two from what was remembered on the other one."""
    settings = TrainingSettings(optimizer=optimizer, bfloat16=False, learning_rate=0.01)
    sample, told = batch_of(), []
    with Workers(1) as workers:  # one replica on both: batch norm sees the whole batch
        learners = [Learner(tiny(), settings, workers, place) for place in (CPU, torch_device("cuda"))]
        for learner in learners:
            told.append([learner.step(sample) for _ in range(3)])
        kept = [(learner.tensors(), learner.steps, learner.skipped) for learner in learners]
        assert all(tensor.device == CPU for tensors, *_ in kept for tensor in tensors.values())
        crossed = [Learner(tiny(5), settings, workers, place) for place in (torch_device("cuda"), CPU)]
        for learner, state, rows in zip(crossed, kept, told, strict=True):
            learner.restore(*state)
            rows += [learner.step(sample) for _ in range(2)]
    for step, (one, two) in enumerate(zip(*told, strict=True)):
        assert one is not None
        assert two is not None
        for name in ("policy_loss", "value_loss", "gradient_norm"):
            # Muon makes directions that hardly matter as large as all others, and with them what was rounded.
            assert two[name] == pytest.approx(one[name], rel=0.02 if step == 0 else 0.3, abs=0.02), (step, name)


@pytest.mark.gpu
def test_a_sample_on_its_way_is_the_sample() -> None:
    sample = batch_of()
    part = sent(sample, torch_device("cuda"))
    assert isinstance(part, DeviceSample)
    assert part.mass == pytest.approx(sample.weight.sum())
    for mine, right in zip(part, sample, strict=False):
        assert mine.is_cuda
        assert np.array_equal(mine.cpu().numpy(), right)


@pytest.mark.gpu
def test_a_gpu_learns_in_bfloat16() -> None:
    """The loss on one batch falls."""
    sample = batch_of()
    with Workers(1) as workers:
        learner = Learner(tiny(), TrainingSettings(learning_rate=0.01), workers, torch_device("cuda"))
        assert learner.autocast
        losses = [learner.step(sample)["policy_loss"] for _ in range(60)]  # type: ignore[index]
    assert losses[-1] < losses[0]
    assert learner.unseen(sample)["fresh_policy_loss"] < losses[0]


def test_boards_of_several_sizes_on_a_device(device: str, tmp_path: Path) -> None:
    """Each has its own evaluator, which keeps its graphs when new weights come."""
    net, listener = run(
        tmp_path, 8, GoEnv(4, komi=0.5), device=device, sizes=((3, 0.5), (4, 0.5)), gate=Gate(games=2, readouts=2),
        ckp_freq=4,
    )  # fmt: skip
    assert listener.last["games"] >= 8
    assert any(note.startswith("candidate") for note in listener.notes)
    assert net.env == GoEnv(4, komi=0.5)
