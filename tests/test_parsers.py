"""Whatever is read from people or from disks, hypothesis writes: a value comes out, or the error that is documented."""

import math
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from alphago import ConnectFourEnv, GameEnv, GomokuEnv, OwareEnv, ReversiEnv
from alphago.arena.engine import Engine
from alphago.arena.entrant import parse_entrant, resolve_player
from alphago.arena.playout_player import PlayoutSettings
from alphago.arena.standings import read_anchor
from alphago.cli.options import format_value, read_value
from alphago.cli.settings_flags import to_setting
from alphago.env.packaged_nets import packaged_nets
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.nn.model_files import sealed_bytes
from alphago.system.settings import addresses
from alphago.training.optimizer import check_schedule, rate_factor
from alphago.training.runs.folder import state_from_bytes
from alphago.training.settings.run_settings import RunSettings, check_curriculum

MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
REFUSED = object()
NUMBER = st.one_of(st.floats(), st.integers(-3, 30), st.booleans(), st.none(), st.text(max_size=3))
GAMES: list[GameEnv] = [GomokuEnv(6), ConnectFourEnv(), ReversiEnv(6), OwareEnv(), TicTacToeEnv()]
SETTINGS = {path: to_setting(address) for path, address in addresses(RunSettings).items()}


def read(parse: Callable[[], Any], sentence: str, error: type[Exception] = ValueError) -> Any:
    """What `parse` reads; REFUSED where it raises that error with such a sentence (a pattern of its beginning)."""
    try:
        return parse()
    except error as caught:
        told = str(caught)
    assert re.match(sentence, told), told
    return REFUSED


def text_or(pattern: str) -> st.SearchStrategy[str]:
    """Any short text, or one that a pattern matches."""
    return st.one_of(st.text(max_size=10), st.from_regex(pattern, fullmatch=True))


@pytest.mark.parametrize("env", GAMES, ids=lambda env: env.name)
@MANY
@given(text_or("[A-Ha-h]?[0-9]{0,2}"))
def test_a_move_is_an_action_or_an_error(env: GameEnv, text: str) -> None:
    action = read(lambda: env.from_text(text), rf"{re.escape(repr(text))} is (no|not a) \w+( of |: expected )")
    if action is not REFUSED:
        assert 0 <= action < env.action_space
        assert env.from_text(env.to_text(action)) == action


@MANY
@given(st.one_of(NUMBER, st.lists(st.tuples(NUMBER, NUMBER), max_size=3)))
def test_a_curriculum_is_kept_or_refused(steps: Any) -> None:
    kept = read(lambda: check_curriculum(steps), "curriculum must be pairs")
    if kept is not REFUSED:
        assert len(kept) == len(steps)
        assert all(share > 0 for _, share in kept)
        assert sum(share for _, share in kept) < 1


@MANY
@given(st.one_of(st.text(max_size=8), NUMBER, st.lists(st.tuples(NUMBER, NUMBER), max_size=3)), st.floats(0, 1))
def test_a_schedule_is_kept_or_refused(schedule: Any, progress: float) -> None:
    kept = read(lambda: check_schedule(schedule), "schedule must be 'cosine', 'steps', 'constant', or pairs")
    if kept is not REFUSED:
        assert 0 <= rate_factor(kept, progress) < math.inf


@pytest.mark.parametrize("name", ["curriculum", "schedule", "num_games", "max_minutes"])
@MANY
@given(st.one_of(st.text("7:9.+,-enaif 05", max_size=12), st.text(max_size=6)))
def test_what_stands_after_a_flag(name: str, text: str) -> None:
    """Pairs that were read are written as they are read again."""
    setting = SETTINGS[name]
    value = read(lambda: setting.read(text), r"must be (an integer|a number|text|pairs).*, got ", ArgumentTypeError)
    if isinstance(value, tuple) and "nan" not in str(value):
        (kind,) = (kind for kind in setting.types if "tuple" in str(kind))
        assert read_value(kind, format_value(value) or "none") == value


@MANY
@given(text_or(r"(uct|rave|gnugo)(:[0-9]{0,10})?"))
@example("uct:0")
def test_a_player_without_a_network(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: "/usr/games/gnugo")
    refusals = "no player is called|the playouts of (uct|rave) must|GNU Go's level|there is no file|no network"
    refusals += "| is a folder|cannot be the name of a file"
    player = read(lambda: resolve_player(name), rf".*({refusals})")
    if player is not REFUSED:
        assert isinstance(player, (PlayoutSettings, Engine)) or player == "random" or name in packaged_nets()
        assert not isinstance(player, PlayoutSettings) or player.playouts >= 1


@MANY
@given(text_or(r"(runs/a|7x7|random|uct)@?[0-9]{0,5},?(gumbel|puct|max)?"))
def test_a_player_with_readouts(text: str) -> None:
    """`runs/a@64,gumbel`: the name that it gets is that player's."""
    entry = read(
        lambda: parse_entrant(text),
        rf"{re.escape(text)}: |no player is called|no network |.*cannot be the name of a file",
    )
    if entry is not REFUSED:
        assert entry.readouts is None or entry.readouts >= 0
        again = parse_entrant(entry.name)
        assert (again.base, again.model, again.name) == (entry.base, entry.model, entry.name)


@MANY
@given(text_or(r"(a|b=1|c)(=-?[0-9a-z.]{0,6})?"))
def test_an_anchor_is_a_player_and_a_rating(text: str) -> None:
    anchor = read(lambda: read_anchor(text, ["a", "b=1", "c"]), "no player is called|the anchor's rating must")
    if anchor is not REFUSED:
        assert anchor[0] in range(3)
        assert math.isfinite(anchor[1])


def spoilt(data: bytes) -> st.SearchStrategy[bytes]:
    """A file as it is, cut short, with another byte in it, or of anything."""
    cut = st.integers(0, len(data)).map(lambda end: data[:end])
    changed = st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)).map(
        lambda change: data[: change[0]] + bytes([change[1]]) + data[change[0] + 1 :]
    )
    return st.one_of(cut, changed, st.binary(max_size=40))


A_STATE = sealed_bytes({"a": torch.arange(4.0)}, {"data": '{"games": 3}'})


@MANY
@given(spoilt(A_STATE))
def test_a_state_is_whole_or_refused(data: bytes) -> None:
    state = read(lambda: state_from_bytes(data), r"is damaged \(|is of another version")
    if state is not REFUSED:
        assert (state.data, state.tensors["a"].tolist()) == ({"games": 3}, [0, 1, 2, 3])
