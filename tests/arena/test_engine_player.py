"""Engines as players: what they are told, what their faults cost, and how many run at once."""

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alphago import GoEnv, evaluate
from alphago.arena.engine import Engine, EngineProcess
from alphago.arena.engine_player import EnginePlayer, read_margin
from alphago.env.go_rules import Rules
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import UniformEvaluator
from tests.arena.playing import match_on, passes, scripted

pytestmark = pytest.mark.usefixtures("no_engine_is_left")
GO = GoEnv(3, komi=0.5)
ONE, NEVER, CHANCE = np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1)


def text(env: GoEnv, moves: tuple[int, ...]) -> str:
    return " ".join(env.to_text(action) for action in moves)


class TestPlayer:
    def test_setup_and_moves(self, tmp_path: Path) -> None:
        """The commands that the engine receives, in order."""
        log = tmp_path / "log"
        body = f'open({str(log)!r}, "a").write(line); reply(moves.pop(0))'
        note = f'open({str(log)!r}, "a").write(line); reply()'
        engine = scripted(tmp_path, "b2 PASS", genmove=body, play=note)
        with closing(EnginePlayer(GO, engine, [5])) as player:
            assert player.choose(ONE, NEVER, CHANCE).tolist() == [4]
            player.follow(ONE, np.array([4], np.int32))
            player.follow(ONE, np.array([0], np.int32))
            assert player.choose(ONE, NEVER, CHANCE).tolist() == [9]
            player.follow(ONE, np.array([9], np.int32))
            player.follow(ONE, np.array([9], np.int32))
        assert log.read_text().splitlines() == ["genmove b", "play w A3", "genmove b", "play w pass"]
        assert player.scores == {0: "B+8.5"}

    def test_rules(self, tmp_path: Path) -> None:
        """An engine with `rule_options` is started with the match's rules."""
        engine = replace(scripted(tmp_path), rule_options=lambda rules: (rules.ko, str(rules.suicide)))
        for env in (GoEnv(3), GoEnv(3, ko="simple", suicide=True)):
            with closing(EnginePlayer(env, engine, [1])) as player:
                assert player.processes[0].process.args[-2:] == [env.ko, str(env.suicide)]

    def test_margin(self) -> None:
        margins = {"B+3.5": 3.5, "w+10": -10, "W+0.75": -0.75, "B+0": 0, "0": 0, "Draw": 0, "B+R": None, "": None}
        assert {score: read_margin(score) for score in margins} == margins


