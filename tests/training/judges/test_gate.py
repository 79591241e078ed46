"""The gate: the best network plays, a candidate has to beat it.

What went wrong in AlphaGOZero-TF's pipeline stands here as what must not: its gate looked at one position as if it
were many games, gave the candidate Black in all of them, and never saved whom it had accepted.
"""

import threading
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, MatchResult, load_model
from alphago.arena.match_result import MatchGame
from alphago.nn.inference.hardware import choose_dtype, dtype_name
from alphago.training.judges import results
from alphago.training.judges.gate import Gatekeeper
from alphago.training.judges.results import play_in_parts
from alphago.training.loop import train_loop
from alphago.training.run import Run
from alphago.training.settings.judge_settings import Gate
from tests.training.small_runs import (
    BLACK_WINS,
    GO,
    GO4,
    Listener,
    RandomGames,
    Small,
    Sources,
    evaluations,
    interrupt,
    net_of,
    opened,
    run,
    same,
)

QUICK = Gate(0.55, games=4, every=4, readouts=2)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A run with a gate that nothing happens to."""
    folder = tmp_path_factory.mktemp("gated") / "run"
    return Small(folder, *run(folder, gate=QUICK))


def played(env: GoEnv, games: int) -> MatchResult:
    players = (net_of(2, env), net_of(1, env))
    return play_in_parts(env, players, games, 0, lambda _: False, readouts=0, random_opening=2, device="cpu")


def test_the_games_of_each_match_are_in_its_row(gated: Small) -> None:
    rows = evaluations(gated.folder)
    assert len(rows) > 1
    for row in rows:
        assert (len(row["moves"]), row["board_size"]) == (row["played"], 3)
        ends = [GO.position().after(game["moves"].split()) for game in row["moves"]]
        assert [end.result * (-1) ** i for i, end in enumerate(ends)] == [game["outcome"] for game in row["moves"]]


def test_games_of_a_match_are_played_and_differ() -> None:
    """Not one position looked at many times; the second part goes on after the first."""
    result = played(GO4, 30)
    assert len(result.outcomes) == len(result.games) == 30
    assert result.distinct > 15
    assert result.games[:20] == played(GO4, 20).games


def keeper_of(run: Run) -> Gatekeeper:
    (judge,) = run.judges
    assert isinstance(judge, Gatekeeper)
    return judge


class TestJudging:
    """Of a run, between iterations."""

    @pytest.mark.parametrize(("win_rate", "passes"), [(0.5, True), (0.51, False)])
    def test_both_colours(self, tmp_path: Path, win_rate: float, passes: bool) -> None:
        """As Black wins all games, the candidate wins half of them, which may be enough."""
        listener = Listener()
        gate = Gate(win_rate, games=20, readouts=0)
        with opened(tmp_path, env=BLACK_WINS, source=RandomGames, gate=gate, report=listener) as run:
            keeper, before = keeper_of(run), net_of(0, BLACK_WINS)
            run.learner.net.load_state_dict(net_of(2, BLACK_WINS).state_dict())
            keeper.judge(run, threading.Event())
            assert same(keeper.best, net_of(2, BLACK_WINS) if passes else before)
        (row,) = evaluations(tmp_path)
        assert (row["wins"], row["losses"], row["played"], row["accepted"]) == (10, 10, 20, passes)
        assert (row["opponent"], row["readouts"], row["win_rate"]) == ("best so far", 0, 0.5)
        assert listener.noted("it is the best now" if passes else "the best stays")
        assert keeper.candidates == 1

    def test_the_runs_dtype(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A match in another one could pass on one kind of processor alone."""
        dtypes: list[str] = []

        def play(env: GoEnv, *players: Any, **_: Any) -> MatchResult:
            dtypes.extend(player.dtype for player in players[:2])
            return MatchResult(tuple(MatchGame(i, 1.0, (i,)) for i in range(4)))

        monkeypatch.setattr(results, "evaluate", play)
        for dtype in ("float32", "bfloat16"):
            with opened(tmp_path / dtype, source=RandomGames, gate=QUICK, selfplay_dtype=dtype) as run:
                keeper_of(run).judge(run, threading.Event())
        assert dtypes == ["float32"] * 2 + [dtype_name(choose_dtype("bfloat16"))] * 2  # float32 if the CPU has no other


def due(run: Run, games: int, steps: int) -> bool:
    run.set_counts(games=games)
    run.learner.steps = steps
    return run.judges[0].due(run)


def test_when_a_candidate_is_due(tmp_path: Path) -> None:
    """Once there are games enough and anything has been learned, at the end, and so many games after the last.

    If nothing else is said, as often as checkpoints.
    """
    with opened(tmp_path, 1000, source=RandomGames, gate=Gate(every=10)) as run:
        found = [due(run, *counts) for counts in [(9, 5), (10, 5), (10, 0), (1000, 5), (1000, 0)]]
        assert found == [False, True, False, True, False]
        keeper_of(run).set_best(net_of(1), 12, 5)
        assert [due(run, *counts) for counts in [(19, 9), (20, 9), (20, 5)]] == [False, True, False]
    with opened(tmp_path / "usual", 1000, source=RandomGames, gate=Gate()) as run:
        assert [due(run, 4, 5), due(run, 5, 5)] == [False, True]


class TestRun:
    @pytest.mark.parametrize(("win_rate", "accepts"), [pytest.param(0.51, False, marks=pytest.mark.slow), (0.5, True)])
    def test_who_is_saved_and_plays(self, tmp_path: Path, win_rate: float, accepts: bool) -> None:
        """Whom it accepts, and never whom it rejects, while the network goes on learning; as the weights on disk say.

        The next candidate plays against it.
        """
        gate = Gate(win_rate, games=4, every=4, readouts=0)
        sources = Sources()
        with opened(tmp_path, env=BLACK_WINS, source=sources, gate=gate) as run:
            train_loop(run, threading.Event())
            published = sources.made[0].published
            accepted = [row["accepted"] for row in evaluations(tmp_path)]
            assert len(accepted) > 2
            assert set(accepted) == {accepts}
            assert len(published) == 1 + sum(accepted)
            assert run.learner.steps > 10
            assert same(run.player, published[-1])
            assert same(run.player, run.learner.net) == accepts
            assert same(load_model(tmp_path, BLACK_WINS), run.player)

    @pytest.mark.slow
    def test_a_candidate_waits_for_the_run_to_go_on(self, tmp_path: Path, gated: Small) -> None:
        """An interrupt right before its match puts that off, and changes nothing."""
        stopped = True
        while stopped:
            listener = Listener(interrupt)
            net, _ = run(tmp_path, gate=QUICK, report=listener)
            stopped = listener.stopped
        assert same(net, gated.net)
