"""Ray as Transport: an actor on each node of a cluster, or some on this machine.  Only this file knows Ray."""

import itertools
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import GAMES
from alphago.system.children import child_environment, python_command
from alphago.system.kernels.private_folder import ROOT
from alphago.system.optional import optional_import
from alphago.workers.work import JobAnswer, WorkBench, WorkerRefused, traceback_of

NEED = "workers on a cluster need Ray: pip install 'alphago[ray]' (or let them share a folder: folder:PATH)"
# Environment variables, to be set before Ray starts.  Without them its workers would run at nice 15, it would send
# usage statistics, and it would give up within seconds on a busy machine.
RAY_SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "120",
}
TOKEN, TOKEN_PATH = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"  # environment variables
LEAVING = "ALPHAGO_WORKER_LEAVES"  # environment variable: a file that is made when this node's worker must leave
RAY_COMMAND = "from ray.scripts.scripts import main; main()"  # what the command `ray` runs
CONNECT = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"  # no public function does it
ENDED = "the Ray cluster has ended; the run can go on with another"
LOW_MEMORY = "Ray has ended it, as its machine is low on memory"
PATIENCE = 5.0  # longest time in seconds for a cluster to answer
LOOK = 0.5  # seconds between two looks for nodes and at the actors
POLL = 0.02  # seconds to wait for answers
# Environment variable: seconds without the cluster's head after which Ray ends its process; 60 by default.
HEAD_PATIENCE = "RAY_gcs_rpc_server_reconnect_timeout_s"
LAST_MOVE = 60.0  # seconds that a worker that leaves has for its last moves


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

    games: classes of games that do not come with the package, by name.
    """

    def __init__(self, games: dict[str, type[GameEnv]]) -> None:
        GAMES.update(games)
        self.works: dict[str, bytes] = {}
        self.bench = WorkBench(lambda name: self.works[name])
        self.stop = threading.Event()
        if leaving := os.environ.get(LEAVING):
            Path(leaving).with_suffix(".player").write_text(str(os.getpid()))

    def ready(self) -> int:
        """Return the actor's process id; Ray answers this call once the actor has started."""
        return os.getpid()

    def end(self) -> None:
        """Return when this node's worker must leave; tasks then end after their moves, and the run ends the actor."""
        leaving = os.environ.get(LEAVING)
        while not (leaving and Path(leaving).exists()):
            time.sleep(POLL)
        self.stop.set()

    def play(self, work: str, data: bytes, job: bytes) -> dict[str, Any]:
        """Do a job of a work, whose bytes are `data`; return fields of a JobAnswer."""
        try:
            if work not in self.works:
                self.works = {work: data}  # the bench keeps the works that it has read before
            return {"done": None if self.stop.is_set() else self.bench.do(work, job, self.stop)}
        except WorkerRefused as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"error": traceback_of(error)}


@dataclass
class Member:
    """An actor of the run.

    node: the id of its node; "" for anywhere on this machine.
    cores: number of its tasks at the same time; 0 once it is leaving.
    ready: a reference to a result that is there once the actor has started.
    end: a reference to a result that is there once the actor leaves or has died.
    """

    node: str
    cores: int
    actor: Any
    ready: Any
    end: Any


