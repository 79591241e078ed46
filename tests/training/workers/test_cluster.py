"""Runs on several processes, of which some are killed: `make cluster`; the tests of Ray are left out without it."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, NeuralNet
from alphago.training.workers.remote_selfplay import source_by_workers
from alphago.workers.jobs import MOST_ENDS
from alphago.workers.ray_cluster import RAY_COMMAND, RAY_SETTINGS, TOKEN, TOKEN_PATH, import_ray
from alphago.workers.shared_folder import TASKS, WORKERS, list_folder
from tests.training.small_runs import EXACT, Listener, Sources, games_in, interrupt_at, run, same

pytestmark = pytest.mark.cluster

FIVE = GoEnv(5, komi=0.5)
GAMES = 24
SETTINGS: dict[str, Any] = {**EXACT, "groups": 3, "learner_threads": 2, "games_in_flight": 9}
SETTINGS |= {"readouts": 16, "tower_height": 1, "channels": 8}
ALPHAGO = [sys.executable, "-m", "alphago"]
LIMIT = 300.0  # seconds after which something hangs


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> NeuralNet:
    """The network of the run that this process plays and learns."""
    return run(tmp_path_factory.mktemp("alone"), GAMES, FIVE, **SETTINGS)[0]


@contextmanager
def meanwhile(act: Callable[[threading.Event], object]) -> Iterator[None]:
    """Let a thread act until the block ends."""
    over = threading.Event()
    thread = threading.Thread(target=act, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def folder_worker(shared: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*ALPHAGO, "worker", "--folder", str(shared), "--cores", "1"])


def playing(shared: Path) -> list[int]:
    """Return the processes of the workers that have a task."""
    busy = [folder.name for folder in list_folder(shared / WORKERS) if list_folder(folder / TASKS)]
    return [int(name.split("-")[-2]) for name in busy]


class TestFolder:
    def test_workers_that_are_killed_and_come(self, tmp_path: Path, alone: NeuralNet) -> None:
        """One stays; another is killed as soon as it has a task, or leaves, and a new one comes."""
        shared, deaths = tmp_path / "shared", []

        def act(over: threading.Event) -> None:
            stays = folder_worker(shared)
            while not over.is_set():
                comes = folder_worker(shared)
                while comes.pid not in playing(shared) and not over.wait(0.02):
                    pass
                comes.send_signal(signal.SIGKILL if len(deaths) % 2 == 0 else signal.SIGTERM)
                deaths.append(comes.wait())
            stays.terminate()
            assert stays.wait() == 128 + signal.SIGTERM

        with meanwhile(act):
            net, listener = run(tmp_path / "run", GAMES, FIVE, workers=f"folder:{shared}", **SETTINGS)
        assert same(net, alone)
        assert {-signal.SIGKILL, 128 + signal.SIGTERM} <= set(deaths)
        assert listener.noted("has gone")

    def test_a_driver_that_is_killed(self, tmp_path: Path, alone: NeuralNet, request: pytest.FixtureRequest) -> None:
        """Every game is counted once, and the run ends as if nothing had been; the last worker is another one."""
        shared, folder, deaths = tmp_path / "shared", tmp_path / "run", 0
        words = ["train", "--board-size", "5", "--komi", "0.5", "--folder", str(folder)]
        words += ["--workers", f"folder:{shared}"]
        run(folder, GAMES, FIVE, report=interrupt_at(1), **SETTINGS)
        worker = folder_worker(shared)
        request.addfinalizer(worker.wait)
        request.addfinalizer(worker.terminate)  # which is called first
        while deaths < 3:
            driver = subprocess.Popen([*ALPHAGO, *words])
            while not playing(shared) and driver.poll() is None:
                time.sleep(0.02)
            deaths += driver.poll() is None
            driver.kill()
            driver.wait()
        net, _ = run(folder, GAMES, FIVE, workers=f"folder:{shared}", **SETTINGS)
        assert same(net, alone)
        assert sorted(game.seed[1] for game in games_in(folder) if game.seed) == list(range(GAMES))


def test_own_workers_that_are_killed(tmp_path: Path, alone: NeuralNet) -> None:
    """Each time that one has a task; others come in their place."""
    source, killed = Sources(source_by_workers(2)), list[int]()

    def act(over: threading.Event) -> None:
        while len(killed) < MOST_ENDS - 1 and not over.wait(0.1):
            if source.made and (busy := playing(source.made[-1].pool.transport.path)):
                with suppress(ProcessLookupError):  # it may have ended meanwhile
                    os.kill(busy[0], signal.SIGKILL)
                    killed.append(busy[0])

    with meanwhile(act):
        net, listener = run(tmp_path, GAMES, FIVE, source=source, **SETTINGS)
    assert same(net, alone)
    assert killed
    assert listener.noted("has gone")


@contextmanager
def head(cores: int, made: "list[subprocess.Popen[bytes]] | None" = None, **environment: str) -> Iterator[str]:
    """A Ray cluster of one node; yields its address, and puts its process into `made`."""
    port = 20000 + os.getpid() % 20000
    command = [sys.executable, "-c", RAY_COMMAND, "start", "--head"]
    more = [f"--port={port}", f"--num-cpus={cores}", "--block", "--include-dashboard=false", "--disable-usage-stats"]
    settings = {**os.environ, **RAY_SETTINGS, **environment}
    made = [] if made is None else made
    with tempfile.TemporaryFile("w+") as log:
        made.append(subprocess.Popen([*command, *more], start_new_session=True, env=settings, stdout=log, stderr=log))
        try:
            wait_until(lambda: log.seek(0) == 0 and "Ray runtime started" in log.read())
            yield f"127.0.0.1:{port}"
        finally:
            made[-1].terminate()
            made[-1].wait(LIMIT)


def below(pid: int) -> list[Any]:
    """Return the processes that a process has begun, directly or not."""
    import psutil  # which comes with Ray

    return list(psutil.Process(pid).children(recursive=True))


class Joined(Listener):
    """Has a machine join the run's cluster after the first iteration, and does something to it after another one."""

    def __init__(self, address: str, iteration: int, act: Callable[["subprocess.Popen[bytes]"], object]) -> None:
        super().__init__(self.come_and_go)
        self.address, self.number, self.act = address, iteration, act
        self.source = Sources(source_by_workers(address))

    def come_and_go(self, iteration: int) -> None:
        if iteration == 1:
            self.machine = subprocess.Popen([*ALPHAGO, "worker", self.address, "--cores", "1"])
            wait_until(self.has_come)
        elif iteration == self.number:
            self.act(self.machine)

    def has_come(self) -> bool:
        self.notes += self.source.made[-1].news()
        return sum("has come" in note for note in self.notes) == 2


