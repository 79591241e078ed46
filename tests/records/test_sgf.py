"""SGF files: what is written can be read, what others write too, and what cannot be used is told in a sentence."""

from dataclasses import replace
from pathlib import Path

import pytest

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules, read_rules
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.player import make_record
from alphago.records.record import POLICY_SCALE, RecordBuilder
from alphago.records.sgf import MoveNote, format_sgf, parse_sgf, read_sgf, read_sgf_games, write_sgf
from alphago.records.sgf.sgf_game import SgfGame

# As a server writes it: CR LF, a head over several lines, lower-case letters in names, variations, a mark.
SERVER = (
    "\ufeff(;GaMe[1]FF[4]CA[UTF-8]\r\nSZ[5]KM[6.50]RU[Japanese]PB[Søren \\[2d\\]]PW[Li\r\nWei]RE[B+R]\r\n"
    "C[A short\r\ngame];B[cc];W[cb]LB[cb:A]C[too \\\\ close\\]](;B[bb]C[main];W[])(;B[dd];W[ee]))\n"
)


def moves(game: SgfGame) -> str:
    """The game as people write it."""
    return game.position().moves_text()


def points(env: GoEnv, text: str) -> tuple[int, ...]:
    return tuple(map(env.from_text, text.split()))


class TestReading:
    def test_a_server_file(self) -> None:
        game = parse_sgf(SERVER)
        assert moves(game) == "B C3, W C4, B B4, W pass"
        assert (game.board_size, game.komi, game.rules, game.handicap) == (5, 6.5, "Japanese", 0)
        assert game.players == ("Søren [2d]", "Li\nWei")
        assert (game.result, game.outcome, game.margin) == ("B+R", 1.0, None)
        assert game.comment == "A short\ngame"
        assert game.comments == {1: "too \\ close]", 2: "main"}
        assert game.env() == GoEnv(5, komi=6.5, ko="simple")  # Japanese rules

    def test_rules(self) -> None:
        """Those of the name, or `GoEnv`'s."""
        for name in ("korean", "NZ", "house rules", ""):
            game = parse_sgf(f"(;SZ[5]RU[{name}];B[aa])")
            assert (game.env().rules, game.rules) == (read_rules(name) or Rules(), name)

    def test_setup(self) -> None:
        """Stones in rectangles, taken away again, in a node of their own; who moves follows from the moves or PL."""
        game = parse_sgf("(;SZ[5];AB[aa:bb][ee]AE[ab]PL[B];AW[ab]W[cc])")
        assert str(game.position(ply=0)).splitlines()[1:6] == [
            " 5  X X . . .  5",
            " 4  O X . . .  4",
            " 3  . . . . .  3",
            " 2  . . . . .  2",
            " 1  . . . . X  1",
        ]
        assert moves(game) == "W C3"
        for corners in ("bb:dc", "dc:bb", "db:bc", "bc:db"):
            assert parse_sgf(f"(;SZ[5]AB[{corners}])").setup == {"black": "B4 C4 D4 B3 C3 D3"}
        assert parse_sgf("(;SZ[5]AB[aa]PL[W])").setup == {"black": "A5", "to_play": "white"}
        assert parse_sgf("(;SZ[5]TO[0]AW[aa]PL[B])").setup == {"white": "A5"}

    def test_a_colour_that_moves_twice(self) -> None:
        """There is no pass between, and comments stay with their moves."""
        game = parse_sgf("(;SZ[5];B[aa];B[bb]C[again];W[cc];W[dd]C[too])")
        assert moves(game) == "B A5, B B4, W C3, W D2"
        assert game.movers == (1, 1, -1, -1)
        assert game.comments == {1: "again", 3: "too"}
        assert format_sgf(game).endswith(b";B[aa];B[bb]C[again];W[cc];C[too]W[dd])\n")

    def test_a_file_of_several_games(self, tmp_path: Path) -> None:
        path = tmp_path / "games.sgf"
        path.write_text("(;SZ[5];B[aa])\n(;SZ[9]PB[second];B[])")
        assert [(game.board_size, game.players[0]) for game in read_sgf_games(path)] == [(5, ""), (9, "second")]
        path.write_text("(;SZ[5];B[aa])(;SZ[5];B[zz])")
        with pytest.raises(ValueError, match=r"games\.sgf, game 2: a move must be on a point"):
            read_sgf_games(path)

    def test_more_moves_than_the_usual_limit(self) -> None:
        """GoEnv(2) ends after five plies; this game has more."""
        long = parse_sgf("(;SZ[3]KM[0];B[bb];W[ab];B[cb];W[aa];B[bc];W[ac];B[ca];W[];B[ba];W[];B[aa];W[ac];B[cc])")
        assert len(long.moves) == 13
        assert long.env().max_moves == 14
        assert long.position().moves == long.moves

    def test_the_game_that_it_has_to_be(self) -> None:
        """Fixed turns, which no file tells: passes end nothing, the last turn does."""
        text = "(;SZ[5];B[];W[];B[aa];W[bb]%s)"
        env = GoEnv(5, turns=2)
        assert parse_sgf(text % ";B[];W[]", env=env).moves == (25, 25, 0, 6)
        with pytest.raises(ValueError, match=r"^it: move 5, Black C3, is illegal: the game ends after move 4$"):
            parse_sgf(text % ";B[cc]", "it", env)
        with pytest.raises(ValueError, match=r"^it: the board must be 7x7, got 5x5$"):
            parse_sgf(text % "", "it", GoEnv(7))


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "no SGF data found"),
            ("see[1])", "no SGF data found"),
            ("(;SZ[9];B[aa]", "the file ends within the game"),
            ("(;GM[2]SZ[8])", "GM must be 1, a game of Go, got '2'"),
            ("(;SZ[9:13])", "the board must be a square one, got '9:13': alphago web --game examples/go_variants.py:"),
            ("(;SZ[9]TO[3];B[aa])", "the board must be a flat one, got TO[3]"),
            ("(;SZ[26])", "the board must be one from 2 to 25, got '26'"),
            ("(;SZ[9]KM[7.3])", "komi must be a multiple of 0.5, got '7.3'"),
            ("(;SZ[9]KM[nan])", "komi must be a multiple of 0.5, got 'nan'"),
            ("(;SZ[9]HA[two])", "the handicap must be a number of stones, got 'two'"),
            ("(;SZ[9];B[jj])", "a move must be on a point of a board of 9 x 9, got 'jj'"),
            ("(;SZ[9];B[a])", "a move must be on a point of a board of 9 x 9, got 'a'"),
            ("(;SZ[9];B[E15])", "a move must be on a point of a board of 9 x 9, got 'E15'"),
            ("(;SZ[9]AB[tt])", "a stone must be on a point of a board of 9 x 9, got 'tt'"),
            ("(;SZ[9];B[aa];AW[bb];W[cc])", "stones must be set up before the first move, got a set-up after move 1"),
            ("(;SZ[5]AB[ab][ba]AW[aa])", "the chain at A5 has no liberty"),
            ("(;SZ[5];B[ba];W[ca];B[ab];W[bb];B[ee];W[aa];B[ba])", "move 7, Black B5, is illegal: superko"),
            ("(;SZ[5])(;SZ[5])", "it must hold one game, got 2: split it; read_sgf_games of Python reads all"),
        ],
    )
    def test_what_is_wrong(self, text: str, why: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.sgf"
        path.write_text(text)
        with pytest.raises(ValueError, match=r"bad\.sgf: ") as error:
            read_sgf(path)
        assert str(error.value).startswith(f"{path}: {why}")

    @pytest.mark.parametrize("name", ["SZ", "KM", "HA", "GM", "B"])
    def test_messages_stay_short(self, name: str) -> None:
        with pytest.raises(ValueError, match=r"got '7x7x7x.* … .*7x7x'$") as caught:
            parse_sgf(f"(;{name}[{'7x' * 300_000}])")
        assert len(str(caught.value)) < 350


class TestWriting:
    def test_text(self) -> None:
        env = GoEnv(5)
        texts = {"players": ("a]b", "c\\d"), "comment": "so\nit \\\nwent", "comments": {1: "hm"}}
        game = SgfGame(5, points(env, "C3 B2 pass"), 6.5, result="W+0.5", rules="Chinese", **texts)
        assert format_sgf(game).decode() == (
            "(;FF[4]C[so\nit \\\\\nwent]CA[UTF-8]GM[1]KM[6.5]PB[a\\]b]PW[c\\\\d]RE[W+0.5]\n"
            "RU[Chinese]SZ[5];B[cc];C[hm]W[bd];B[])\n"
        )
        assert parse_sgf(format_sgf(game)).comment == game.comment

    def test_round_trip(self, tmp_path: Path) -> None:
        env = GoEnv(5)
        games = [
            SgfGame(9, ()),
            SgfGame(19, (), 150.0),
            SgfGame(19, (), -361.5),
            SgfGame(9, (), 100.0),
            SgfGame(5, points(env, "C3 B2 pass pass"), 0.0, result="0", players=("", "Größe"), comments={0: "[x]"}),
            SgfGame(5, points(env, "D4 A1"), -3.5, {"black": "B4 C2", "white": "C4", "to_play": "white"}, "B+R"),
            SgfGame(19, (), 0.5, {"black": "D16 Q4"}, rules="AGA", handicap=2, comment="two lines\nof text"),
            SgfGame(5, points(env, "A5 B4"), movers=(1, 1), comments={1: "again"}),
        ]
        for game in games:
            write_sgf(tmp_path / "game.sgf", game)
            assert read_sgf(tmp_path / "game.sgf") == game


class TestRecords:
    def record(self, setup: dict | None = None, resigned: bool = False):
        env = GoEnv(5, komi=0.5)
        end = env.position(**(setup or {})).after(["C3", "B2", "D2", "pass", "pass"])
        return env, make_record(env, end, {}, resigned=resigned)

    def test_from_a_record(self) -> None:
        env, record = self.record()
        game = SgfGame.from_record(record, env, players=("a", "b"))
        assert moves(game) == "B C3, W B2, B D2, W pass, B pass"
        assert (game.komi, game.result, game.rules, game.players) == (0.5, "B+0.5", "Chinese", ("a", "b"))
        assert game.position().is_over
        assert parse_sgf(format_sgf(game)) == game

    def test_the_handicap_of_a_set_up(self) -> None:
        """HA is written where stones are a handicap, for programs that look for it."""
        env = GoEnv(9)
        handicaps = {"black": "C3 G7 C7", "to_play": "white"}, {"black": [10, 20, 30], "to_play": -1}
        others = {"black": "C3 G7", "white": "E5", "to_play": "white"}, {"black": "C3 G7"}, {}
        for setup in (*handicaps, *others, {"black": "C3", "to_play": "white"}):
            game = SgfGame.in_game(env, (), setup=dict(env.position(**setup).setup))
            text = format_sgf(game)
            assert game.handicap == parse_sgf(text).handicap == 3 * (setup in handicaps)
            assert (b"HA[3]" in text) == (b"HA" in text) == (setup in handicaps)

    def test_setup_and_komi_of_a_record(self) -> None:
        env, record = self.record({"black": "A5", "to_play": "white", "komi": -2.0}, resigned=True)
        game = SgfGame.from_record(record, env)
        assert (game.komi, game.setup) == (-2.0, {"black": "A5", "to_play": "white"})
        assert game.result in ("B+R", "W+R")

    def test_back_to_a_record(self) -> None:
        """One-hot policies; a turn that was skipped is no move."""
        record = parse_sgf("(;SZ[5]KM[0.5]RE[W+2.5]AB[ee]PL[W];W[aa];W[bb])").to_record(GoEnv(5))
        assert record.moves.tolist() == record.policies.argmax(axis=1).tolist() == [0, 6]
        assert record.movers.tolist() == [-1, -1]
        assert record.steps(GoEnv(5)).tolist() == [0, -7]
        assert record.policies.sum(axis=1).tolist() == [POLICY_SCALE] * 2
        assert not record.legal_counts.any()  # unknown
        assert (record.outcome, record.score, record.resigned) == (-1.0, -2.5, False)
        assert record.setup == {"black": "E1", "to_play": "white", "komi": 0.5}
        again = record.position(GoEnv(5))
        assert again.komi == 0.5
        assert again.moves_text() == "W A5, W B4"

    def test_without_result(self) -> None:
        with pytest.raises(ValueError, match=r"^result must name the winner or a draw, got 'Void'$"):
            parse_sgf("(;SZ[5]RE[Void];B[aa])").to_record()

    def test_other_games(self) -> None:
        record = RecordBuilder().finish(0, 0, False, 9)
        with pytest.raises(ValueError, match=r"env must be Go for SGF files, got TicTacToeEnv\(\)"):
            SgfGame.from_record(record, TicTacToeEnv())


# --- what was read is written as it was read, but for what was changed ---

HEAD = "FF[4]CA[UTF-8]BR[9p]GM[1]KM[750]MN[3]PB[A\\]b]RE[W+T]SZ[5]TM[60]XX[one][two]"
TEXT = f"(;{HEAD}C[on the game];B[aa]C[so]TR[aa];LB[aa:1];B[bb](;W[cc]BL[3])(;W[aa]C[illegal])(;AW[ee];W[dd]))"


def written(game: SgfGame) -> str:
    return format_sgf(game).decode().replace("\n", "")


def test_nothing_is_lost() -> None:
    assert "".join(sorted(written(parse_sgf(TEXT)))) == "".join(sorted(TEXT))
    assert parse_sgf(written(parse_sgf(TEXT))) == parse_sgf(TEXT)


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ({"result": "B+1"}, "RE[W+T]", "RE[B+1]"),
        ({"result": ""}, "RE[W+T]", ""),
        ({"komi": 7.0}, "KM[750]", "KM[7]"),
        ({"players": ("Ann", "")}, "PB[A\\]b]", "PB[Ann]"),
        ({"comment": ""}, "C[on the game]", ""),
        ({"comments": {0: "no"}}, "C[so]", "C[no]"),
        ({"comments": {}}, "C[so]", ""),
        ({"moves": (0, 6, 12, 24), "movers": (1, 1, -1, 1)}, ";BL[3]W[cc]", ";BL[3]W[cc];B[ee]"),
        ({"moves": (0, 6), "movers": (1, 1)}, "(;BL[3]W[cc])(;C[illegal]W[aa])", "(;)(;C[illegal]W[aa])"),
        ({"moves": (0, 6, 24), "movers": (1, 1, -1)}, "(;BL[3]W[cc])", "(;W[ee])(;BL[3]W[cc])"),
    ],
)
def test_only_what_was_changed_is_written_anew(change: dict, before: str, after: str) -> None:
    game = parse_sgf(TEXT)
    text = written(game)
    assert before in text
    assert written(replace(game, **change)) == text.replace(before, after, 1)


