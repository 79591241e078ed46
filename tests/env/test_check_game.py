"""check_game lets good games pass, and says what is wrong with each of a row of bad ones."""

import copy
import re
from collections.abc import Callable

import numpy as np
import pytest

from alphago import ConnectFourEnv, GameBatch, GameEnv, GoEnv, GomokuEnv, OwareEnv, ReversiEnv, check_game, evaluate
from alphago.env import symmetry
from alphago.env.batch import Leaves, Reached
from alphago.env.check import GameError
from alphago.env.go_batch import GoBatch
from alphago.env.plain_batch import PlainBatch
from alphago.env.symmetry import Symmetries
from alphago.examples.tic_tac_toe import TicTacToe, TicTacToeEnv
from alphago.mcts.warm_up import PlainGame
from tests.naive.go import naive_go

OTHERS = [GoEnv(3, margin_weight=0.3), TicTacToeEnv(), PlainGame()]  # the last one has decisive moves
VIEWED = [GoEnv(5), GoEnv(3, komi=20), ReversiEnv(4), GomokuEnv(6, 4), ConnectFourEnv(), OwareEnv()]


@pytest.mark.parametrize(("env", "games"), [*((env, 8) for env in OTHERS), *((env, 30) for env in VIEWED)], ids=repr)
def test_good_games_pass(env: GameEnv, games: int) -> None:
    """Thirty games show who wins, and so in whose view the answers are."""
    check_game(env, games=games)


# --- bad games: plain Python -----------------------------------------------------------------------


def broken(**changes: object) -> TicTacToeEnv:
    """Tic-tac-toe with some of its state's verbs replaced."""
    state = type("Broken", (TicTacToe,), {"copy": copy.deepcopy, **changes})
    return type("BrokenEnv", (TicTacToeEnv,), {"new": lambda self: state()})()


def described(**changes: object) -> TicTacToeEnv:
    """Tic-tac-toe with some of its description replaced."""
    return type("BrokenEnv", (TicTacToeEnv,), changes)()


def caught(env: GameEnv, plain: GameEnv | None = None, **options: object) -> str:
    with pytest.raises(GameError) as error:
        check_game(env, plain, **options)
    return str(error.value)


SQUARE = symmetry.square(3)
EXCHANGED = SQUARE.actions[[0, 3, 2, 1, 4, 5, 6, 7]]
ENDLESS = {"is_over": lambda self: False}


def shallow_copy(self: TicTacToe) -> TicTacToe:
    twin = copy.deepcopy(self)
    twin.to_play = 1
    return twin


def first_players_outcome(self: TicTacToe) -> float:
    return float(self.winner())


def dict_key(self: TicTacToe, action: int) -> None:
    raise KeyError("corner")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"legal_mask": lambda self: self.board == 0}, r"legal_mask: expected nothing legal once .*, got [A-C1-3 ]+\n"),
        ({"legal_mask": lambda self: np.zeros(9, bool)}, r"legal_mask: expected to have a legal action in a game that"),
        ({**ENDLESS, "legal_mask": lambda self: np.ones(9, bool)}, "is_over: expected True after max_moves = 9 plies"),
        ({"copy": lambda self: self}, r"copy, seen by to_play: expected 1 \(the original does not .*, got -1"),
        ({"copy": shallow_copy}, r"copy, seen by to_play: expected -1 \(as in the original\), got 1\n .* after \w\d "),
        ({"planes": lambda self: np.zeros((2, 3, 3), np.float32)}, r"planes: expected different answers for diff"),
        ({"legal_mask": lambda self: [True] * 9}, r"legal_mask: expected an array bool \[9\], got list \[9\]"),
        ({"planes": lambda self: TicTacToe.planes(self).astype(float)}, r"planes: .*, got float64 \[2, 3, 3\]"),
        ({"is_over": lambda self: None}, "is_over: expected True or False, got None"),
        ({"is_over": None}, "is_over: expected a method of Broken, got none"),
        ({"play": dict_key}, r"play\([A-C][1-3]\): expected no error, got KeyError: 'corner'"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_broken_states_are_caught(changes: dict, text: str) -> None:
    assert re.match(text, caught(broken(**changes)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"planes": "two"}, "planes: expected an integer >= 1, got 'two'"),
        ({"plane_shape": 3}, "plane_shape: expected a tuple (height, width), got 3"),
        ({"name": ""}, "name: expected a text, got ''"),
        ({"config": {"size": 3}}, "config: expected no error, got TypeError: BrokenEnv() takes no arguments"),
        ({"from_text": lambda self, text: 0}, "from_text: expected 1 for 'B3', which to_text wrote, got 0"),
        ({"to_text": lambda self, action: "two more"}, "to_text: expected one word, got 'two more'"),
        ({"symmetries": symmetry.identity(9, 10)}, "symmetries.actions: expected shape [1, 9], got [1, 10]"),
        ({"symmetries": Symmetries(*(table[::-1] for table in SQUARE))}, "symmetries.points: expected the identity fi"),
        ({"symmetries": Symmetries(*np.zeros((2, 1, 9), int))}, "symmetries.points: expected each of 0 to 8 once in"),
        ({"symmetries": SQUARE._replace(actions=EXCHANGED)}, "symmetries[1], seen by planes: expected "),
    ],
)
def test_broken_descriptions_are_caught(changes: dict, text: str) -> None:
    assert caught(described(**changes)).startswith(text)


