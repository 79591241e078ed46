"""Ray as Transport: an actor on each node of a cluster.  Only this file knows Ray."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from alphago.env.game import GameEnv
from alphago.env.games import GAMES, is_packaged
from alphago.system.children import python_command, start_child
from alphago.system.kernels.private_folder import ROOT
from alphago.system.optional import optional_import
from alphago.workers.work import HAS_LEFT, KEPT_WORKS, JobAnswer, WorkBench

NEED = "workers on a cluster need Ray: pip install 'alphago[ray]' (or let them share a folder: folder:PATH)"
# Environment variables, to be set before Ray starts.  Without them its workers would run at nice 15, it would send
# usage statistics, and it would give up within seconds on a busy machine.
RAY_SETTINGS = {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "120"}
TOKEN, TOKEN_PATH = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"  # environment variables
RAY_COMMAND = "from ray.scripts.scripts import main; main()"  # what the command `ray` runs
# A program that connects to a cluster; no public function of Ray does only that.
CONNECT = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
PATIENCE = 5.0  # longest time in seconds for a cluster to answer
LOOK_INTERVAL = 0.5  # seconds between two looks for nodes
POLL = 0.02  # seconds to wait for answers
# Environment variable: seconds without the cluster's head after which Ray ends its process; 60 by default.
HEAD_PATIENCE_VARIABLE = "RAY_gcs_rpc_server_reconnect_timeout_s"


def import_ray() -> Any:
    """Import Ray with our settings; raise ImportError with the command that installs it."""
    for name, value in RAY_SETTINGS.items():
        os.environ.setdefault(name, value)
    has_token = bool({TOKEN, TOKEN_PATH} & os.environ.keys()) or Path("~/.ray/auth_token").expanduser().exists()
    if has_token and "ray" not in sys.modules:  # Ray reads the mode only when it is imported
        # By default, Ray sends the token only to clusters on this machine.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    return optional_import("ray", NEED)


class NodePlayer:
    """The actor that runs on a node; several threads call its methods.

    Args:
        games: classes of games that do not come with the package, by name.
    """

    def __init__(self, games: dict[str, type[GameEnv]]) -> None:
        GAMES.update(games)
        self.works: dict[str, bytes] = {}
        self.bench = WorkBench(lambda name: self.works[name])

    def ready(self) -> None:
        """Return once the actor has started."""

    def play(self, work: str, data: bytes, job: bytes) -> tuple[str, bytes]:
        """Do a job; return the kind and the data of its JobAnswer.

        Args:
            work: the name of its work.
            data: the bytes of the work.
            job: the job as bytes.
        """
        self.works[work] = data
        for old in [*self.works][:-KEPT_WORKS]:  # the latest stay, since another thread may be about to read them
            self.works.pop(old, None)
        # The event is never set: to end a job, `RayCluster` ends the whole actor.
        return self.bench.do(work, read_job=lambda: job, stop=threading.Event())


class Member(NamedTuple):
    """An actor of the run.

    Attributes:
        node: the id of its node.
        cores: number of its tasks at the same time.
        actor: Ray's handle of the NodePlayer.
        ready: Ray's reference to the result of `NodePlayer.ready`, which is there once the actor has started.
    """

    node: str
    cores: int
    actor: Any
    ready: Any


class RayCluster:
    """A Transport to actors of Ray, one on each node of a cluster; Ray ends this process if the cluster's head ends.

    Args:
        address: the cluster's, such as "10.0.0.1:6379".
        env: the run's game; None if workers need no game.

    Raises:
        ImportError: if Ray is not installed.
        ValueError: if there is no cluster at the address.
    """

    is_own = False

    def __init__(self, address: str, env: GameEnv | None = None) -> None:
        os.environ.setdefault(HEAD_PATIENCE_VARIABLE, "10")  # seconds that Ray waits for a head that does not answer
        self.ray, self.address = import_ray(), address
        check_token(address)
        before = signal.getsignal(signal.SIGTERM)  # the handler that ends and saves a run, which Ray replaces
        try:
            self.ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray raises errors of many classes
            raise ValueError(f"workers must name a Ray cluster that runs, got {address}: {error}") from error
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
        self.head = self.ray.get_runtime_context().gcs_address
        # Otherwise the head would keep 5 KB of events for each of up to 100 000 calls, for Ray's dashboard.
        self.actor = self.ray.remote(enable_task_events=False)(NodePlayer)
        # The classes of games that the nodes do not have, by name.
        self.games = {} if env is None or is_packaged(type(env)) else {env.name: type(env)}
        self.members: dict[str, Member] = {}  # by worker
        self.gone: dict[str, str] = {}  # by worker that is gone: the reason
        self.worker_numbers = itertools.count(1)  # for the workers' names
        self.references: dict[str, Any] = {}  # Ray's references to works, by name
        self.pending: dict[Any, tuple[str, str]] = {}  # by Ray's reference to an answer: the job's worker and key
        self.looked_at = 0.0  # when `workers` last looked for nodes

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        """Put a work into the cluster's memory, and drop all others but those named in `keep`."""
        kept = {old: reference for old, reference in self.references.items() if old in keep}
        self.references = {**kept, name: self.ray.put(data)}

    def workers(self) -> dict[str, int]:
        """Return the cores of each ready worker, by name; look for nodes at most every LOOK_INTERVAL seconds."""
        if time.monotonic() - self.looked_at >= LOOK_INTERVAL:
            self.looked_at = time.monotonic()
            live = [node for node in self.ray.nodes() if node["Alive"]]
            cores_of = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in live}
            for name in [name for name, member in self.members.items() if member.node not in cores_of]:
                self._remove(name, HAS_LEFT)  # changes `members`
            taken = {member.node for member in self.members.values()}
            for node in [node for node, cores in cores_of.items() if cores and node not in taken]:
                self._start(node, cores_of[node])
        by_reference = {member.ready: (name, member.cores) for name, member in self.members.items()}
        ready, _ = self.ray.wait(list(by_reference), num_returns=len(by_reference), timeout=0)
        return dict(by_reference[reference] for reference in ready)

    def _start(self, node: str, cores: int) -> None:
        """Start an actor on a node."""
        on_node = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        # One call more than there are cores: that of `ready`.
        options = self.actor.options(num_cpus=cores, max_concurrency=cores + 1, scheduling_strategy=on_node)
        actor = options.remote(self.games)
        self.members[f"{node[:8]}-{next(self.worker_numbers)}"] = Member(node, cores, actor, actor.ready.remote())

    def _remove(self, name: str, why: str) -> None:
        """End a worker, if it has not been removed; another may start on its node.

        Args:
            why: the reason, for `gone`.
        """
        if member := self.members.pop(name, None):
            self.gone[name] = why
            self.ray.kill(member.actor)

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        """Begin the job `key` of a work on a worker, unless the worker is gone; see `Transport.give`."""
        if worker in self.members:
            reference = self.members[worker].actor.play.remote(work, self.references[work], job)
            self.pending[reference] = worker, key

    def answers(self) -> list[JobAnswer]:
        """Return answers that arrive within POLL seconds; remove workers that Ray has lost."""
        if not self.pending:
            time.sleep(POLL)
            return []
        answers = []
        arrived, _ = self.ray.wait(list(self.pending), num_returns=len(self.pending), timeout=POLL)
        for reference in arrived:
            worker, key = self.pending.pop(reference)
            try:
                answers.append(JobAnswer(worker, key, *self.ray.get(reference)))
            except self.ray.exceptions.OutOfMemoryError:
                self._remove(worker, "Ray has ended it, as its machine is low on memory")
            except self.ray.exceptions.RayError as error:
                self._remove(worker, str(error).partition("\n")[0])
        return answers

    def how_to_join(self) -> str:
        cores = self.ray.cluster_resources().get("CPU", 0)
        free = self.ray.available_resources().get("CPU", 0)
        are_free = f"free are {free:g} of the {cores:g} cores of the cluster at {self.address}"
        return f"{are_free}; on each machine to add, start: alphago worker {self.head}"

    def close(self) -> None:
        for member in self.members.values():
            self.ray.kill(member.actor)
        self.ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise ValueError if nothing answers at a cluster's address; Ray itself would wait for long."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError(f"a Ray cluster's address must be HOST:PORT, got {address}")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ValueError(f"a Ray cluster must answer at {address}: {error}") from None