class RayCluster:
    """A cluster as Transport; see RayProcess.

    address: the cluster's, such as "10.0.0.1:6379"; None to start one on this machine.
    count: number of workers of one core; None for one on each node, with all its cores.
    games: classes of games that do not come with the package, by name.
    Raises ImportError without Ray, ValueError if there is no cluster at the address.
    """

    def __init__(self, address: str | None, count: int | None, games: dict[str, type[GameEnv]]) -> None:
        self.ray, self.count, self.where = import_ray(), count, address or "this machine"
        if address is not None:
            check_reachable(address)
            check_token(address)
        # "local" starts a cluster even if this machine has another cluster, or remembers a cluster that has ended.
        options: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": count}
        try:
            self.ray.init(**options, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray raises errors of many classes
            cause = with_advice(str(error))
            raise ValueError(f"workers must name a Ray cluster that runs, got {self.where}: {cause}") from error
        self.head = self.ray.get_runtime_context().gcs_address
        # Otherwise the head would keep 5 KB of events for each of up to 100 000 calls, for Ray's dashboard.
        self.actor = self.ray.remote(enable_task_events=False)(NodePlayer)
        self.games = games
        self.members: dict[str, Member] = {}
        self.out: set[str] = set()  # nodes whose workers have left, or cannot do the run's work
        self.ends: dict[str, str] = {}  # by worker that has ended, why
        self.numbers = itertools.count(1)
        self.references: dict[str, Any] = {}  # references to works, by name
        self.asked: dict[Any, tuple[str, str]] = {}  # by the reference to an answer: worker and key
        self.looked_at = 0.0
        self.live: dict[str, int] = {}

    def publish(self, name: str, data: bytes, keep: set[str]) -> None:
        kept = {old: reference for old, reference in self.references.items() if old in keep}
        self.references = {**kept, name: self.ray.put(data)}

    def workers(self) -> dict[str, int]:
        """Return the cores of each ready worker, by name; 0 for a worker that is leaving.

        This method looks for nodes and at the actors at most every LOOK seconds.
        """
        if time.monotonic() - self.looked_at >= LOOK:
            self.looked_at = time.monotonic()
            self._add_members()
            for name in self._done({name: member.end for name, member in self.members.items()}):
                self._see_end(name)
            ready = self._done({name: member.ready for name, member in self.members.items()})
            self.live = {name: self.members[name].cores for name in ready}
        return self.live

    def is_lost(self, error: Exception) -> bool:
        """Return whether an error is one of Ray's, which means that the cluster has ended."""
        return isinstance(error, self.ray.exceptions.RayError)

    def _done(self, references: dict[str, Any]) -> list[str]:
        """Return the names whose references have a result or an error."""
        names = {reference: name for name, reference in references.items()}
        there = self.ray.wait(list(names), num_returns=len(names), timeout=0)[0] if names else []
        return [names[reference] for reference in there]

    def _add_members(self) -> None:
        """Start an actor on each node that has none; or, with `count`, so many of one core wherever Ray puts them."""
        if self.count is not None:
            wanted = [("", 1)] * (self.count - len(self.members))  # "": Ray chooses the node
        else:
            taken = {*self.out, *(member.node for member in self.members.values())}
            alive = [node for node in self.ray.nodes() if node["Alive"]]
            cores_of = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in alive}
            wanted = [(node, cores) for node, cores in cores_of.items() if cores and node not in taken]
        for node, cores in wanted:
            # + 2: the calls of `ready` and of `end`, which returns only when the actor leaves.
            options: dict[str, Any] = {"num_cpus": cores, "max_concurrency": cores + 2}
            if node:
                strategy = self.ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
                options["scheduling_strategy"] = strategy
            actor = self.actor.options(**options).remote(self.games)
            name = f"{node[:8] or 'local'}-{next(self.numbers)}"
            self.members[name] = Member(node, cores, actor, actor.ready.remote(), actor.end.remote())

    def _see_end(self, name: str) -> None:
        """Remove a worker whose `end` has returned: at once if it has died, else when it has answered its tasks."""
        member = self.members[name]
        try:
            self.ray.get(member.end)
        except Exception as error:  # it has died
            is_low = isinstance(error, self.ray.exceptions.OutOfMemoryError)
            self.ends[name] = LOW_MEMORY if is_low else str(error).partition("\n")[0]
            del self.members[name]
            return
        member.cores = 0
        if all(worker != name for worker, _ in self.asked.values()):
            self.ends[name] = "it has left"
            self._leave_out(name)

    def _leave_out(self, name: str) -> None:
        """End a worker, and start no other one on its node."""
        if member := self.members.pop(name, None):
            self.out.add(member.node)
            self.ray.kill(member.actor)

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        if worker in self.members:
            asked = self.members[worker].actor.play.remote(work, self.references[work], job)
            self.asked[asked] = worker, key

    def answers(self) -> list[JobAnswer]:
        if not self.asked:
            time.sleep(POLL)
            return []
        found = []
        there, _ = self.ray.wait(list(self.asked), num_returns=len(self.asked), timeout=POLL)
        for reference in there:
            worker, key = self.asked.pop(reference)
            with suppress(self.ray.exceptions.RayError):  # the worker has died, which `workers` tells
                found.append(JobAnswer(worker, key, **self.ray.get(reference)))
                if found[-1].refused:
                    self._leave_out(worker)
        return found

    def why_gone(self, worker: str) -> str:
        return self.ends.get(worker, "")

    def how_to_join(self) -> str:
        there = self.ray.cluster_resources().get("CPU", 0)
        free = self.ray.available_resources().get("CPU", 0)
        wanted = sum(member.cores for member in self.members.values())
        last = f"the last worker has ended: {list(self.ends.values())[-1]}; " if self.ends else ""
        return (
            f"cores wanted: {wanted}, free: {free:g} of the {there:g} of the cluster at {self.where} (a worker that is "
            f"starting has taken its own); {last}on each machine to add, start: alphago worker {self.head}"
        )

    def cores(self) -> int:
        """Return the number of the cluster's cores."""
        return int(self.ray.cluster_resources().get("CPU", 1))

    def close(self) -> None:
        for member in self.members.values():
            self.ray.kill(member.actor)
        self.ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise ValueError if nothing answers at a cluster's address, for which Ray would wait long."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError(f"a Ray cluster's address must be HOST:PORT, got {address}")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ValueError(f"a Ray cluster must answer at {address}: {error}") from None