# --- wrong views -------------------------------------------------------------------------------------


def view_of_black(self: TicTacToe) -> np.ndarray:
    return np.stack([self.board == 1, self.board == -1]).reshape(2, 3, 3).astype(np.float32)


LOST_BY_LAST_MOVE = r"outcome: expected -1 where the last move has won.*, got all \d+ games lost by the last move"
IN_BLACKS_VIEW = r"outcome: expected -1 where the last move has won.*, got all \d+ games won by White"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"outcome": first_players_outcome}, IN_BLACKS_VIEW),
        ({"outcome": lambda self: -TicTacToe.outcome(self)}, LOST_BY_LAST_MOVE),
        ({"planes": view_of_black}, r"planes: expected the new stone at row \d column \d in plane 1 .*, got .*plane 0"),
        ({"planes": lambda self: TicTacToe.planes(self)[::-1].copy()}, "planes: .* the new stone at .* in plane 1"),
    ],
)
def test_a_wrong_view_is_found_without_a_second_game(changes: dict, text: str) -> None:
    assert re.match(text, caught(broken(**changes)))
    if "outcome" in changes:
        check_game(broken(**changes), check_winners=False)  # such as a game in which three in a line lose


def test_the_moves_to_a_position_can_be_played_again_from_the_text() -> None:
    text = caught(broken(outcome=first_players_outcome), TicTacToeEnv())
    assert re.match(r"outcome: expected -1.0 \(as in the plain game\), got 1.0\n  in BrokenEnv\(\) after \w\d", text)
    moves = [TicTacToeEnv().from_text(move) for move in re.search(r"after ([A-C1-3 ]+) \(", text)[1].split()]
    state = TicTacToe()
    for move in moves:
        state.play(move)
    assert state.winner() == 1
    assert f"(actions {moves})" in text