SIDE_BY_SIDE = "(;SZ[5];B[aa](;W[bb]B[cc](;W[ee])(;W[ed]))(;W[dd]))"


@pytest.mark.parametrize("text", ["(;SZ[5]B[aa]W[bb])", "(;SZ[5];W[dd];B[aa]W[bb];B[cc];W[ed])", SIDE_BY_SIDE])
def test_a_game_that_ends_early_or_goes_on_otherwise(text: str) -> None:
    """It does so when it is read again, also between two moves of a node, and before variations."""
    game = parse_sgf(text)
    for count in range(len(game.moves)):
        for more in ((), (22,)):
            moves, movers = (*game.moves[:count], *more), game.movers[: count + len(more)]
            again = parse_sgf(format_sgf(replace(game, moves=moves, movers=movers)))
            assert (again.moves, again.movers) == (moves, movers)


def test_what_follows_two_moves_of_a_node_stays_behind_the_second() -> None:
    game = parse_sgf(SIDE_BY_SIDE)
    text = written(replace(game, moves=(0, 6, 22), movers=(1, -1, 1)))
    assert text.endswith(";B[aa](;W[bb](;B[ce])(;B[cc](;W[ee])(;W[ed])))(;W[dd]))")


def test_notes_leave_comments_as_they_are() -> None:
    game = replace(parse_sgf(TEXT), notes={1: MoveNote(0.5)})
    again = parse_sgf(format_sgf(game))
    assert (again.notes, again.comments, again.comment) == (game.notes, game.comments, game.comment)


@pytest.mark.parametrize("moves", ["", ";W[ee]", "W[ee];B[aa]", ";C[so];W[ee];B[aa]"])
def test_stones_of_a_later_node_stay_below_another_first_move(moves: str) -> None:
    game = parse_sgf(f"(;SZ[5];KM[0.5]HA[2]AB[cc][bb]PL[W]{moves})")
    again = parse_sgf(format_sgf(replace(game, moves=(0,), movers=(-1,))))
    assert (again.moves, again.setup, again.komi) == ((0,), game.setup, 0.5)


def test_another_set_up_is_a_new_file() -> None:
    game = replace(parse_sgf(TEXT), setup={"black": "E1"})
    assert "XX" not in written(game)
