"""Files made to take long: reading takes time in proportion to their length, and what is left out is said."""

from collections.abc import Iterator

import pytest

from alphago.env.go import GoEnv
from alphago.env.go_rules import Rules
from alphago.records.sgf import SgfGame, salvage_sgf
from alphago.records.sgf import grammar as grammar_module
from tests.campaign.tally import hang_guard


@pytest.fixture(autouse=True)
def _guarded() -> Iterator[None]:
    """Before, each of these files took from minutes to hours."""
    with hang_guard(120):
        yield


def games(text: str, **options: bool) -> list[SgfGame]:
    return list(salvage_sgf(text.encode(), name="hostile.sgf", **options))


def kinds(game: SgfGame) -> list[str]:
    return [fault.kind for fault in game.faults]


class TestSetUps:
    def test_a_rectangle_many_times(self) -> None:
        """The whole board, in one node and in many: each value is applied at once, and once in a node."""
        for node in ("", ";"):
            (game,) = games("(;SZ[25]" + f"{node}AB[aa:xy]" * 10_000 + ";W[yy])")
            assert (len(game.setup["black"].split()), game.moves) == (600, (624,))

    def test_every_rectangle(self) -> None:
        letters = "abcdefghijklm"
        text = "".join(f"[{a}{b}:{c}{d}]" for a in letters for b in letters for c in letters for d in letters)
        (game,) = games(f"(;SZ[13]AB{text}AE[gg];W[gg])")
        assert (len(game.setup["black"].split()), game.moves, kinds(game)) == (168, (84,), [])

    @pytest.mark.parametrize("rules", ["RU[Chinese]", pytest.param("", marks=pytest.mark.slow)])
    def test_set_ups_that_change_nothing(self, rules: str) -> None:
        """A cycle of four moves, a set-up after each: every move is played once, not once for each set-up."""
        cycle = ";B[aa];AE[ee];W[ca];AE[ee];B[ba];AE[ee];W[];AE[ee]"
        (game,) = games(f"(;SZ[5]{rules}AB[ba][da][cb]AW[ab][bb]PL[B]{cycle * 1000})")
        if rules:
            assert (game.moves, kinds(game)) == ((0, 2), ["repetition"])
        else:
            assert (game.moves, kinds(game)) == ((0, 2, 1, 25) * 1000, [])
            assert game.assumed == Rules("simple", False)

    @pytest.mark.slow
    def test_the_longest_game_that_can_be(self) -> None:
        (game,) = games("(;SZ[5]AB[ba][da][cb]AW[ab][bb]PL[B]" + ";B[aa];W[ca];B[ba];AB[da];W[]" * 17_000 + ")")
        assert (len(game.moves), kinds(game)) == (65_535, ["moves after the end"])

    def test_set_ups_that_change_something(self) -> None:
        """Each begins a game of its own, of which one is kept."""
        (game,) = games("(;SZ[9]" + ";B[aa];AE[aa]" * 5_000 + ";B[bb];W[cc])")
        assert (game.moves, kinds(game), game.faults[0].node) == ((10, 20), ["set-up after a move"], 2)


class TestJoined:
    """Plays on both sides of a set-up that changes nothing are one game."""

    def test_after_a_set_up_that_does(self) -> None:
        (game,) = games("(;SZ[5];B[aa];W[bb];AE[aa];B[cc];AE[ee];W[dd];AE[ee];B[ee])")
        assert game.position().moves_text() == "B C3, W D2, B E1"
        assert game.setup == {"white": "B4"}

    def test_suicide_behind_it(self) -> None:
        """The rules are assumed for the game as a whole."""
        (game,) = games("(;SZ[3];W[ba];B[aa];W[bb];AE[cb];B[cc];W[ac];AE[cb];B[ab];AE[ca];W[aa])")
        assert (len(game.moves), game.assumed) == (7, Rules("simple", True))

    def test_in_a_given_game(self) -> None:
        game = next(salvage_sgf(b"(;SZ[5];B[aa];AE[ee];W[bb];AE[ee];B[cc];W[dd])", env=GoEnv(5, max_moves=3)))
        assert (game.moves, kinds(game)) == ((0, 6, 12), ["moves after the end"])


class TestAllLines:
    def test_a_comb(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Branches of a long line: 6 000 nodes, and 9 000 000 nodes in all lines together."""
        monkeypatch.setattr(grammar_module, "MOST_IN_LINES", 15_000)
        text = "(;SZ[5]" + "(;C[]" * 3_000 + "(;B[aa])(;W[aa])" + ")(;B[bb])" * 2_999 + "))"
        found = games(text, all_lines=True)
        assert [game.moves for game in found[:2]] == [(0,), (0,)]
        assert str(found[-1].faults[0]).endswith(f": {3_001 - len(found) + 1} of them are left out")
        assert kinds(found[-1]) == ["too large"]
        assert len(found) < 20
        assert len(games(text)) == 1

    def test_stones_of_all_lines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grammar_module, "MOST_IN_LINES", 50_000)
        found = games("(;SZ[19]AB" + "[aa:bb]" * 10_000 + "(;W[cc])" * 1000 + ")", all_lines=True)
        assert (len(found), kinds(found[-1])) == (5, ["too large"])

    def test_the_main_line_is_always_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(grammar_module, "MOST_IN_LINES", 3)
        found = games("(;SZ[5];B[aa];W[bb];B[cc];W[dd](;B[ee])(;B[ed]))", all_lines=True)
        assert [len(game.moves) for game in found] == [5, 0]
