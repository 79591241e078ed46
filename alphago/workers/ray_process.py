"""RayProcess: a Ray cluster as Transport, in a process of its own, since Ray ends its process when its node ends."""

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from functools import partialmethod
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from alphago.env.game import GameEnv
from alphago.env.games import is_packaged
from alphago.system.children import child_environment, python_command
from alphago.system.live_bar import LiveBar
from alphago.workers.ray_cluster import ENDED, HEAD_PATIENCE, RayCluster, import_ray
from alphago.workers.work import traceback_of

PATIENCE = 30.0  # seconds that the process has to end


class RayProcess:
    """A Transport whose methods call those of a RayCluster in another process.

    address, count: as in RayCluster.  env: the run's game; None if workers need no game.
    Raises ImportError without Ray, ValueError if there is no cluster at the address.
    """

    def __init__(self, address: str | None, count: int | None, env: GameEnv | None = None) -> None:
        games = {} if env is None or is_packaged(type(env)) else {env.name: type(env)}
        # cloudpickle sends a class of a script as code, and a class of a module by its name.
        arguments = import_ray().cloudpickle.dumps((address, count, games))
        self.connection, its_end = Pipe()
        with its_end:
            # In a new session, Ctrl-C does not reach the process: this process ends the run in order.
            environment = {HEAD_PATIENCE: "10", **child_environment()}
            command = python_command("-m", __name__)
            self.process = subprocess.Popen(command, stdin=its_end.fileno(), env=environment, start_new_session=True)
        where = "starts Ray on this machine" if address is None else f"connects to the Ray cluster at {address}"
        try:
            with LiveBar(desc=where, bar_format="{desc}: {elapsed}", leave=False):
                self.connection.send((sys.path, sys.argv[0]))
                self._call("connect", arguments)
        except BaseException:
            self.close()
            raise

    def _call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the RayCluster; return its result, or raise its error."""
        try:
            self.connection.send((name, arguments))
            result, error = self.connection.recv()
        except (EOFError, OSError):
            raise ConnectionError(ENDED) from None
        if error is not None:
            raise error
        return result

    publish = partialmethod(_call, "publish")
    workers = partialmethod(_call, "workers")
    give = partialmethod(_call, "give")
    answers = partialmethod(_call, "answers")
    why_gone = partialmethod(_call, "why_gone")
    how_to_join = partialmethod(_call, "how_to_join")
    cores = partialmethod(_call, "cores")

    def close(self) -> None:
        self.connection.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def serve(connection: Connection) -> None:
    """Answer the calls of a RayProcess, in the other process, until the run closes its connection, or dies."""
    sys.path[:], sys.argv[0] = connection.recv()  # Ray's workers look for modules where this process does
    cluster: RayCluster | None = None
    with suppress(EOFError, OSError):
        while True:
            name, arguments = connection.recv()
            result: Any = None
            error: Exception | None = None
            try:
                if cluster is None:  # "connect", the first call
                    cluster = RayCluster(*pickle.loads(*arguments))
                else:
                    result = getattr(cluster, name)(*arguments)
            except (ImportError, ValueError, ConnectionError) as known:
                error = type(known)(str(known))  # without a cause, which the other process may not be able to read
            except Exception as unknown:
                if cluster is not None and cluster.is_lost(unknown):
                    cluster, error = None, ConnectionError(f"{ENDED}: {unknown}")  # which cannot be shut down
                else:
                    error = RuntimeError(traceback_of(unknown))
            connection.send((result, error))
    if cluster is not None:
        cluster.close()


if __name__ == "__main__":
    # Standard input is the run's connection. Processes that Ray starts would inherit it, and hold it open after this
    # process; they do not inherit the copy.
    connection = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    serve(Connection(connection))
    os._exit(0)  # if the cluster's head is lost, Ray would wait for it
