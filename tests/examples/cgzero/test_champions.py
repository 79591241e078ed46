"""The champions: two best networks, who plays whom, and what happens to a candidate."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago.nn.net import load_model
from alphago.records.record import load_records
from alphago.training.cgzero.champions import ChampionKeeper, Champions
from alphago.training.history import read_history, read_rows
from alphago.training.loop import train_loop
from alphago.training.run import Run
from tests.training.small_runs import (
    BLACK_WINS,
    GO,
    Listener,
    Published,
    RandomGames,
    Small,
    games_in,
    go_on,
    net_of,
    opened,
    run,
    run_killed,
    same,
    without_times,
)

QUICK: dict[str, Any] = {"win_rate": 0.25, "games": 2, "every": 5, "readouts": 2, "recent": 3, "recent_share": 0.6}
RUN: dict[str, Any] = {"num_games": 22, "judges": [Champions(**QUICK)], "opening_plies": 0.0, "plies_per_iteration": 12}


@pytest.fixture(scope="module")
def championed(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A run with champions that nothing happens to."""
    folder = tmp_path_factory.mktemp("champions") / "run"
    return Small(folder, *run(folder, **RUN))


class TestSettings:
    def test_cgzeros_are_the_defaults(self) -> None:
        champions = Champions()
        assert (champions.win_rate, champions.second_rate, champions.recent) == (0.556, 0.5, 6)
        assert (champions.recent_share, champions.least_share) == (0.1, 0.2)

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            ({"games": 3}, "the champions' games must be an even number, got 3"),
            ({"least_share": 0.5, "recent_share": 0.6}, "at most 1 together, got 0.5 and 0.6"),
        ],
    )
    def test_what_cannot_be(self, settings: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ValueError, match=sentence):
            Champions(**settings)


class TestShares:
    @pytest.mark.parametrize(
        ("rates", "shares"),
        [
            ((0.5, 0.5), (0.45, 0.45, 0.1)),
            ((0.6, 0.4), (0.36, 0.54, 0.1)),
            ((0.4, 0.6), (0.54, 0.36, 0.1)),
            ((1.0, 0.0), (0.2, 0.7, 0.1)),  # a fifth at least
            ((0.0, 1.0), (0.9, 0.0, 0.1)),
            ((0.0, 0.0), (0.45, 0.45, 0.1)),
        ],
    )
    def test_more_games_against_the_harder_one(
        self, rates: tuple[float, float], shares: tuple[float, float, float]
    ) -> None:
        keeper = ChampionKeeper(Champions(), net_of(1))
        keeper.rates = list(rates)
        assert keeper.shares == pytest.approx(shares)

    def test_one_champion_plays_alone(self) -> None:
        keeper = ChampionKeeper(Champions(), net_of(1))
        assert keeper.best is keeper.second
        assert keeper.company is None


def keeper_of(made: Run) -> ChampionKeeper:
    (judge,) = made.judges
    assert isinstance(judge, ChampionKeeper)
    return judge


def judged(made: Run, *seeds: int) -> ChampionKeeper:
    """Candidates of these seeds, one after the other."""
    keeper = keeper_of(made)
    for seed in seeds:
        made.learner.net.load_state_dict(net_of(seed, BLACK_WINS).state_dict())
        made.learner.steps += 1
        assert keeper.judge(made, threading.Event())
    return keeper


class TestJudging:
    """Where the candidate always wins half of the games."""

    def numbers(self, path: Path, *seeds: int, **champions: Any) -> tuple[int, int]:
        settings = {"games": 4, "readouts": 0, **champions}
        with opened(path, env=BLACK_WINS, source=RandomGames, judges=[Champions(**settings)]) as made:
            keeper = judged(made, *seeds)
            for number in (keeper.best_number, keeper.second_number):
                right = net_of((0, *seeds)[number], BLACK_WINS)
                assert same(keeper.nets[number], right)
            return keeper.best_number, keeper.second_number

    def test_a_promotion(self, tmp_path: Path) -> None:
        """The best so far becomes the second; and so on."""
        assert self.numbers(tmp_path, 5, 6, win_rate=0.5) == (2, 1)

    def test_a_second_that_the_candidate_loses_to_stays(self, tmp_path: Path) -> None:
        assert self.numbers(tmp_path / "1", 5, win_rate=0.5, second_rate=0.51) == (1, 0)  # there was one alone
        assert self.numbers(tmp_path / "2", 5, 6, win_rate=0.5, second_rate=0.51) == (2, 0)

    def test_a_rejection(self, tmp_path: Path) -> None:
        assert self.numbers(tmp_path, 5, 6, win_rate=0.556) == (0, 0)

    def test_rows_notes_and_games(self, tmp_path: Path) -> None:
        listener = Listener()
        judges = [Champions(0.5, games=4, readouts=0)]
        with opened(tmp_path, env=BLACK_WINS, source=RandomGames, judges=judges, report=listener) as made:
            keeper = judged(made, 5, 6)
            assert (keeper.candidates, keeper.rates) == (2, [0.5, 0.5])
        rows = read_rows(tmp_path / "evaluations.jsonl", "opponent")
        assert [row["opponent"] for row in rows] == ["best so far", "best so far", "second best"]
        assert {row["judge"] for row in rows} == {"champions"}
        assert ["accepted" in row for row in rows] == [True, True, False]
        assert all((row["wins"], row["losses"], row["played"]) == (2, 2, 4) for row in rows)
        assert listener.noted("against the second best (95 %")
        for name in ("champions", "second"):
            assert len(load_records(tmp_path / "matches" / f"{name}-0000000-3x3.npz")) == 4

    def test_networks_that_nothing_needs_go(self, tmp_path: Path) -> None:
        """The champions stay, and the latest candidates, whether they were accepted or not."""
        settings = {"games": 2, "readouts": 0, "win_rate": 0.556, "recent": 3}
        with opened(tmp_path, env=BLACK_WINS, source=RandomGames, judges=[Champions(**settings)]) as made:
            keeper = judged(made, *range(1, 5))
            assert sorted(keeper.nets) == [0, 2, 3, 4]
            assert keeper.recent_number in (2, 3, 4)
            assert len(keeper.tensors()) == 4 * len(keeper.best.state_dict())

    def test_a_recent_one_is_drawn_anew(self, tmp_path: Path) -> None:
        """A recent generation, not always the same."""
        settings = {"games": 2, "readouts": 0, "win_rate": 0.5, "recent": 3}
        with opened(tmp_path, env=BLACK_WINS, source=RandomGames, judges=[Champions(**settings)]) as made:
            ages = []
            for seed in range(1, 7):
                keeper = judged(made, seed)
                ages.append(keeper.candidates - keeper.recent_number)
                assert keeper.company is not None
                assert keeper.company.nets == (keeper.second, keeper.nets[keeper.recent_number])
                assert keeper.company is keeper.company
        assert len(set(ages)) > 1
        assert set(ages) <= {0, 1, 2}