def check_token(address: str) -> None:
    """Raise ValueError if no cluster answers at an address, or if it wants a token that is not on this machine.

    A child process tries to connect: without a token Ray would end this process, with a wrong one it tries for long.
    """
    check_reachable(address)
    attempt = subprocess.run(python_command("-c", CONNECT, address), capture_output=True, text=True, check=False)
    if attempt.returncode and "token" in attempt.stderr:
        raise ValueError(
            f"the Ray cluster at {address} wants its token, which is not here: copy ~/.ray/auth_token of the machine "
            f"where it was started to this one, or let {TOKEN_PATH} name a file with it"
        )


def last_exception(log: str) -> str:
    """Return the last exception in the output of a program; if it has none, the last 600 characters."""
    exceptions = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", log, re.MULTILINE))
    return log[exceptions[-1].start() :].strip() if exceptions else log[-600:]


def join_cluster(address: str, cores: int, stop: threading.Event) -> None:
    """Make this machine a node of a Ray cluster until `stop` is set; print what happens.

    Other nodes then do the jobs that it has not finished, from their beginnings.

    Args:
        address: the cluster's.
        cores: the number of cores to offer.

    Raises:
        ValueError: if the cluster refuses this machine.
    """
    import_ray()
    check_token(address)
    with tempfile.TemporaryFile("w+") as log:
        command = ("start", f"--address={address}", f"--num-cpus={cores}", "--block")
        node = start_child("-c", RAY_COMMAND, *command, stdout=log, stderr=log)
        print(f"this machine joins the cluster at {address} with {cores} core{'s' * (cores != 1)}")
        while node.poll() is None and not stop.wait(0.1):
            pass
        if not stop.is_set():  # the node has ended by itself
            log.seek(0)
            reason = last_exception(log.read())
            raise ValueError(f"the cluster at {address} does not take this machine, or has ended: {reason}")
        print("this machine leaves the cluster")
        node.terminate()
        node.wait()


def cluster_here() -> str | None:
    """Return the address of the Ray cluster that RAY_ADDRESS names, or that runs on this machine; None if none runs.

    Ray is not imported.  A cluster leaves its address in a file.  The file is ignored if the cluster does not answer,
    as after it was killed, and if the file belongs to another user (but root): a cluster sends objects whose reading
    runs code.
    """
    if (named := os.environ.get("RAY_ADDRESS") or "auto") != "auto":
        return named
    path = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray", "ray_current_cluster")
    with suppress(OSError, ValueError), path.open() as file:
        address = file.read().strip()
        is_trusted = sys.platform == "win32" or os.fstat(file.fileno()).st_uid in (os.geteuid(), ROOT)
        if is_trusted:
            check_reachable(address)
            return address
    return None
