"""Workers by name, and what is told where Ray is not installed."""

import os
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, train
from alphago.cli import main
from alphago.nn.threads import Workers
from alphago.system.children import child_environment, python_command
from alphago.training.settings.selfplay_settings import SelfPlaySettings
from alphago.training.workers.remote_selfplay import PLAY_ON_NOTICE, source_by_workers
from alphago.workers import jobs, ray_cluster
from alphago.workers.jobs import find_workers
from alphago.workers.own_workers import OwnWorkers
from alphago.workers.ray_cluster import RayCluster
from tests.training.small_runs import GO


def made_of(make_transport: Any) -> tuple[type, tuple[object, ...]]:
    return make_transport.func, make_transport.args


@pytest.fixture
def _no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)


@pytest.mark.parametrize(("groups", "max_lag", "played"), [(63, None, None), (64, None, 1), (64, 0, None), (2, 3, 3)])
def test_runs_of_many_groups_are_asynchronous(
    groups: int, max_lag: int | None, played: int | None, tmp_path: Path
) -> None:
    """Unless the call says otherwise; they say so, and only they."""
    playing = source_by_workers(f"folder:{tmp_path}", max_lag)
    assert playing is not None
    with Workers(1) as threads:
        source = playing(GO, SelfPlaySettings(groups=groups), range(1), threads)
        news = source.news()
        source.close()
    assert source.max_lag == played
    assert (PLAY_ON_NOTICE in news) == (max_lag is None and played is not None)


@pytest.mark.usefixtures("_no_ray")
class TestWithoutRay:
    def test_one_sentence_has_the_line_to_install_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(ImportError, match=r"workers on a cluster need Ray: pip install 'alphago\[ray\]'"):
            train(GO, 1, workers="10.0.0.1:6379", folder=tmp_path / "run")
        assert not (tmp_path / "run").exists()
        assert main(["worker", "10.0.0.1:6379"]) == 2
        assert "pip install 'alphago[ray]'" in capsys.readouterr().err

    def test_a_folder_and_no_cluster_do_without_it(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        assert find_workers("auto") is None
        monkeypatch.setenv("RAY_ADDRESS", "")
        assert find_workers("auto") is None
        with pytest.raises(ValueError, match=r"workers must be a number, auto, .*, got 2.0"):
            find_workers(2.0)
        assert find_workers("folder:x") is not None
        assert made_of(find_workers("2")) == (OwnWorkers, (2,))


def test_the_cluster_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is the one that answers: one that was killed has left its address."""
    monkeypatch.setattr(jobs, "import_ray", lambda: None)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    (tmp_path / "ray").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "ray/ray_current_cluster").write_text(f"{address}\n")
        assert made_of(find_workers("auto")) == (RayCluster, (address,))
        with monkeypatch.context() as as_another:
            as_another.setattr(os, "geteuid", lambda: 12_345)
            as_another.setattr(ray_cluster, "ROOT", 54_321)
            assert find_workers("auto") is None, "another user has left the address"
    assert find_workers("auto") is None
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert made_of(find_workers("auto")) == (RayCluster, ("10.0.0.1:6379",))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:x", "127.0.0.1:70000"])
def test_where_nothing_answers(address: str) -> None:
    with pytest.raises(ValueError, match=f"a Ray cluster must answer at {address}: "):
        ray_cluster.check_reachable(address)
    with pytest.raises(ValueError, match="a Ray cluster's address must be HOST:PORT, got here"):
        ray_cluster.check_reachable("here")


def test_the_cause_in_a_log_of_ray() -> None:
    log = "Traceback\n  File x\nray.exceptions.RpcError: no\n  File y\nRuntimeError: Version mismatch:\n  Ray: 2.60.0\n"
    assert ray_cluster.last_exception(log) == "RuntimeError: Version mismatch:\n  Ray: 2.60.0"
    assert ray_cluster.last_exception("x" * 700) == "x" * 600


def test_workers_that_end_before_they_begin() -> None:
    """They are not started for ever."""
    workers = OwnWorkers(1)
    workers.command = "-c", ""

    def go_on() -> None:
        while True:
            workers.workers()
            time.sleep(0.01)

    with closing(workers), pytest.raises(ChildProcessError, match=r"3 processes of workers have .* with code 0 "):
        go_on()


FORKS = """
import multiprocessing, time
from alphago.system.children import exit_when_input_ends
exit_when_input_ends()
time.sleep(0.2)
child = multiprocessing.get_context("fork").Process(target=int)
child.start()
child.join(20)
print(child.exitcode, flush=True)
child.kill()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork")
def test_processes_that_a_worker_forks_end() -> None:
    """They close the standard input, which the worker reads."""
    pipe = subprocess.PIPE
    with subprocess.Popen(python_command("-c", FORKS), env=child_environment(), stdin=pipe, stdout=pipe) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"0\n"


def test_a_game_that_workers_cannot_import() -> None:
    class Own(GoEnv):
        """A game within a function."""

    with pytest.raises(
        ValueError, match=r"its class must be a module's, got tests.workers.test_find_workers:test_a_game"
    ):
        OwnWorkers(1, Own(3))
