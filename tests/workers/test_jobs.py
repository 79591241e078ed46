"""Matches, self-play and datasets by workers: those of this process, whoever does which part."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from alphago import Dataset, evaluate, import_games, selfplay
from alphago.arena import match_work
from alphago.arena.playout_player import uct
from alphago.mcts.evaluator import as_evaluator
from alphago.nn.threads import one_torch_thread
from alphago.records import dataset_import
from alphago.training.call import selfplay_call
from alphago.workers import jobs
from alphago.workers.jobs import JobPool, open_pool
from alphago.workers.work import JobAnswer, WorkerRefused, pack
from tests.training.small_runs import GO, net_of
from tests.training.test_group import assert_same_games
from tests.training.workers.crews import NEVER, Behaviour, Local, damaging, dying, failing, honest

NET = net_of(1)


def exact() -> Any:
    """NET as workers compute it."""
    with one_torch_thread():
        return NET.evaluator(exact=True, shared=False)


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the workers of all calls of the test."""
    monkeypatch.setattr(jobs, "WAIT", 0.001)
    monkeypatch.setattr(match_work, "GAMES_A_JOB", 2)
    monkeypatch.setattr(selfplay_call, "TASK_GAMES", 2)

    def make(**behaviours: Any) -> None:
        transport = Local(**behaviours)
        for module in (jobs, selfplay_call):
            monkeypatch.setattr(module, "find_workers", lambda workers: workers and (lambda env: transport))

    return make


CREW: dict[str, Behaviour] = {"a": dying, "b": failing, "c": damaging, "d": honest}


class TestEvaluate:
    @pytest.mark.parametrize(
        "players",
        [(NET, "random"), pytest.param(("uct:4", NET), marks=pytest.mark.slow)],
        ids=["a network", "a player without"],
    )
    def test_the_same_games(self, crew: Any, players: tuple[Any, Any]) -> None:
        options: dict[str, Any] = {"readouts": 4, "seed": 3, "device": "cpu"}
        alone = evaluate(GO, *(exact() if player is NET else player for player in players), 6, **options)
        crew(**CREW)
        progress: list[int] = []
        by_workers = evaluate(GO, *players, 6, **options, workers="folder:x", progress=progress.append)
        assert by_workers.games == alone.games
        assert (by_workers.outcomes == alone.outcomes).all()
        assert sorted(progress) == list(range(6))

    @pytest.mark.parametrize(
        "player", [lambda position: (None, 0.0), as_evaluator(NET), uct(4)._replace(exploration=2.0)], ids=type
    )
    def test_a_player_that_cannot_travel_is_refused(self, crew: Any, player: Any) -> None:
        crew(a=honest)
        with pytest.raises(ValueError, match="with workers, a player must be a network, random, uct:N"):
            evaluate(GO, NET, player, 2, workers="folder:x")

    @pytest.mark.parametrize("name", ["gtp:true", "bot.py"])
    def test_a_worker_starts_no_program(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever can write to its folder must not run code on its machine."""
        monkeypatch.chdir(tmp_path)
        Path("bot.py").write_text("def choose(position): pass\n")
        with pytest.raises(WorkerRefused, match="a player must be random, uct:N"):
            match_work.player_from_bytes(GO, pack(name, {}), None)


class TestSelfplay:
    def test_the_same_games(self, crew: Any) -> None:
        """Workers with GPUs play on their CPUs."""
        alone = selfplay(GO, exact(), 4, 5, seed=7)
        crew(device="host", **CREW)
        numbers: list[int] = []
        played = selfplay(GO, NET, 4, 5, seed=7, workers="folder:x", on_game=lambda number, _: numbers.append(number))
        assert_same_games(played, alone)
        assert sorted(numbers) == list(range(5))

    def test_an_error_of_on_game_ends_the_call(self, crew: Any) -> None:
        """One that an answer's reading could raise, too."""

        def on_game(number: int, _: Any) -> None:
            raise ValueError(f"no room for game {number}")

        crew(a=honest)
        with pytest.raises(ValueError, match="no room for game"):
            selfplay(GO, NET, 4, 2, seed=7, workers="folder:x", on_game=on_game)

    def test_a_player_that_cannot_travel_is_refused(self, crew: Any) -> None:
        crew(a=honest)
        with pytest.raises(ValueError, match="with workers, the player must be a network"):
            selfplay(GO, as_evaluator(NET), 4, 1, workers="folder:x")


def test_the_same_dataset(crew: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with files that are damaged, and texts with a game on each line."""
    monkeypatch.setattr(dataset_import, "PIECES_PER_JOB", 2)
    games = tmp_path / "games"
    games.mkdir()
    moves = ";B[pd];W[dp];B[dd];W[pp]"
    for number in range(5):
        komi = f"KM[{number}.5]RE[B+R]" if number % 2 else "KM[0.5]RE[W+R]"
        (games / f"{number}.sgf").write_text(f"(;SZ[19]{komi}{moves};B[{'abcdef'[number]}a])")
    (games / "bad.sgf").write_text("(;SZ[19")
    (games / "many.txt").write_text("".join(f"{number}\t{moves};B[a{'abc'[number]}]\n" for number in range(3)))
    wanted = dataset_import.GameFilter(min_moves=2, any_result=True)
    reports = [import_games(games, tmp_path / "alone", filter=wanted)]
    crew(**CREW)
    reports.append(import_games(games, tmp_path / "by-workers", filter=wanted, workers="folder:x"))
    alone, by_workers = Dataset(tmp_path / "alone"), Dataset(tmp_path / "by-workers")
    assert reports[0] == reports[1]
    assert (alone.rows == by_workers.rows).all()


class Slow(Local):
    """Two workers that answer with the job; the job "0" takes until others have been, and then none for some time."""

    idle, has_others = 0, False

    def give(self, worker: str, key: str, work: str, job: bytes) -> None:
        self.given.append((worker, key, work, job))
        self.idle, self.has_others = 0, self.has_others or job != b"0"

    def answers(self) -> list[JobAnswer]:
        NEVER.wait(0.001)
        self.idle += self.has_others
        done = [one for one in self.given if one[3] != b"0" or self.idle > 100]
        self.given = deque(one for one in self.given if one not in done)
        return [JobAnswer(worker, key, "done", job) for worker, key, _, job in done]


@pytest.mark.parametrize("in_order", [False, True])
def test_a_job_that_takes_long(monkeypatch: pytest.MonkeyPatch, *, in_order: bool) -> None:
    """Answers that have arrived wait for it only where their order matters, and then they are few."""
    monkeypatch.setattr(jobs, "WAIT", 0.001)
    begun, all_jobs = list[bytes](), [str(number).encode() for number in range(30)]
    pool = JobPool(Slow(a=honest, b=honest))

    def drawn() -> Iterator[bytes]:
        for job in all_jobs:
            begun.append(job)
            yield job

    answers = pool.map(match_work.MatchWork, b"", drawn(), bytes, in_order=in_order)
    first = next(answers)
    assert (first == b"0") == in_order
    assert len(begun) <= jobs.FEWEST
    rest = [first, *answers]
    pool.close()
    assert (rest if in_order else sorted(rest, key=int)) == all_jobs


def test_a_folder_of_workers_that_nobody_has_joined(tmp_path: Path) -> None:
    """An event ends the match at once."""
    stop = threading.Event()
    with open_pool(f"folder:{tmp_path}", GO) as pool:
        assert pool is not None
        stop.set()
        assert not list(pool.map(match_work.MatchWork, b"", iter([b"[0]"]), bytes, stop))
    with open_pool(None) as none:
        assert none is None
