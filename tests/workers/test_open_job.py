"""Who may have a job."""

from typing import cast

import pytest

from alphago.training.workers.task import Played
from alphago.workers.open_job import MOST_DEATHS, OpenJob


def new_job(copies: int = 1) -> OpenJob[Played]:
    return OpenJob("job", "work", b"", print, copies)


def test_a_lost_job_waits_for_a_worker_that_has_answered() -> None:
    """Those that come may die one after the other; without the other, or once it has done the job, they get it."""
    job, free = new_job(copies=2), {"stays": 0, "comes": 1}
    assert job.able(free, free, {"stays"}) == ["comes"]
    job.given["gone"] = 0.0
    job.lose("gone")
    assert job.able(free, free, {"stays"}) == []
    assert job.able({**free, "stays": 1}, free, {"stays"}) == ["stays"]
    assert job.able(free, free, {"gone"}) == ["comes"]
    job.given["stays"] = 0.0
    assert job.able(free, free, {"stays"}) == []
    job.answers["stays"] = cast(Played, job.given.pop("stays"))
    assert job.able(free, free, {"stays"}) == ["comes"]
    assert not job.is_done(free)
    job.given["comes"] = 0.0
    job.lose("comes")  # with the second answer: one is enough
    assert job.is_done(free)


def test_one_that_ends_its_workers_ends_the_run() -> None:
    job = new_job()
    for worker in range(MOST_DEATHS):
        job.given[str(worker)] = 0.0
        if worker < MOST_DEATHS - 1:
            job.lose(str(worker))
    job.given["new"] = 0.0
    job.lose("new", hope=True)
    with pytest.raises(ChildProcessError, match="7 workers have ended while they played one task: job"):
        job.lose(str(MOST_DEATHS - 1))