def training(until: str, *words: str) -> "subprocess.Popen[str]":
    """Return a process that trains on 5x5, once it has written a text."""
    command = [*ALPHAGO, "train", "--board-size", "5", "--komi", "0.5", *words]
    train = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert train.stderr is not None
    while until not in train.stderr.readline():
        assert train.poll() is None
    return train


def wait_until(is_so: Callable[[], object], seconds: float = LIMIT) -> None:
    """Wait until something is so; fail if it takes too long."""
    last = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < last
        time.sleep(0.05)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
class TestRay:
    @pytest.mark.parametrize("cut_off", [False, True])
    def test_a_machine_that_joins_and_goes(self, tmp_path: Path, alone: NeuralNet, *, cut_off: bool) -> None:
        """It leaves, or is cut off, as by its network: its processes stop, and answer no more.

        The run goes on without it, and in the end without the cluster.
        """

        def go(machine: "subprocess.Popen[bytes]") -> None:
            if cut_off:
                for process in below(machine.pid):
                    process.suspend()
            else:
                machine.terminate()
                assert machine.wait(LIMIT) == 128 + signal.SIGTERM

        with head(1) as address:
            watching = Joined(address, 2, go)
            try:
                run(tmp_path, GAMES, FIVE, source=watching.source, report=watching, stop_after=4, **SETTINGS)
            finally:
                for stopped in below(watching.machine.pid) if cut_off else ():
                    stopped.kill()
                watching.machine.wait(LIMIT)
        assert cut_off or watching.noted("has gone")
        assert same(run(tmp_path, GAMES, FIVE, **SETTINGS)[0], alone)

    def test_a_machine_low_on_memory(self, tmp_path: Path) -> None:
        """Ray ends its workers there, and the run says why."""
        small = {"RAY_memory_usage_threshold": "0.01", "RAY_memory_monitor_refresh_ms": "100"}
        words = ["--games", "9", "--groups", "1", "--folder", str(tmp_path / "run"), "--workers"]
        with head(1, **small) as address:
            train = training("has gone: Ray has ended it, as its machine is low on memory", *words, address)
            train.terminate()
            train.communicate(timeout=LIMIT)

    def test_a_machine_without_the_token(self, tmp_path: Path) -> None:
        """It is told so within seconds, whatever it is to do, and also where it has another cluster's."""
        nothing = {"HOME": str(tmp_path), "RAY_AUTH_MODE": "token"}
        another, off = {**nothing, TOKEN: "1" * 64}, {**nothing, "RAY_AUTH_MODE": "disabled"}
        no_file = {**nothing, TOKEN_PATH: str(tmp_path / "token")}
        train = ["train", "--board-size", "5", "--games", "1", "--folder", str(tmp_path / "run"), "--workers"]
        with head(1, RAY_AUTH_MODE="token", **{TOKEN: "0" * 64}) as address:
            commands = [(["worker", address], one) for one in (nothing, another, off, no_file)]
            for words, environment in [*commands, ([*train, address], another), ([*train, "auto"], off)]:
                settings = {**os.environ, "RAY_ADDRESS": address, **environment}
                told = subprocess.run([*ALPHAGO, *words], env=settings, capture_output=True, text=True, timeout=LIMIT)
                assert f"the Ray cluster at {address} wants its token, which is not here: copy" in told.stderr
                assert (told.returncode, "gcs_client" in told.stderr) == (2, False)

    def test_the_head_dies(self, tmp_path: Path, alone: NeuralNet) -> None:
        """Ray ends the run, which goes on without the cluster."""
        made: list[subprocess.Popen[bytes]] = []
        run(tmp_path, GAMES, FIVE, report=interrupt_at(1), **SETTINGS)
        with head(2, made) as address:
            import_ray()
            train = training("has come", "--folder", str(tmp_path), "--workers", address)
            os.killpg(made[0].pid, signal.SIGKILL)  # the head and all that it has started
            train.communicate(timeout=LIMIT)
        assert train.returncode != 0
        assert same(run(tmp_path, GAMES, FIVE, **SETTINGS)[0], alone)
