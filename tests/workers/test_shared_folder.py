"""Workers that share a folder with the run; here they are threads of this process."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from alphago.records.record import GameRecord
from alphago.training.workers.remote_selfplay import RemoteSelfPlay
from alphago.workers import shared_folder
from alphago.workers.shared_folder import FolderWorker, SharedFolder
from alphago.workers.work import WorkerRefused
from tests.training.test_group import assert_same_games
from tests.training.workers.test_remote_selfplay import all_games, iteration, source, wanted

__all__ = ["wanted"]  # a fixture


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_folder, "BEAT", 0.02)
    monkeypatch.setattr(shared_folder, "POLL", 0.005)


@contextmanager
def working(path: Path, **options: int) -> Iterator[list[str]]:
    """A worker in a thread; yields what it tells, and its refusal at the end."""
    stop, told = threading.Event(), list[str]()

    def work() -> None:
        try:
            FolderWorker(path, **{"cores": 1, **options}, tell=told.append).work(stop)
        except WorkerRefused as error:
            told.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        thread.join()


def remote(path: Path, dead: float = 60.0) -> partial[RemoteSelfPlay]:
    return partial(RemoteSelfPlay, make_transport=lambda env: SharedFolder(path, silence_limit=dead))


class TestSharedFolder:
    def test_the_same_games(self, wanted: list[GameRecord], tmp_path: Path) -> None:
        """Of one worker that leaves, and of one that comes in its place; in the end nothing is left of them."""
        with source(remote(tmp_path)) as games:
            with working(tmp_path, cores=2) as told:
                first = iteration(games)
            with working(tmp_path):
                played = all_games(games, played=first)
            assert_same_games(played, wanted)
            while games.pool.live:
                time.sleep(0.01)
            assert sum(sentence.endswith(" has gone: it has left") for sentence in games.news()) >= 1
        assert told[1:] == [told[0].partition(" works")[0] + " leaves, after the move in hand"]
        assert not list(tmp_path.glob("workers/*"))
        assert len(list(tmp_path.glob("works/*"))) == 1

    @pytest.mark.slow
    def test_a_worker_killed_at_any_moment(self, wanted: list[GameRecord], tmp_path: Path) -> None:
        """What it leaves behind, complete or not, is no one's; another does its tasks."""
        with source(remote(tmp_path, dead=0.5)) as games:
            with working(tmp_path):
                first = iteration(games)
            for name, files in {"a": [], "b": ["beat"], "c": ["beat", "tasks/.x.part", "answers/k gone"]}.items():
                for folder in ("tasks", "answers"):
                    (tmp_path / "workers" / name / folder).mkdir(parents=True)
                for file in files:
                    (tmp_path / "workers" / name / file).write_bytes(b"{}")
            with working(tmp_path):
                played = all_games(games, played=first)
            assert_same_games(played, wanted)
            while list(tmp_path.glob("workers/*")):
                time.sleep(0.01)

    @pytest.mark.slow
    def test_a_worker_that_was_cut_off_comes_back(
        self, wanted: list[GameRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As where its network fails, or its machine sleeps: another does its task, and it joins anew."""
        cut, first_tasks = threading.Event(), iter([True])
        beat, do = FolderWorker.beat, FolderWorker.do

        def wait_while_cut(worker: FolderWorker) -> None:
            while worker.cores == 1 and cut.is_set():
                time.sleep(0.01)

        def beat_unless_cut(worker: FolderWorker) -> None:
            wait_while_cut(worker)
            beat(worker)

        def do_later(worker: FolderWorker, path: Path, stop: threading.Event) -> None:
            if worker.cores == 1 and next(first_tasks, None):
                cut.set()
            wait_while_cut(worker)
            do(worker, path, stop)

        monkeypatch.setattr(FolderWorker, "beat", beat_unless_cut)
        monkeypatch.setattr(FolderWorker, "do", do_later)
        sentences: list[str] = []
        with source(remote(tmp_path, dead=0.3)) as games, working(tmp_path) as told:
            games.begin(6, side_by_side=3)
            while not cut.is_set():
                games.advance(until=time.monotonic() + 0.1)
                sentences += games.news()
            with working(tmp_path, cores=2):
                while not games.advance():
                    sentences += games.news()
                sentences += games.news()
                first = games.take()
                cut.clear()
                while len(told) < 2:
                    time.sleep(0.01)
                played = all_games(games, played=first)
            assert_same_games(played, wanted)
        assert any(sentence.endswith("has gone: nothing was heard of it for 0.3 s") for sentence in sentences)
        assert told[0] != told[1]

    def test_before_the_run_a_worker_waits_and_makes_nothing(self, tmp_path: Path) -> None:
        """Since its PATH may be a slip, it says what it waits for."""
        path = tmp_path / "a" / "b"
        with working(path):
            pass
        assert not list(tmp_path.iterdir())
        with working(path) as told:
            while not told:
                time.sleep(0.01)
            with closing(SharedFolder(path)) as folder:
                while not folder.workers():
                    time.sleep(0.01)
        assert told[0].startswith(f"no run has begun in {path} yet: waits for `alphago train --workers folder:")
        assert len(told) == 3
        assert told[1].endswith(f"works for the run in {path}")
        assert told[2].endswith("leaves, after the move in hand")

    def test_what_an_earlier_run_left_is_removed(self, wanted: list[GameRecord], tmp_path: Path) -> None:
        for name in ("workers/old/tasks/k v", "workers/old/answers/k done", "works/v"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"?")
        with source(remote(tmp_path)) as games, working(tmp_path):
            assert not (tmp_path / "works/v").exists()
            assert_same_games(all_games(games), wanted)

    @pytest.mark.parametrize(("work", "kind"), [("w", "error"), ("another", "gone")])
    def test_a_task_that_lacks_a_file(self, tmp_path: Path, work: str, kind: str) -> None:
        """It has failed, unless its work was removed, of which it is then no longer a task."""
        task = tmp_path / "workers/a/tasks/k w"
        for path in (tmp_path / "works" / work, task, tmp_path / "workers/a/answers/earlier"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        FolderWorker(tmp_path, 1, tell=str).do(task, threading.Event())
        assert (tmp_path / f"workers/a/answers/k {kind}").exists()
        assert not task.exists()

    @pytest.mark.parametrize("beats", [(b"{}", b"{ }"), (b"[1]", b"[2]"), (b"{", b"\xff")], ids=repr)
    def test_a_beat_that_is_no_workers(self, tmp_path: Path, beats: tuple[bytes, bytes]) -> None:
        folder = SharedFolder(tmp_path)
        (tmp_path / "workers" / "strange").mkdir()
        for beat in beats:
            (tmp_path / "workers" / "strange" / "beat").write_bytes(beat)
            folder.looked_at = 0.0
            assert folder.workers() == {}
        folder.close()

    def test_one_run_at_a_time(self, tmp_path: Path) -> None:
        with closing(SharedFolder(tmp_path)), pytest.raises(BlockingIOError, match="another process writes to"):
            SharedFolder(tmp_path)

    def test_a_folder_of_other_files_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "works").mkdir()
        for name in ("works/thesis.tex", "notes"):
            (tmp_path / name).touch()
        with pytest.raises(FileExistsError, match="must be a folder of the workers' own, got one with notes in it"):
            SharedFolder(tmp_path)
        assert (tmp_path / "works" / "thesis.tex").exists()

    def test_a_refusal_is_told_on_both_sides(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sentences: list[str] = []
        with source(remote(tmp_path)) as games:
            games.begin(1)
            games.advance(until=0.0)
            monkeypatch.setattr("alphago.workers.work.build_info", lambda: {"alphago": "another"})
            with working(tmp_path) as told:
                while not any("is left out" in sentence for sentence in sentences):
                    assert not games.advance(until=time.monotonic() + 0.1)
                    sentences += games.news()
        assert "this worker must have the same versions as the run: alphago" in told[-1]
        assert any(told[-1] in sentence for sentence in sentences)