def test_a_twin_of_another_size_is_refused() -> None:
    assert caught(GoEnv(5), naive_go(5, planes=3)).startswith("planes: expected 3 as in GoEnv(")
    assert caught(GoEnv(5), naive_go(3)).startswith("action_space: expected 10 as in GoEnv(")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda legal, wins: wins[:0], r"decisive_moves: expected [A-C1-3 or]+, got -1\n  in .* after \w\d "),
        (lambda legal, wins: legal[:1], r"decisive_moves: expected -1, since no move wins at once, got 0\n"),
        (lambda legal, wins: wins[:1], ""),
        (lambda legal, wins: wins[-1:], ""),
    ],
)
def test_a_wrong_decisive_move_is_caught(answer: Callable[[np.ndarray, np.ndarray], np.ndarray], text: str) -> None:
    class Batch(PlainBatch):
        def decisive_moves(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
            for i, slot in enumerate(slots.tolist()):
                legal = np.flatnonzero(self.states[slot].legal_mask())
                wins = np.array([action for action in legal if self._wins(slot, int(action))], int)
                out[i] = [*answer(legal, wins), -1][0]
            return out

    env = PlainGame()
    env.new_batch = lambda count, device="cpu": Batch(env, count)  # type: ignore[method-assign]
    if text:
        assert re.match(text, caught(env))
    else:
        check_game(env, games=10)


# --- bad games: Go with a fault --------------------------------------------------------------------


def faulty(batch: type[GameBatch]) -> GoEnv:
    """Go on 3x3 whose batches are of another class."""
    env = GoEnv(3, komi=0.5)
    env.new_batch = lambda count, device="cpu": batch(env, count)
    return env


def spoilt(verb: str, spoil: Callable[[np.ndarray, np.ndarray, GoBatch], object]) -> type[GoBatch]:
    """Go that changes the answers of a verb; `spoil` gets the answers, their slots and the batch."""

    def answer(self: GoBatch, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        getattr(GoBatch, verb)(self, slots, out)
        other = spoil(out, slots, self)
        return out if other is None else other

    return type("Spoilt", (GoBatch,), {verb: answer})


def movers(batch: GoBatch, slots: np.ndarray) -> np.ndarray:
    return batch.to_play(slots, np.empty(len(slots), np.int8))


def in_blacks_view(out: np.ndarray, slots: np.ndarray, batch: GoBatch) -> object:
    return np.multiply(out, movers(batch, slots).reshape(-1, *[1] * (out.ndim - 1)), out)


def negated(out: np.ndarray, *_: object) -> object:
    return np.negative(out, out)


FIRST_POINT_FORGOTTEN = spoilt("legal_mask", lambda out, *_: out[:, 0].fill(False))
FIRST_SLOT_ONLY = spoilt("outcome", lambda out, *_: out.fill(out[0] if len(out) else 0))
KOMI_TWICE = spoilt("score", lambda out, *_: np.subtract(out, 0.5, out))
SLOT_IN_HASH = spoilt("hash", lambda out, slots, _: np.add(out, slots.astype(out.dtype), out))


class Unfilled(GoBatch):
    def planes(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        last = out[:, -1].copy()
        super().planes(slots, out)[:, -1] = last
        return out


class ShortReplay(GoBatch):
    def replay(self, roots: np.ndarray, paths: np.ndarray, lengths: np.ndarray, targets: np.ndarray) -> None:
        super().replay(roots, paths, np.maximum(lengths - 1, 0), targets)


class HastyReach(GoBatch):
    """It says of each leaf who is to move at its root."""

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        super().reach(leaves, out)
        self.to_play(leaves.roots, out.movers)
        return out


class StuckReach(GoBatch):
    """It tells the truth and leaves the slots where the roots are."""

    def reach(self, leaves: Leaves, out: Reached) -> Reached:
        super().reach(leaves, out)
        self.copy(leaves.roots, leaves.slots)
        return out


class SharedSlot(GoBatch):
    """Every play also happens in slot 1."""

    def play(self, slots: np.ndarray, actions: np.ndarray) -> None:
        super().play(slots, actions)
        if self.count > 1:
            self.copy(slots[:1], np.array([1]))


class NeedsASlot(GoBatch):
    def is_over(self, slots: np.ndarray, out: np.ndarray) -> np.ndarray:
        return super().is_over(slots, out) if slots[-1] >= 0 else out


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        (FIRST_POINT_FORGOTTEN, "legal_mask: expected A3 legal (as in the plain game), got A3 illegal"),
        (Unfilled, "planes: expected all of `out` filled, the same each time, got two answers that differ"),
        (
            spoilt("to_play", lambda out, *_: out.copy()),
            "to_play: expected the array `out` as the answer, got something else",
        ),
        (ShortReplay, "replay, seen by "),
        (HastyReach, "reach, seen by to_play: expected "),
        (StuckReach, "reach, seen by "),
        (SharedSlot, "reset, seen by "),
        (FIRST_SLOT_ONLY, "outcome: expected the same answer for a slot alone and among others, got two answers"),
        (KOMI_TWICE, "score: expected -0.5 (as in the plain game), got -1.0"),
        (SLOT_IN_HASH, "copy, seen by hash: expected"),
        (NeedsASlot, "is_over: expected no error, got IndexError"),
    ],
)
def test_faults_of_a_fast_game_are_caught(batch: type[GameBatch], text: str) -> None:
    assert caught(faulty(batch), naive_go(3, komi=0.5)).startswith(text)


def test_a_wrong_ownership_is_caught() -> None:
    """Alone where it has no sense or turns the board, else by the plain game."""
    in_points = spoilt("ownership", lambda out, *_: np.multiply(out, 2, out))
    assert caught(faulty(in_points)).startswith("ownership: expected -1, 0 or 1 for each point, got [")
    alone = caught(faulty(spoilt("ownership", lambda out, *_: out[:, -3:].fill(0))))  # none in the last row
    assert re.match(r"symmetries\[\d\], seen by ownership: expected \[.*\(the same game, all moves turned", alone)
    twin = naive_go(3, komi=0.5)
    assert caught(faulty(spoilt("ownership", in_blacks_view)), twin).startswith("ownership: expected [")


def test_a_twin_that_alone_has_a_score_is_not_asked_for_it() -> None:
    check_game(TicTacToeEnv(), broken(score=lambda self: 3 * self.outcome()), games=3)


@pytest.mark.parametrize(
    ("verbs", "spoil", "text"),
    [
        (["outcome"], negated, "outcome: expected the sign of the score, -0.5, which the same player has, got 1"),
        (["outcome", "score"], negated, "outcome: expected more games won than lost by the side with more"),
        (["outcome", "score"], in_blacks_view, "score: expected the view of the player to move, got one that changes"),
        (["ownership"], in_blacks_view, "ownership: expected the view of the player to move, got one that changes"),
    ],
)
def test_a_wrong_view_of_points_is_found(verbs: list[str], spoil: Callable[..., object], text: str) -> None:
    spoils = {verb: vars(spoilt(verb, spoil))[verb] for verb in verbs}
    batch = type("Spoilt", (GoBatch,), {**spoils, "reach": GameBatch.reach})
    assert caught(faulty(batch)).startswith(text)


def test_a_plain_game_that_promises_ownership_gives_it() -> None:
    text = caught(described(has_ownership=True))
    assert re.match(r"ownership: expected no error, got AttributeError: .*ownership", text)
    batch = TicTacToeEnv().new_batch(2)
    assert not batch.ownership(np.arange(2), np.ones((2, 9), np.int8)).any()  # who promises none has nobody's points


def test_set_ups_are_played_from_and_named() -> None:
    stones = np.zeros((3, 3), np.int8)
    stones[1, 1] = 1
    setups = [{"stones": stones, "to_play": "white", "komi": 3.5}]
    check_game(GoEnv(3), naive_go(3), games=5, setups=setups)
    check_game(GoEnv(3), games=1, setups=())
    with pytest.raises(ValueError, match="games must be an integer >= 1, got 0"):
        check_game(GoEnv(3), games=0)
    text = caught(faulty(KOMI_TWICE), naive_go(3, komi=0.5), setups=setups)
    assert text == (
        "score: expected -5.5 (as in the plain game), got -6.0\n"
        "  in GoEnv(3, komi=0.5) set up with stones=[[0, 0, 0], [0, 1, 0], [0, 0, 0]], "
        "to_play='white', komi=3.5, at the start"
    )


def test_the_same_seed_plays_the_same_games() -> None:
    texts = {caught(broken(outcome=first_players_outcome), TicTacToeEnv(), seed=seed) for seed in (1, 1, 2)}
    assert len(texts) == 2


def test_a_config_may_be_an_attribute_of_the_object() -> None:
    class Sized(TicTacToeEnv):
        def __init__(self, board_size: int = 3) -> None:
            self.config = {"board_size": board_size}

    check_game(Sized(3), games=1)
    assert (Sized(4) == Sized(3), repr(Sized(4))) == (False, "Sized(board_size=4)")
    with pytest.raises(NotImplementedError, match="Bare must have a config, the arguments that make it again"):
        check_game(type("Bare", (GameEnv,), {})())


# --- what is enforced wherever a plain game is played ---------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (ENDLESS, "legal_mask of BrokenEnv.* must have a legal action in a game that is not over"),
        ({"legal_mask": lambda self: None}, r"legal_mask of BrokenEnv.* must return an array \[9\], got None"),
        ({"planes": lambda self: np.ones(3)}, r"planes of BrokenEnv.* must return an array \[2, 3, 3\], got array"),
        ({"copy": lambda self: None}, "copy of BrokenEnv.* must return another state, got None"),
        ({"outcome": lambda self: np.nan}, "outcome of BrokenEnv.* must be a number from -1 to 1, got nan"),
        ({"score": lambda self: np.inf}, "score of BrokenEnv.* must be a number from .* got inf"),
        ({"planes": lambda self: np.full((2, 3, 3), np.nan)}, "planes of BrokenEnv.* must be finite, got array"),
        ({"to_play": property(lambda self: 0, lambda *_: None)}, "to_play of BrokenEnv.* must be 1 or -1, got 0"),
        ({**ENDLESS, "legal_mask": lambda self: np.ones(9, bool)}, "is_over of .* after max_moves, 9 pl"),
    ],
)
def test_whatever_plays_a_broken_game_names_it(changes: dict[str, object], sentence: str) -> None:
    env = broken(**changes)
    with pytest.raises(ValueError, match=sentence):
        env.position().score() if "score" in changes else evaluate(env, "uct:2", "random", 2, opening_plies=0)


def test_an_outcome_in_place_of_a_score_is_checked() -> None:
    with pytest.raises(ValueError, match=r"outcome of BrokenEnv.* must be a number from -1 to 1, got 2"):
        broken(outcome=lambda self: 2).position().score()


def test_a_game_that_is_over_at_once() -> None:
    over = broken(is_over=lambda self: True, legal_mask=lambda self: np.zeros(9, bool))
    assert caught(over).startswith("is_over: expected False at the start")