def check_token(address: str) -> None:
    """Raise ValueError if the cluster at an address wants a token that is not here.

    A process of its own tries, since Ray ends its process without a token, and tries for long with another one.
    """
    tried = subprocess.run(python_command("-c", CONNECT, address), capture_output=True, text=True, check=False)
    if tried.returncode and "token" in tried.stderr:
        raise ValueError(
            f"the Ray cluster at {address} wants its token, which is not here: copy ~/.ray/auth_token of the machine "
            f"where it was started to this one, or let {TOKEN_PATH} name a file with it"
        )


def cause_in(log: str) -> str:
    """Return the last exception in the output of a program; without an exception, the end of the output."""
    exceptions = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", log, re.MULTILINE))
    return log[exceptions[-1].start() :].strip() if exceptions else log[-600:]


def with_advice(cause: str) -> str:
    """Return Ray's message; if the name of a socket is too long for the system, with what to change."""
    if "AF_UNIX" not in cause:
        return cause
    folder = os.environ.get("RAY_TMPDIR", tempfile.gettempdir())
    return (
        f"{cause}; the folder of temporary files, {folder}, has too long a name for Ray: set RAY_TMPDIR to a short one"
    )


def join_cluster(address: str, cores: int, stop: threading.Event, tell: Callable[[str], object] = print) -> None:
    """Make this machine a node of a Ray cluster until `stop` is set; then leave, after at most one move of its games.

    address: the cluster's.  cores: the number of cores to offer.  tell: called with sentences about what happens.
    Raises ValueError if the cluster refuses this machine.
    """
    import_ray()
    check_reachable(address)
    check_token(address)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w+") as log:
        leaving = Path(folder, "leave")
        node = subprocess.Popen(
            python_command("-c", RAY_COMMAND, "start", f"--address={address}", f"--num-cpus={cores}", "--block"),
            env={**child_environment(), LEAVING: str(leaving)},
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C reaches only this process, which leaves in order
        )
        tell(f"this machine joins the cluster at {address} with {cores} core{'s' * (cores != 1)}")
        while node.poll() is None and not stop.wait(0.1):
            pass
        if not stop.is_set():  # the node has ended by itself
            log.seek(0)
            cause = with_advice(cause_in(log.read()))
            raise ValueError(f"the cluster at {address} does not take this machine, or has ended: {cause}")
        tell("this machine leaves the cluster, after the move in hand")
        leaving.touch()  # the node's actor waits for this file, and ends after its moves
        until = time.monotonic() + LAST_MOVE
        while player_lives(leaving.with_suffix(".player")) and time.monotonic() < until:
            time.sleep(POLL)
        node.terminate()
        node.wait()


def player_lives(file: Path) -> bool:
    """Return whether an actor of this node is alive; file: where the actor has written its process id."""
    with suppress(OSError, ValueError):
        os.kill(int(file.read_text()), 0)  # signal 0 only asks whether the process is there
        return True
    return False


def cluster_here() -> str | None:
    """Return the address of the Ray cluster that runs on this machine, or that RAY_ADDRESS names; None without one.

    Ray is not imported.  The address that a killed cluster has left does not count, nor one that another user than root
    has left: a cluster sends objects whose reading runs code.
    """
    if (named := os.environ.get("RAY_ADDRESS", "auto")) != "auto":
        return named
    path = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray", "ray_current_cluster")
    with suppress(OSError, ValueError), path.open() as file:
        address = file.read().strip()
        is_own = sys.platform == "win32" or os.fstat(file.fileno()).st_uid in (os.geteuid(), ROOT)
        if is_own:
            check_reachable(address)
            return address
    return None
