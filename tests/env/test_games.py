"""Only the games themselves, and modules about Go, may ask which game is played; names and settings of games."""

import ast
from functools import cache
from pathlib import Path

import pytest

import alphago
from alphago import ConnectFourEnv, GoEnv, GomokuEnv
from alphago.env.games import GAMES, make_game, require_go, with_settings

PACKAGE = Path(alphago.__file__).parent
# Why modules and packages above the games name a game's class, and which.
ABOUT_GO = {
    "the public names": "__init__.py",
    "playouts of Go": "arena/playout_player.py",
    "Go is what rates are measured with": "cli/rates.py",
    "exams are of Go: what is judged are points": "exams/",
    "GTP speaks of Go": "arena/engine_player.py cli/gtp.py ui/gtp/",
    "SGF files hold games of Go": "cli/mcp.py cli/game_review.py records/collection.py records/game_conversion.py "
    "records/sgf/ ui/model_context.py",
    "datasets hold games of Go": "records/dataset records/label training/supervised/dataset_games.py",
    "KataGo plays Go, and its protocol speaks of it": "cli/analysis_protocol.py nn/model_files.py "
    "ui/analysis_engine.py ui/analysis_query.py ui/web/programs.py ui/web/server.py",
}
PLACES = " ".join(ABOUT_GO.values()).split()
CLASSES = {env.__name__ for env in GAMES.values()}


def above_the_games() -> list[str]:
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path.as_posix() for path in paths if path.parts[0] not in ("env", "examples"))


@cache
def nodes(module: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse((PACKAGE / module).read_text())))


def named(module: str) -> set[str]:
    """The games' classes that a module names."""
    return CLASSES & {node.id for node in nodes(module) if isinstance(node, ast.Name)}


def names_compared(module: str) -> list[str]:
    """The comparisons of a module in which a game's name stands as text."""
    compared = [node for node in nodes(module) if isinstance(node, ast.Compare)]
    texts = [(node, part) for node in compared for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return [ast.unparse(node) for node, part in texts if part.value in GAMES]


def classes_asked_for(module: str) -> set[str]:
    """The names in the second arguments of a module's calls of `isinstance`."""
    calls = [node for node in nodes(module) if isinstance(node, ast.Call)]
    asked = [call.args[1] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "isinstance"]
    return {node.id for kinds in asked for node in ast.walk(kinds) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("module", above_the_games())
def test_no_other_module_names_a_game(module: str) -> None:
    """What varies from game to game is a member of `GameEnv`."""
    if not any(module.startswith(place) for place in PLACES):
        assert named(module) == set()
    kinds = {name for name in classes_asked_for(module) if name.endswith(("Env", "Position"))}
    assert kinds <= {"GameEnv", "StonesEnv", "Position"}
    if module != "records/sgf/game_line.py":  # GM may be "go", though the standard asks for a number
        assert names_compared(module) == []


def test_the_list_has_no_others() -> None:
    """The public names are texts, of which nothing is asked."""
    for place in set(PLACES) - {"__init__.py"}:
        modules = [module for module in above_the_games() if module.startswith(place)]
        assert set().union(*map(named, modules)) == {"GoEnv"}, place


class TestWhatAGameSays:
    def test_the_rules_of_matches(self) -> None:
        """By them a folder of games is known again."""
        go = GoEnv(5, komi=3, suicide=True, margin_weight=0.5, komi_spread=1, first_pass=3, planes="turns", max_moves=9)
        assert go.rule_options == {"board_size": 5, "komi": 3.0, "ko": "positional", "suicide": True, "turns": None}
        assert GomokuEnv(9, 4, planes=5).rule_options == {"board_size": 9, "connect_row": 4}

    def test_in_matches(self) -> None:
        assert GoEnv(5, max_moves=9, first_pass=3).match_variant() == GoEnv(5, max_moves=100)
        assert GoEnv(5, max_moves=200).match_variant() == GoEnv(5, max_moves=200)
        turns = GoEnv(5, turns=4, first_pass=3)
        assert turns.match_variant() == GoEnv(5, turns=4)
        for env in (GomokuEnv(5), ConnectFourEnv()):
            assert env.match_variant() == env

    def test_files(self) -> None:
        assert [name for name in GAMES if make_game(name).has_sgf] == ["go"]


def test_only_go() -> None:
    assert require_go(GoEnv(5), "gnugo") == GoEnv(5)
    with pytest.raises(ValueError, match=r"^env must be Go for gnugo, got GomokuEnv\(board_size=5, .*\)$"):
        require_go(GomokuEnv(5), "gnugo")


def test_other_settings() -> None:
    assert with_settings(GoEnv(5), {"komi": 3}) == GoEnv(5, komi=3)
    with pytest.raises(ValueError, match=r"^gomoku has no turns, got 3$"):
        with_settings(GomokuEnv(5), {"turns": 3})