class TestMatch:
    def test_a_good_engine(self, tmp_path: Path) -> None:
        """It plays B2, A1 and passes, against a player that always passes."""
        match = evaluate(GO, scripted(tmp_path, "B2 A1"), passes, 4, 0, opening_plies=0)
        assert [text(GO, game) for game in match.games] == ["B2 pass A1 pass pass", "pass B2 pass A1 pass pass"] * 2
        assert match.outcomes.tolist() == [1, 1, 1, 1]
        assert match.forfeits == {}
        # As Black it has 9 points and 0.5 less; as White 9.5 more, where it still says B+8.5.
        assert match.counted == 4
        assert match.disagreements == dict.fromkeys((1, 3), "W+9.5 on the board, B+8.5 counts engine")
        assert str(match).endswith("; an engine scored 4 final boards, 2 of them differently")

    @pytest.mark.parametrize(
        ("bodies", "why"),
        [
            ({"genmove": "sys.exit(3)"}, r"'genmove [bw]' was sent, the process has ended \(exit status 3\)"),
            ({"genmove": 'reply("B9")'}, "answered 'B9' to genmove: 'B9' is not a point of GoEnv"),
            ({"genmove": 'reply("B2")'}, "answered 'B2' to genmove: illegal move B2: .* has a stone there, in GoEnv"),
            ({"genmove": 'print("? I would rather not\\n", flush=True)'}, "refused 'genmove [bw]': I would rather not"),
            ({"play": 'print("? illegal move\\n", flush=True)'}, "refused 'play [bw] pass': illegal move"),
        ],
    )
    def test_a_fault_loses_the_game_and_is_told(self, tmp_path: Path, bodies: dict, why: str) -> None:
        match = evaluate(GO, scripted(tmp_path, "B2 A1", **bodies), passes, 2, 0)
        assert match.outcomes.tolist() == [-1, -1]
        assert list(match.forfeits) == [0, 1]
        for fault in match.forfeits.values():
            assert re.match(f"engine:? .*{why}", fault)
        assert "; 2 games were lost by a player's fault, the first game 0: engine" in str(match)

    def test_resigning_is_no_fault(self, tmp_path: Path) -> None:
        match = evaluate(GO, scripted(tmp_path, "Resign"), "random", 2)
        assert match.outcomes.tolist() == [-1, -1]
        assert match.forfeits == {}

    def test_faults_of_some_games_only(self, tmp_path: Path) -> None:
        body = 'sys.exit(1) if int(sys.argv[2]) % 3 == 0 else reply(moves.pop(0) if moves else "pass")'
        match = match_on(1, GO, scripted(tmp_path, "B2 A1", genmove=body), passes, 6)
        assert match.outcomes.tolist() == [1, 1, -1, 1, 1, -1]  # seeds count from 1
        assert sorted(match.forfeits) == [2, 5]

    @pytest.mark.parametrize(("cores", "limits"), [(1, [2]), (2, [1]), (2, [3]), (1, [32, 2]), (2, [1, 32])])
    def test_engines_side_by_side_are_limited(self, tmp_path: Path, cores: int, limits: list[int]) -> None:
        """Each engine's processes, on any number of cores; two engines of one match share the smaller limit."""
        most, started = dict[str, int](), list[EngineProcess]()

        class Counted(Engine):
            def start(self, seed: int, rules: Rules) -> EngineProcess:
                process = super().start(seed, rules)
                started.append(process)
                running = [one for one in started if one.name == self.name and one.process.poll() is None]
                most[self.name] = max(most.get(self.name, 0), len(running))
                return process

        command = scripted(tmp_path, "B2").command
        players = [Counted(f"engine{i}", command, at_once=limit) for i, limit in enumerate(limits)]
        match = match_on(cores, GO, players[0], (*players, "random")[1], 5)
        assert len(started) == 5 * len(limits)
        assert max(most.values()) <= min(limits)
        if cores == 1:  # two threads need not be at work at the same moment
            assert set(most.values()) == {min(limits)}
        assert len([game for game in match.games if game]) == 5

    def test_an_error_of_ours_ends_the_engines(self, tmp_path: Path) -> None:
        class Fails(UniformEvaluator):
            def evaluate(self, batch, slots, priors, values) -> None:
                raise RuntimeError("out of luck")

        with pytest.raises(RuntimeError, match="out of luck"):
            evaluate(GO, scripted(tmp_path, "B2"), Fails(), 4, 4)

    def test_other_games(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"must be Go for engine, got TicTacToeEnv\(\)"):
            evaluate(TicTacToeEnv(), scripted(tmp_path), "random", 2)

    def test_options_of_self_play_do_not_hold(self, tmp_path: Path) -> None:
        """A ply limit and a first legal pass, which no engine knows."""
        env = GoEnv(3, komi=0.5, max_moves=2, first_pass=6)
        match = evaluate(env, scripted(tmp_path, "B2 A1"), passes, 1, 0)
        assert text(env, match.games[0]) == "B2 pass A1 pass pass"

    def test_an_engine_that_counts_nothing(self, tmp_path: Path) -> None:
        for answer in ('print("? cannot score\\n", flush=True)', 'reply("who knows")', "sys.exit(1)"):
            match = evaluate(GO, scripted(tmp_path, "B2", final_score=answer), "random", 1)
            assert match.counted == 0
            assert match.forfeits == {}


TURNS = GoEnv(3, komi=0, turns=4)


def test_after_fixed_turns_the_board_counts_and_no_engine_is_asked(tmp_path: Path) -> None:
    """Engines do not know it: one that always passes gives its turns up; two passes would have ended the game."""
    match = evaluate(TURNS, UniformEvaluator(), scripted(tmp_path, final_score='reply("W+99")'), 2, 4, seed=1)
    assert [len(game) for game in match.games] == [8, 8]
    assert match.forfeits == {}
    assert (match.counted, match.disagreements) == (0, {})
    for number, game in enumerate(match.games):
        theirs, ours = game[1 - number :: 2], game[number::2]
        assert theirs == (9,) * 4
        assert 9 not in ours  # nor does ours pass while it has a move
    assert match.wins == 2