class TestRun:
    def test_whom_it_rejects_never_plays_but_learns_on(self, tmp_path: Path) -> None:
        """The next candidate is the rejected one with more steps."""
        champions = {"win_rate": 0.556, "games": 2, "every": 6, "readouts": 0}
        with opened(tmp_path, env=BLACK_WINS, source=Published, judges=[Champions(**champions)]) as made:
            train_loop(made, threading.Event())
            source = made.stage.source
            assert isinstance(source, Published)
            assert len(source.nets) == 1
            assert source.nets[0][1] is None
            first = net_of(0, BLACK_WINS)
            assert same(made.player, first)
            assert same(load_model(tmp_path, BLACK_WINS), first)
            assert not same(made.learner.net, first)
            keeper = keeper_of(made)
            assert same(keeper.nets[keeper.candidates], made.learner.net)
            assert keeper.candidates > 1

    def test_champions_play_and_are_saved(self, tmp_path: Path) -> None:
        champions = {**QUICK, "win_rate": 0.5, "readouts": 0}
        with opened(tmp_path, env=BLACK_WINS, source=Published, judges=[Champions(**champions)]) as made:
            train_loop(made, threading.Event())
            source = made.stage.source
            keeper = keeper_of(made)
            assert isinstance(source, Published)
            assert same(load_model(tmp_path, BLACK_WINS), keeper.best)
            net, company = source.nets[-1]
            assert company is not None
            assert same(net, keeper.best)
            assert same(company.nets[0], keeper.second)
            assert sum(company.shares) == pytest.approx(1)
            best, second, _ = source.players.evaluators
            assert second is not best

    @pytest.mark.slow
    def test_a_recent_networks_moves_are_not_learned_from(self, championed: Small) -> None:
        halves = [np.mean(record.weights > 0) for record in games_in(championed.folder)]
        mixed = [half for half in halves if half < 1]
        assert 1.0 in halves
        assert len(mixed) >= 2
        assert all(0.3 < half < 0.7 for half in mixed)  # every other ply

    @pytest.mark.slow
    def test_it_goes_on_to_the_bit(self, tmp_path: Path, championed: Small) -> None:
        """Killed three times, each time after so many saves."""
        for saves in (25, 15, 15):
            run_killed(tmp_path, saves, **RUN)
        again, _ = go_on(tmp_path)
        assert same(again, championed.net)
        rows = [without_times(read_history(path).evaluations) for path in (championed.folder, tmp_path)]
        assert rows[0] == rows[1]
        assert {row["opponent"] for row in rows[0]} == {"best so far", "second best"}
        games = [[record.moves.tolist() for record in games_in(path)] for path in (championed.folder, tmp_path)]
        assert games[0] == games[1]

    @pytest.mark.slow
    def test_they_come_later_and_go(self, tmp_path: Path) -> None:
        """The network as it stands then is both champions; and the best goes on alone when they are taken off."""
        net, _ = run(tmp_path, 8, BLACK_WINS)
        settings = {"win_rate": 0.556, "games": 2, "every": 4, "readouts": 0}
        later, listener = go_on(tmp_path, 16, env=BLACK_WINS, judges=[Champions(**settings)])
        assert listener.noted("champions is Champions(")
        assert same(later, net)
        (saved,) = json.loads((tmp_path / "config.json").read_text())["settings"]["judges"]
        assert (saved["kind"], saved["every"]) == ("champions", 4)
        _, listener = go_on(tmp_path, 20, env=BLACK_WINS, judges=[])
        assert listener.noted("champions is None from now on")
        assert listener.last["games"] == 20

    @pytest.mark.slow
    def test_boards_one_after_the_other(self, tmp_path: Path) -> None:
        """The champions go on to the larger board."""
        judges = [Champions(**QUICK | {"readouts": 0, "every": 6})]
        net, listener = run(tmp_path, 16, curriculum=((2, 0.6),), judges=judges)
        assert net.env == GO
        assert {row["board_size"] for row in listener.rows} == {2, 3}
        assert len(read_history(tmp_path).evaluations) > 1
