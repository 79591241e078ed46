"""The games of a match: random openings, which games count as different, and final boards told by hand."""

from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.arena.entrant import Entrant
from alphago.arena.match import evaluate, play_match
from alphago.arena.match_games import MatchPlan, MatchSetup, opening_length
from alphago.arena.match_result import MatchGame, distinct_games, final_board_means
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from tests.arena.playing import scripted
from tests.eyes import own_eyes

GO = GoEnv(3, komi=0.5)


class TestRandomOpenings:
    def test_pairs_share_them(self) -> None:
        env = GoEnv(7)
        match = evaluate(env, UniformEvaluator(), HashEvaluator(), 12, 0, random_opening=3)
        openings = [game[:3] for game in match.games]
        assert openings[::2] == openings[1::2]
        assert len(set(openings)) == 6
        points = {divmod(action, 7) for opening in openings for action in opening}
        assert all(0 < row < 6 and 0 < column < 6 for row, column in points)
        assert evaluate(env, "random", "random", 12, random_opening=3, seed=1).games[0][:3] != openings[0]

    def test_where_there_is_no_inner_point(self) -> None:
        match = evaluate(GoEnv(2), "random", "random", 8, random_opening=2)
        assert all(match.games)
        assert evaluate(TicTacToeEnv(), HashEvaluator(), HashEvaluator(), 6, 4, random_opening=2).distinct > 1

    def test_engines_hear_of_them(self, tmp_path: Path) -> None:
        """As moves of both sides, before they are asked for one; both colours in turn."""
        note = f'open({str(tmp_path / "log")!r} + sys.argv[2], "a").write(line); '
        env = GoEnv(5)
        engine = scripted(tmp_path, genmove=note + 'reply("pass")', play=note + "reply()")
        match = evaluate(env, engine, "random", 2, random_opening=2)
        assert match.forfeits == {}
        assert match.games[0][:2] == match.games[1][:2]
        first, second = (env.to_text(action) for action in match.games[0][:2])
        heard = [path.read_text().splitlines() for path in tmp_path.glob("log*")]
        assert [lines[:2] for lines in heard] == [[f"play b {first}", f"play w {second}"]] * 2


def game(text: str) -> tuple[int, ...]:
    return tuple(GO.from_text(move) for move in text.split())


def averages(games: list[tuple[int, ...]]) -> tuple[float, ...]:
    return tuple(final_board_means(GO, games).values())


def test_a_final_board() -> None:
    """White takes the corner stone and is taken in turn; Black ends with the whole board."""
    moves = game("A3 A2 C1 B3")  # Black's A3 is taken
    assert averages([moves]) == (1 - 3 - 0.5, 0, 1)  # White: A2, B3 and A3; Black: C1
    moves += game("B2 pass A1 pass C3 pass")
    moves += game("A3")  # fills the last liberty of both
    assert averages([moves]) == (9 - 0.5, 2, 1)


def test_final_boards_of_both_colours() -> None:
    """The first player has White in the second game."""
    first, second = game("A3 A2 C1 B3"), game("B2 pass pass")
    assert averages([first, second]) == ((-2.5 - 8.5) / 2, 0, 0.5)
    assert averages([second, first]) == ((8.5 + 2.5) / 2, 0.5, 0)


class TestDistinctGames:
    def test_repeated_games(self) -> None:
        assert distinct_games([(1, 2), (1, 2), (1,), (2, 1)]) == 3

    def test_up_to_symmetry(self) -> None:
        """Rotated and reflected games are the same; a pass stays where it is."""
        turned = ["A3 C3 pass B2", "C3 C1 pass B2", "A1 A3 pass B2", "C3 A3 pass B2"]
        others = ["A3 A1 B2 pass", "A3 C1 pass B2", "A3 C3", "B3 C2", "pass pass", ""]
        games = [game(text) for text in turned + others]
        assert distinct_games(games, GO.symmetries.actions) == 1 + len(others)
        assert distinct_games(games) == len(games)
        random = evaluate(GoEnv(2, komi=0.5), "random", "random", 300)
        assert random.distinct < len(set(random.games))


@pytest.mark.parametrize("env", [GoEnv(5), ConnectFourEnv()], ids=str)
def test_games_are_legal_and_fill_no_eyes(env: GameEnv) -> None:
    entrants = Entrant(HashEvaluator(), level=2), Entrant(HashEvaluator(), level=8)
    games: list[MatchGame] = []
    play_match(MatchSetup(env.match_variant(), entrants, MatchPlan(6, 0, 0, 1, 1)), range(6), games.append)
    assert len({game.moves for game in games}) == 6
    for game in games if env.name == "go" else ():
        end = env.match_variant().position().after(game.moves)
        for before, action in end.turns():
            eyes = own_eyes(before.batch.rows, env.N)[0]
            assert action == env.pass_action or not eyes[action]
        assert end.is_over


def test_usual_number_of_plies() -> None:
    usual = {2: [GoEnv(19), GomokuEnv(9)], 4: [GoEnv(5), GoEnv(2), OwareEnv(), GomokuEnv(3, 3)], 6: [ReversiEnv()]}
    for plies, envs in usual.items():
        assert {opening_length(env) for env in envs} == {plies}
