"""A run that goes on from its folder: as if nothing had happened, with other settings, or not at all."""

import errno
import hashlib
import json
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alphago.env.go import GoEnv
from alphago.mcts.search import SearchSettings
from alphago.nn.base import ResidualTower
from alphago.nn.net import NeuralNet, load_model
from alphago.records.record import load_records
from alphago.training.group import Group
from alphago.training.history import read_history
from alphago.training.judges.proof import Examiner, Opponent
from alphago.training.memory import ReplayMemory, Sample
from alphago.training.session import train
from examples.tic_tac_toe import TicTacToeEnv
from tests.training.small_runs import GO, TINY, Killed, Listener, go_on, run, run_killed, same, save_always


def nadam(parameters: Any, learning_rate: float, weight_decay: float) -> torch.optim.Optimizer:
    """An optimizer of one's own."""
    return torch.optim.NAdam(parameters, lr=learning_rate, weight_decay=weight_decay)


STAGES = {"curriculum": ((2, 0.3),)}
TIMES = ("seconds", "processor_seconds", "moves_per_second", "readouts_per_second")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, NeuralNet, Listener]:
    """A run on two boards that nothing happens to."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    return folder, *run(folder, **STAGES)


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was killed late."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    run_killed(folder, 60, **STAGES)
    return folder


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(killed_once, tmp_path / "run"))


def told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of metrics without what differs from machine to machine."""
    return [
        {name: value for name, value in row.items() if name not in TIMES and not name.endswith("_share")}
        for row in rows
    ]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestExact:
    """On a CPU, to the last bit."""

    @pytest.mark.parametrize("saves", [1, 9, 30, 55, 60])
    def test_after_any_checkpoint(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener], saves: int
    ) -> None:
        """Before any move, and before any gradient step."""
        folder, net, listener = undisturbed
        run_killed(tmp_path, saves, **STAGES)
        again, _ = run(tmp_path, **STAGES)
        assert same(again, net)
        rows = [dict(row) for row in read_history(tmp_path).metrics]
        assert [row["iteration"] for row in rows] == list(range(1, len(listener.rows) + 1))
        assert [row["games"] for row in rows] == [row["games"] for row in listener.rows]
        names = sorted(path.name for path in (folder / "games").iterdir())
        games = [record for name in names for record in load_records(folder / "games" / name)]
        replayed = [r for path in sorted((tmp_path / "games").iterdir()) for r in load_records(path)]
        assert [record.seed for record in replayed] == [record.seed for record in games]
        assert all(np.array_equal(a.policies, b.policies) for a, b in zip(games, replayed, strict=True))

    def test_checkpoints_change_nothing(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save_always(monkeypatch)
        net, listener = run(tmp_path, **STAGES)
        assert same(net, undisturbed[1])
        assert told(listener.rows) == told(undisturbed[2].rows)

    def test_the_next_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is drawn after the checkpoint is what an undisturbed run draws then, prefetched batches included."""
        drawn: list[str] = []
        sample = ReplayMemory.sample

        def kept(*arguments: Any, **options: Any) -> Sample:
            found = sample(*arguments, **options)
            drawn.append(hashlib.blake2b(b"".join(array.tobytes() for array in found)).hexdigest())
            return found

        monkeypatch.setattr(ReplayMemory, "sample", kept)
        run(tmp_path / "whole")
        whole, drawn[:] = drawn[:], []
        assert len(whole) > 20
        run_killed(tmp_path / "killed", 60)
        before, drawn[:] = drawn[:], []
        assert before == whole[: len(before)]
        run(tmp_path / "killed")
        assert 5 < len(drawn) < len(whole)
        assert drawn == whole[-len(drawn) :]

    @pytest.mark.parametrize("step", [1, 33])
    def test_an_interrupt_within_an_iteration(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener], monkeypatch: pytest.MonkeyPatch, step: int
    ) -> None:
        steps: list[Group] = []
        play = Group.step

        def interrupted(group: Group) -> bool:
            steps.append(group)
            if len(steps) == step:
                os.kill(os.getpid(), signal.SIGINT)
            return play(group)

        with monkeypatch.context() as patch:
            patch.setattr(Group, "step", interrupted)
            _, listener = run(tmp_path, **STAGES)
        assert listener.stopped
        assert len(listener.rows) < len(undisturbed[2].rows)
        assert same(run(tmp_path, **STAGES)[0], undisturbed[1])

    def test_interrupts_between_iterations(self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        """After each of them, until it is over."""
        rows: list[dict[str, Any]] = []
        for _ in range(100):
            listener = Listener(lambda _: os.kill(os.getpid(), signal.SIGINT))
            net = train(GO, 16, folder=tmp_path, reports=[listener], **TINY, **STAGES)
            rows += listener.rows
            if not listener.stopped:
                break
        assert same(net, undisturbed[1])
        assert told(rows) == told(undisturbed[2].rows)

    @pytest.mark.parametrize(
        "settings",
        [
            {"tower_height": 1, "weight_averaging": 0.9},
            {"search": SearchSettings()},
            {"search": {"considered": 2}},  # of the usual search
            {"first_games_in_flight": 1},
        ],
    )
    def test_batch_norm_and_searches(self, tmp_path: Path, settings: dict[str, Any]) -> None:
        """The network that learns and its statistics, not only the averaged one that plays; and trees that last."""
        net, _ = run(tmp_path / "whole", 10, **settings)
        run_killed(tmp_path / "killed", 20, num_games=10, **settings)
        assert same(go_on(tmp_path / "killed")[0], net)

    def test_a_network_of_ones_own(self, tmp_path: Path) -> None:
        def model() -> NeuralNet:
            torch.manual_seed(4)
            base = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16 * 9, 8), torch.nn.Tanh())
            return NeuralNet(
                GO, base, torch.nn.Sequential(torch.nn.Linear(8, 1), torch.nn.Tanh()), torch.nn.Linear(8, 10)
            )

        settings = {name: value for name, value in TINY.items() if name not in ("tower_height", "channels")}
        whole = train(GO, 8, model=model(), folder=tmp_path / "whole", reports=[], **settings)
        stop = Listener(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 3 else None)
        train(GO, 8, model=model(), folder=tmp_path / "cut", reports=[stop], **settings)
        with pytest.raises(ValueError, match=r"has a network of its own parts .*: pass one like it as model="):
            go_on(tmp_path / "cut")
        mine = model()
        assert train(GO, 8, model=mine, folder=tmp_path / "cut", reports=[], **settings) is mine
        assert same(mine, whole)

    @pytest.mark.parametrize("optimizer", ["adamw", "sgd", nadam], ids=["adamw", "sgd", "own"])
    def test_other_optimizers_losses_and_parts(self, tmp_path: Path, optimizer: Any) -> None:
        """The config says what they are; only a function has to be passed again, as it was."""

        def model() -> NeuralNet:
            torch.manual_seed(4)
            return NeuralNet(GO, ResidualTower(GO.planes, 8, 2, pooled=True, block="preactivation", activation="elu"))

        settings = {name: value for name, value in TINY.items() if name not in ("tower_height", "channels")}
        settings |= {
            "optimizer": optimizer, "losses": "alphago-zero", "schedule": ((0.5, 0.1),), "gradient_norm": 1.0,
            "bfloat16": False,
        }  # fmt: skip
        whole = train(GO, 8, model=model(), folder=tmp_path / "whole", reports=[], **settings)
        stop = Listener(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 3 else None)
        train(GO, 8, model=model(), folder=tmp_path / "cut", reports=[stop], **settings)
        assert stop.stopped
        own = {"optimizer": optimizer} if callable(optimizer) else {}
        refused = "has optimizer '(adamw|sgd)', now 'muon' came"
        if own:
            refused = r"has an optimizer of its own, .*nadam: pass it as optimizer="
            with pytest.raises(ValueError, match=refused):
                go_on(tmp_path / "cut")
        with pytest.raises(ValueError, match=refused):
            go_on(tmp_path / "cut", optimizer="muon")
        net, listener = go_on(tmp_path / "cut", **own)
        assert same(net, whole)
        assert net.config == whole.config
        assert listener.settings == stop.settings
        assert load_model(tmp_path / "cut").config == whole.config

    def test_a_game_in_plain_python(self, tmp_path: Path) -> None:
        env = TicTacToeEnv()
        net = train(env, 12, folder=tmp_path / "whole", reports=[], **TINY)
        stop = Listener(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 2 else None)
        train(env, 12, folder=tmp_path / "cut", reports=[stop], **TINY)
        assert same(train(env, folder=tmp_path / "cut", reports=[]), net)


class TestOver:
    def test_nothing_happens_to_a_run_that_is_over(
        self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener]
    ) -> None:
        folder = Path(shutil.copytree(undisturbed[0], tmp_path / "run"))
        before = files(folder)
        net, listener = go_on(folder)
        assert same(net, undisturbed[1])
        assert "this run was over after 16 games" in listener.notes[-1]
        assert listener.last["games"] == 16
        assert (listener.rows, listener.stopped) == ([], False)
        assert files(folder) == before

    def test_more_games(self, tmp_path: Path, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        """Idle places are filled again; the curriculum does not turn back, though progress does."""
        folder = Path(shutil.copytree(undisturbed[0], tmp_path / "run"))
        _, listener = go_on(folder, 24)
        assert listener.last["games"] == 24
        assert {row["board_size"] for row in listener.rows} == {3}
        assert "num_games is 24 from now on, not 16" in listener.notes
        seeds = [record.seed for path in (folder / "games").iterdir() for record in load_records(path)]
        assert len(set(seeds)) == len(seeds) == 24

    def test_more_minutes(self, tmp_path: Path) -> None:
        """The clock goes on, and the learning rate is that of the longer run."""
        settings = {"num_games": 100_000, "max_minutes": 0.02, "learning_rate": 1e-3}
        _, first = run(tmp_path, **settings)
        assert run(tmp_path, **settings)[1].rows == []
        _, second = go_on(tmp_path, max_minutes=0.12)  # long beside an iteration on any machine
        assert second.rows[0]["seconds"] > 1.2 > first.rows[0]["seconds"]  # an iteration that time cuts has no row yet
        assert second.rows[0]["iteration"] == first.last["iteration"] + 1
        assert second.rows[0]["learning_rate"] > first.last["learning_rate"]


class TestChanges:
    @pytest.mark.parametrize(
        ("env", "changed", "sentence"),
        [
            (GO.replace(komi=1.5), {}, "has komi 0.5, now 1.5 came"),
            (GoEnv(4, komi=0.5), {}, "has board_size 3, now 4 came"),
            (TicTacToeEnv(), {}, "has game 'go', now 'tic-tac-toe' came"),
            (GO, {"tower_height": 2}, "has tower_height 0, now 2 came"),
            (GO, {"preset": "7x7"}, "has tower_height 0, now 4 came"),
            (GO, {"model": NeuralNet(GO, tower_height=0, channels=4)}, "has channels 8, now 4 came"),
            (GO, {"seed": 4}, "has seed 0, now 4 came"),
            (GO, {"groups": 1}, "has groups 2, now 1 came"),
            (GO, {"games_in_flight": 8}, "has games_in_flight 4, now 8 came"),
            (GO, {"curriculum": ()}, r"has curriculum \(\(2, 0.3\),\), now \(\) came"),
            (GO, {"optimizer": "sgd"}, "has optimizer 'muon', now 'sgd' came"),
            (GO, {"optimizer": nadam}, r"has optimizer 'muon', now '.*\.nadam' came"),
            (GO, {"exact_rules": True}, "has exact_rules False, now True came"),
            (GO, {"batch_size": 0}, "batch_size must be an integer >= 1, got 0"),
            (GO, {"until": "nobody"}, "no player is called 'nobody'"),
            (GO, {"num_games": None}, "a run ends by num_games or by max_minutes, both came as None"),
            (GO, {"readouts": None}, "readouts has to have a value, got None"),
            (GO, {"seed": None}, "seed has to have a value, got None"),
        ],
        ids=lambda value: str(value).replace(hex(id(nadam)), "here"),
    )
    def test_what_cannot(self, killed: Path, env: Any, changed: dict[str, Any], sentence: str) -> None:
        """Both values are named, and nothing is touched."""
        before = files(killed)
        with pytest.raises(ValueError, match=sentence):
            go_on(killed, env=env, **changed)
        assert files(killed) == before

    def test_an_unknown_keyword(self, killed: Path) -> None:
        with pytest.raises(TypeError, match="train has no keyword 'batchsize': did you mean batch_size"):
            go_on(killed, batchsize=3)

    def test_what_can(self, killed: Path) -> None:
        """It is told, kept in the config, and lasts."""
        _, listener = go_on(killed, learning_rate=0.5, readouts=2, num_games=24, losses="cody2007")
        assert {row["readouts"] for row in listener.rows[1:]} == {2}
        assert listener.notes[:2] == ["num_games is 24 from now on, not 16", "readouts is 2 from now on, not 4"]
        assert listener.settings["learning_rate"] == 0.5
        config = json.loads((killed / "config.json").read_text())
        assert config["settings"]["readouts"] == 2
        changes = {change["setting"]: (change["was"], change["now"]) for change in config["changes"]}
        before, now = changes.pop("losses")
        assert (before["value"], now["value"], config["settings"]["losses"]) == (1.0, 0.025, now)
        assert changes == {"num_games": (16, 24), "readouts": (4, 2), "learning_rate": (0.002, 0.5)}
        assert all(0 < change["games"] <= 16 for change in config["changes"])
        assert go_on(killed)[1].settings == listener.settings

    def test_what_is_not_said_is_as_before(self, killed: Path, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        net, listener = go_on(killed)
        assert same(net, undisturbed[1])
        assert listener.settings == undisturbed[2].settings
        assert json.loads((killed / "config.json").read_text())["changes"] == []

    def test_what_is_taken_off(self, tmp_path: Path) -> None:
        """None is said; it lasts, and what a run chose by itself stays chosen."""
        settings = {
            "max_minutes": 60.0, "gate": 0.55, "until": Opponent("random", 0, 1e9, most_games=20),
            "resign_threshold": -0.5, "first_readouts": 2, "search": {"c_scale": 0.5}, "gradient_norm": 1.0,
            "bfloat16": False,
        }  # fmt: skip
        run(tmp_path, 8, **settings)
        off = dict.fromkeys(settings)
        for _ in range(2):
            _, listener = go_on(tmp_path, 12, groups=None, games_in_flight=None, **off)
            assert {name: listener.settings[name] for name in settings if name != "until"} == {
                name: None for name in settings if name != "until"
            }
            assert (listener.settings["groups"], listener.settings["games_in_flight"]) == (2, 4)
        config = json.loads((tmp_path / "config.json").read_text())
        assert config["until"] is None
        changes = {change["setting"]: (change["was"], change["now"]) for change in config["changes"]}
        assert set(changes) == {*settings, "num_games"}
        assert changes["resign_threshold"] == (-0.5, None)
        assert (changes["gate"][0]["win_rate"], changes["gate"][1]) == (0.55, None)
        _, listener = go_on(tmp_path, 16)
        assert listener.settings["gate"] is None
        assert listener.last["games"] == 16

    def test_from_games_to_the_clock_and_back(self, tmp_path: Path) -> None:
        run(tmp_path, 8)
        _, listener = go_on(tmp_path, None, max_minutes=0.02)
        assert "num_games is None from now on, not 8" in listener.notes
        games = listener.last["games"]
        assert games >= 8  # on a slow machine the time is over already
        with pytest.raises(ValueError, match="a run ends by num_games or by max_minutes, both came as None"):
            go_on(tmp_path, max_minutes=None)
        _, listener = go_on(tmp_path, games + 4, max_minutes=None)
        assert listener.last["games"] == games + 4

    def test_a_part_of_what_is_made_of_settings(self, tmp_path: Path) -> None:
        """A dictionary leaves what it does not name as it was."""
        run(tmp_path, 2, losses={"value": 0.5}, search={"c_scale": 0.5}, gate={"win_rate": 0.6, "games": 2})
        _, listener = go_on(tmp_path, losses={"l2": 0.25}, search={"c_visit": 9.0}, gate={"games": 4})
        settings = listener.settings
        assert (settings["losses"]["value"], settings["losses"]["l2"]) == (0.5, 0.25)
        assert settings["search"] == {"c_scale": 0.5, "c_visit": 9.0}
        assert (settings["gate"]["win_rate"], settings["gate"]["games"]) == (0.6, 4)
        with pytest.raises(TypeError, match="LossWeights has no keyword 'valu': did you mean value"):
            go_on(tmp_path, losses={"valu": 1.0})


class TestExaminations:
    def test_their_schedule_goes_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """None is lost or made twice, and a new opponent has a schedule of its own."""
        seen: list[tuple[int, int]] = []

        def examined(examiner: Examiner, net: NeuralNet, seconds: float, games: int, stop: threading.Event) -> bool:
            seen.append((examiner.opponent.readouts, examiner.examinations))
            examiner.examinations += 1
            examiner.next_at = seconds + 1e9
            return False

        monkeypatch.setattr(Examiner, "examine", examined)
        opponent = Opponent("random", first=0.0)
        stop = Listener(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 3 else None)
        train(GO, 16, folder=tmp_path, reports=[stop], until=opponent, **TINY)
        assert seen == [(64, 0)]
        config = json.loads((tmp_path / "config.json").read_text())
        assert Opponent(**config["until"]) == opponent
        _, listener = go_on(tmp_path, until=Opponent("random", 32, first=0.0))
        assert seen == [(64, 0), (32, 1), (32, 2)]  # the last one is the final network's
        assert any(note.startswith("until is Opponent(name='random', readouts=32") for note in listener.notes)

    def test_one_that_was_passed(self, tmp_path: Path) -> None:
        """The run was over, and stays so."""
        opponent = Opponent("random", readouts=16, first=0.0, every=0.01)
        env = GoEnv(3, komi=3.5)
        run(tmp_path, 2000, env, until=opponent)
        rows = read_history(tmp_path).evaluations
        assert rows[-1]["sprt"] == "accept"
        _, listener = go_on(tmp_path, env=env)
        assert listener.rows == []
        assert "with a proof" in listener.notes[-1]
        assert read_history(tmp_path).evaluations == rows
        games = listener.last["games"]
        _, listener = go_on(tmp_path, games + 4, env=env, until=None)
        assert "this run goes on" in listener.notes[-1]
        assert listener.last["games"] == games + 4


class TestDamage:
    """Files that a disk has spoilt are set aside and named; the run goes on from what is sound."""

    @pytest.mark.parametrize("how", ["cut", "flipped", "empty"])
    def test_the_newest_state(self, killed: Path, undisturbed: tuple[Path, NeuralNet, Listener], how: str) -> None:
        path = sorted((killed / "state").iterdir())[-1]
        spoil(path, how)
        net, listener = go_on(killed)
        assert f"{path} is damaged" in listener.notes[0]
        assert path.with_name(path.name + ".damaged").exists()
        assert same(net, undisturbed[1])  # from the one before

    def test_both_states(self, killed: Path) -> None:
        for path in (killed / "state").iterdir():
            spoil(path, "flipped")
        with pytest.raises(ValueError, match=r"is damaged .*; .* is damaged .*; .*holds no state to go on from"):
            go_on(killed)
        load_model(killed, GO)

    @pytest.mark.parametrize("how", ["cut", "flipped", "gone"])
    def test_games(self, killed: Path, how: str) -> None:
        """The memory lacks them from now on."""
        path = sorted((killed / "games").iterdir())[-1]
        count = len(load_records(path))
        spoil(path, how)
        _, listener = go_on(killed)
        assert str(path) in listener.notes[0]
        assert f"{count} games of the memory" in listener.notes[0]
        assert path.with_name(path.name + ".damaged").exists() == (how != "gone")
        assert listener.last["games"] == 16
        assert listener.last["memory"] < listener.last["positions"]
        _, again = go_on(killed)
        assert not any("games of the memory" in note for note in again.notes)

    def test_half_a_line_of_metrics(self, killed: Path, undisturbed: tuple[Path, NeuralNet, Listener]) -> None:
        with open(killed / "metrics.jsonl", "a") as file:
            file.write('{"iteration": 99, "seco')
        go_on(killed)
        lines = (killed / "metrics.jsonl").read_text().splitlines()
        assert [json.loads(line)["iteration"] for line in lines] == [r["iteration"] for r in undisturbed[2].rows]


def spoil(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    if how == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": bytes(data[:-20]), "flipped": bytes(data), "empty": b""}[how])


class TestTrouble:
    def test_a_full_disk(
        self, killed: Path, undisturbed: tuple[Path, NeuralNet, Listener], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A sentence, nothing half-written; with room again, the run goes on."""

        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match=r"^the checkpoint could not be written to .*: No space left on device$"):
                go_on(killed)
        assert not [path for path in killed.rglob("*") if path.name.endswith(".part")]
        assert same(go_on(killed)[0], undisturbed[1])

    def test_a_line_that_does_not_fit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Metrics, cut short by a limit on the size of files as by a full disk."""
        resource = pytest.importorskip("resource")
        from alphago.training.history import append_row

        path = tmp_path / "rows.jsonl"
        append_row(path, {"seconds": 1})
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 5, limits[1]))
        try:
            with pytest.raises(OSError):  # noqa: PT011 - which one, the system says
                append_row(path, {"seconds": 2})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before

    def test_somebody_else_trains_there(self, tmp_path: Path) -> None:
        """One process, or one call, at a time; the lock goes with it."""
        told: list[str] = []

        def meanwhile(number: int) -> None:
            with pytest.raises(BlockingIOError) as caught:
                go_on(tmp_path)
            told.append(str(caught.value))

        train(GO, 2, folder=tmp_path, reports=[Listener(meanwhile)], **TINY)
        assert told[0] == f"another process writes to {tmp_path} right now: choose another folder"
        go_on(tmp_path)

    def test_leftovers_of_a_killed_process(self, killed: Path) -> None:
        part = killed / "state" / ".000099.safetensors.0123456789abcdef.part"
        part.write_bytes(b"half")
        go_on(killed)
        assert not part.exists()

    def test_a_run_killed_before_it_had_a_config(self, tmp_path: Path) -> None:
        """The folder is as good as empty; one with a network of the user's own is not."""
        with pytest.raises(Killed):
            kill_at_config(tmp_path / "run")
        assert not (tmp_path / "run" / "config.json").exists()
        assert run(tmp_path / "run", 2)[1].last["games"] == 2
        NeuralNet(GO, tower_height=0, channels=4).save(tmp_path / "weights.safetensors")
        with pytest.raises(FileExistsError, match="is not empty: choose another folder"):
            run(tmp_path)

    def test_threads_end_with_an_error(self, killed: Path) -> None:
        before = threading.active_count()
        with pytest.raises(Killed):
            train(GO, folder=killed, reports=[Listener(fail)])
        assert threading.active_count() == before
        go_on(killed)  # and the lock is free


def fail(_: int) -> None:
    raise Killed


def kill_at_config(folder: Path) -> None:
    from alphago.training.runs.folder import RunFolder

    def killed(*_: Any) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "write_config", killed)
        run(folder, 2)
