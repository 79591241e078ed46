"""`selfplay`, and games that come from a source of one's own."""

import threading
from pathlib import Path

import pytest

from alphago import GameRecord, selfplay
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.loop import train_loop
from alphago.training.source import GameSource
from tests.training.small_runs import GO, EagerSaving, Killed, RandomGames, Sources, games_in, go_on, opened, run, same


class TestSource:
    """A run asks for games; who plays them is its caller's business."""

    def test_one_of_ones_own(self, tmp_path: Path) -> None:
        """Whole games of random moves: the run learns from them and keeps them, and tells when to play what."""
        sources = Sources()
        net, listener = run(tmp_path, 16, source=sources)
        (source,) = sources.made
        checked: GameSource = source
        assert checked.begun == 16
        assert len(listener.rows) == len(source.asked) == 4
        assert set(source.asked) == {(6, 4, 4)}
        assert [record.seed for record in games_in(tmp_path)] == [(0, number) for number in range(16)]
        assert listener.last["positions"] == source.moves
        assert listener.last["steps"] > 10
        assert not same(source.published[0], net)
        assert len(source.published) == 1 + sum(row["steps"] > 0 for row in listener.rows)
        assert source.closed == 1

    @pytest.mark.slow
    def test_one_for_each_stage_and_call(self, tmp_path: Path) -> None:
        """Each is made once, also where a run goes on, and closed once, also after an error."""
        whole, cut, again = Sources(), Sources(), Sources()
        run(tmp_path / "whole", 8, source=whole, curriculum=((2, 0.5),))
        with pytest.raises(Killed), opened(tmp_path / "cut", saving=EagerSaving(kill_after=9), source=cut) as killed:
            train_loop(killed, threading.Event())
        go_on(tmp_path / "cut", source=again)
        assert [[source.closed for source in sources.made] for sources in (whole, cut, again)] == [[1, 1], [1], [1]]

    @pytest.mark.slow
    def test_another_one_goes_on(self, tmp_path: Path) -> None:
        """What a run learned from is its own, wherever its next games come from."""
        run(tmp_path, 8, source=RandomGames)
        with pytest.raises(ValueError, match=r"source must .* \S+:RandomGames, got alphago\S+:SelfPlay"):
            go_on(tmp_path, 12)
        assert go_on(tmp_path, 12, source=Sources())[1].last["games"] == 12


def test_each_call_plays_new_games() -> None:
    """Their records say the seed that gives them again."""
    first, second = (selfplay(GO, HashEvaluator(), 4, 4, device="cpu") for _ in range(2))
    assert first[0].seed is not None
    assert len({record.seed for record in first + second}) == 8
    again = selfplay(GO, HashEvaluator(), 4, 4, device="cpu", seed=first[0].seed[0])
    assert [record.moves.tolist() for record in again] == [record.moves.tolist() for record in first]


def test_each_game_is_told_as_it_ends() -> None:
    """With its number, from whichever thread played it."""
    heard: dict[int, GameRecord] = {}
    records = selfplay(TicTacToeEnv(), HashEvaluator(), 4, 9, groups=2, device="cpu", on_game=heard.__setitem__)
    assert [heard[number] for number in range(9)] == records
