"""`check_game(env)`: test that a game fulfils its contract, and report the first violation."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from alphago.env.batch import GameBatch, Leaves, Reached
from alphago.env.board import StonesPosition
from alphago.env.game import PLAYER_NAMES, GameEnv, check_env
from alphago.env.plain_batch import BrokenGame, PlainBatch
from alphago.env.position import IllegalMove, Position
from alphago.system.validation import check_int, checks_keywords, is_int

Answer = TypeVar("Answer")

DTYPES: dict[str, type[np.generic]] = {
    "to_play": np.int8,
    "is_over": np.bool_,
    "legal_mask": np.bool_,
    "planes": np.float32,
    "hash": np.int64,
    "outcome": np.float32,
    "score": np.float32,
    "ownership": np.int8,
    "decisive_moves": np.int32,
}
FEWEST_WINS = 10  # games with a winner that must have been played before winners are judged
# Black's lead changes little from one ply to the next. If a game gives it in the view of the wrong player, the sign
# changes at every ply; then the differences of neighbouring plies are more than so many times their sums.
FLIPPED_RATIO = 1.1
SLOTS = 6  # of the batch in which a game is played
# Slots: the game itself; a slot that is never used; a copy of the game; the game turned by a symmetry; after the end,
# replays of the whole game and of its first half.
GAME, START, COPY, TURNED, FULL, HALF = range(SLOTS)


class GameError(AssertionError):
    """A game violates its contract; the message has the method, the expected and actual answer, and the position."""


@checks_keywords()
def check_game(
    env: GameEnv,
    plain: GameEnv | None = None,
    *,
    games: int = 50,
    seed: int = 0,
    setups: Sequence[Mapping[str, object]] = ({},),
    check_winners: bool = True,
) -> None:
    """Play random games of `env`; raise GameError at the first violation of the contract of a game.

    Checked are the description, the texts of moves, the look of the board, every method of a batch at every ply, copies
    and replays, symmetries, and `Position`.  If ten games or more have a winner, it is also checked that the game gives
    its results in the view of the right player.

    Args:
        plain: a second implementation of the same game, with the same actions; both implementations play the same moves
            and must agree at every ply.  Use it to compare a fast game with a version in plain Python.
        games: number of games to play, at least 1.
        seed: seed of the random moves.
        setups: set-ups, each a dictionary of keywords for `GameBatch.reset`; the games use them in turn.
        check_winners: False for a game in which the last move always loses, or fewer points win, or all random games
            have the same winner.
    """
    check_env(env)
    check_int("games", games, 1)
    if plain is not None:
        check_env(plain, "plain")
    start = _Game(env, {})
    _check_description(start)
    _check_texts(start)
    _check_symmetries(start)
    _check_board_view(start)
    if plain is not None:
        for name in ("action_space", "planes", "plane_shape", "max_moves"):
            ours, theirs = getattr(env, name), getattr(plain, name)
            start.require(ours == theirs, name, f"{theirs} as in {plain}", ours)
    random = np.random.default_rng(seed)
    all_games = [_Game(env, setups[number % len(setups)] if setups else {}) for number in range(games)]
    for number, game in enumerate(all_games):
        _check_one_game(game, plain, number, random)
    if check_winners:
        _check_winners([game for game in all_games if not game.setup])  # a set-up may favour a side


class _View(NamedTuple):
    """The answers of all methods of a batch for one slot."""

    to_play: int
    is_over: bool
    legal_mask: np.ndarray  # bool [action_space]
    planes: np.ndarray  # float32 [planes, height, width]
    hash: int
    outcome: float
    score: float
    ownership: np.ndarray  # int8 [height * width]


class _Game:
    """A game that is being checked, with its moves so far, which error messages report."""

    def __init__(self, env: GameEnv, setup: Mapping[str, object]) -> None:
        self.env, self.setup = env, setup
        self.moves: list[int] = []
        self.movers: list[int] = []  # the player to move at each ply, also at the end
        # Black's lead at each ply: the score, and how many more points Black owns.
        self.leads: dict[str, list[float]] = {"score": [], "ownership": []}
        self.stone_lead = 0  # how many more stones Black has; 0 if `_check_new_stones` does not look at the board
        self.winner = 0  # +1 or -1; 0 before the end, and in a draw

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of a batch's answers for one slot, by method, without those that are one number."""
        points = prod(self.env.plane_shape)
        planes_shape = (self.env.planes, *self.env.plane_shape)
        return {"legal_mask": (self.env.action_space,), "planes": planes_shape, "ownership": (points,)}

    def where(self) -> str:
        """Return a text with the set-up and the moves that lead to the current position."""
        setup = ", ".join(f"{key}={np.asarray(value).tolist()!r}" for key, value in self.setup.items())
        start = f"{self.env!r} set up with {setup}" if setup else repr(self.env)
        if not self.moves:
            return f"{start}, at the start"
        return f"{start} after {' '.join(map(self.env.to_text, self.moves))} (actions {self.moves})"

    def fail(self, blamed: str, expected: str, got: object, cause: Exception | None = None) -> NoReturn:
        """Raise GameError.

        Args:
            blamed: the method or attribute of the game that the message blames.
            cause: the exception of the game that is the reason, if there was one.
        """
        raise GameError(f"{blamed}: expected {expected}, got {got}\n  in {self.where()}") from cause

    def require(self, holds: object, blamed: str, expected: str, got: object) -> None:
        """Raise GameError, as `fail` does, unless `holds`."""
        if not holds:
            self.fail(blamed, expected, got)

    def run(self, blamed: str, function: Callable[..., Answer], *arguments: object, **keywords: object) -> Answer:
        """Return what a function of the game returns; if the function raises an exception, raise GameError.

        Args:
            blamed: what the message blames, as in `fail`.
        """
        try:
            return function(*arguments, **keywords)
        except BrokenGame as error:
            self.fail(blamed, f"to {error.expected}", error.got, error)
        except Exception as error:
            self.fail(blamed, "no error", f"{type(error).__name__}: {error}", error)

    def play(self, batch: GameBatch, slot: int, action: int, blamed: str = "play") -> None:
        """Play an action in a slot; blamed: what the message blames if it fails."""
        call = f"{blamed}({self.env.to_text(action)})"
        self.run(call, batch.play, np.array([slot]), np.array([action], np.int32))

    def ask(self, batch: GameBatch, method: str, slots: Sequence[int]) -> np.ndarray:
        """Return the answer of the batch's method called `method` for some slots.

        Fails unless the method fills all of `out`, and gives the same answer when it is called again.
        """
        index = np.array(slots, np.int64)
        answers = []
        for fill in (0, 1):
            out = np.full((len(slots), *self.shapes.get(method, ())), fill, DTYPES[method])
            answer = self.run(method, getattr(batch, method), index, out)
            self.require(answer is out, method, "the array `out` as the answer", "something else")
            answers.append(out)
        same = answers[0].tobytes() == answers[1].tobytes()  # compared as bytes, so that NaN equals NaN
        self.require(same, method, "all of `out` filled, the same each time", "two answers that differ")
        return answers[0]

    def view(self, batch: GameBatch, slot: int) -> _View:
        """Return the answers of all methods for a slot, after checking that they are valid and fit together."""
        if isinstance(batch, PlainBatch):
            self.check_state(batch.states[slot])
        got = _View(*(self.ask(batch, method, [slot])[0] for method in _View._fields))
        legal = " ".join(map(self.env.to_text, np.flatnonzero(got.legal_mask).tolist()))
        owners = got.ownership.tolist()
        # Score and outcome are both in the mover's view.
        same_sign = f"the sign of the score, {got.score:g}, which the same player has"
        require = self.require
        require(got.to_play in (1, -1), "to_play", "+1 or -1", got.to_play)
        require(not got.is_over or not legal, "legal_mask", "nothing legal once the game is over", legal)
        require(got.is_over or legal, "legal_mask", "a legal action while the game goes on (is_over is False)", "none")
        require(np.isfinite(got.planes).all(), "planes", "finite numbers", "some that are not")
        require(-1 <= got.outcome <= 1, "outcome", "-1 to 1", got.outcome)
        require(np.isfinite(got.score), "score", "a finite number", got.score)
        require(got.outcome * got.score >= 0, "outcome", same_sign, got.outcome)  # or one of them is 0
        require({-1, 0, 1}.issuperset(owners), "ownership", "-1, 0 or 1 for each point", owners)
        return got

    def check_state(self, state: Any) -> None:
        """Check that a PlainState has all methods and that its answers have the right types.

        The answers of its PlainBatch do not show wrong types, since the batch converts them silently.
        """
        for method in ("play", "legal_mask", "is_over", "outcome", "planes", "copy"):
            self.require(callable(getattr(state, method, None)), method, f"a method of {type(state).__name__}", "none")
        for method in ("legal_mask", "planes"):
            array = self.run(method, getattr(state, method))
            dtype, shape = np.dtype(DTYPES[method]), self.shapes[method]
            fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype
            got = f"{getattr(array, 'dtype', type(array).__name__)} {list(np.shape(array))}"
            self.require(fits, method, f"an array {dtype} {list(shape)}", got)
        over = self.run("is_over", state.is_over)
        self.require(isinstance(over, (bool, np.bool_)), "is_over", "True or False", repr(over))

    def note(self, view: _View) -> None:
        """Note who moves and wins, and Black's leads, for `_check_winners`."""
        mover = int(view.to_play)
        self.movers.append(mover)
        self.leads["score"].append(mover * float(view.score))
        self.leads["ownership"].append(mover * int(view.ownership.sum()))
        self.winner = int(np.sign(mover * view.outcome)) if view.is_over else 0

    def check_same(self, blamed: str, why: str, expected: _View, got: _View, *fields: str) -> None:
        """Fail if two views differ in one of `fields` (default: all fields); the message names the first that differs.

        Args:
            blamed: the method that the message blames; "" for the method that has the name of the field that differs.
            why: why the views must be the same, such as "as in the original"; the message adds it to the expected
                value.
        """
        for field in fields or _View._fields:
            pair = getattr(expected, field), getattr(got, field)
            if np.array_equal(*pair):  # compares plain numbers too
                continue
            expected_text, got_text = map(str, pair)
            if field == "legal_mask":
                action = int(np.flatnonzero(pair[0] != pair[1])[0])
                name = self.env.to_text(action)
                expected_text, got_text = (f"{name} {'legal' if mask[action] else 'illegal'}" for mask in pair)
            elif field == "planes":
                place = tuple(np.argwhere(pair[0] != pair[1])[0])
                at = "at plane {} row {} column {}".format(*place)
                expected_text, got_text = (f"{planes[place]:g} {at}" for planes in pair)
            seen = f"{blamed}, seen by {field}" if blamed else field
            self.fail(seen, f"{expected_text} ({why})", got_text)


def _check_description(game: _Game) -> None:
    """Check the game's sizes, its name, and that its config makes the game again."""
    env = game.env
    for name in ("N", "planes", "action_space", "max_moves"):
        value: Any = getattr(env, name, None)
        game.require(is_int(value, 1), name, "an integer >= 1", repr(value))
    shape: Any = getattr(env, "plane_shape", None)
    is_pair = isinstance(shape, tuple) and len(shape) == 2 and all(is_int(length, 1) for length in shape)
    game.require(is_pair, "plane_shape", "a tuple (height, width)", repr(shape))
    game_name = getattr(env, "name", None)
    game.require(game_name and isinstance(game_name, str), "name", "a text", repr(game_name))
    config = game.run("config", lambda: json.loads(json.dumps(env.config)))
    again = game.run("config", lambda: type(env)(**config))
    is_equal = again == env and hash(again) == hash(env)
    game.require(is_equal, "config", f"the arguments that make {env!r} again", f"{config}, which make {again!r}")


def _check_texts(game: _Game) -> None:
    """Check that `to_text` writes an action as one word, since files part moves by blanks, and `from_text` reads it."""
    for action in range(game.env.action_space):
        text: Any = game.run("to_text", game.env.to_text, action)
        game.require(isinstance(text, str) and text.split() == [text], "to_text", "one word", repr(text))
        back = game.run("from_text", game.env.from_text, text)
        game.require(back == action, "from_text", f"{action} for {text!r}, which to_text wrote", repr(back))


def _check_symmetries(game: _Game) -> None:
    """Check that symmetries are permutations of all points and of all actions, and that the first is the identity."""
    symmetries = game.run("symmetries", lambda: game.env.symmetries)
    for field, length in (("points", prod(game.env.plane_shape)), ("actions", game.env.action_space)):
        permutations, name = getattr(symmetries, field), f"symmetries.{field}"
        shape = [len(symmetries.points), length]
        game.require(list(permutations.shape) == shape, name, f"shape {shape}", list(permutations.shape))
        identity = np.arange(length)
        for permutation in permutations:
            is_whole = np.array_equal(np.sort(permutation), identity)
            game.require(is_whole, name, f"each of 0 to {length - 1} once in a row", permutation.tolist())
        is_identity = np.array_equal(permutations[0], identity)
        game.require(is_identity, name, "the identity first", permutations[0].tolist())


def _check_board_view(game: _Game) -> None:
    """Check that the look of the board says where every action's piece lands.

    In a game with ownership it must also have a cell for each point.
    """
    board_view = game.run("board_view", lambda: game.env.board_view)
    if board_view.surface == "text":
        return
    for name, places in zip(board_view.sides, board_view.places, strict=True):
        actions, count = game.env.action_space, len(places)
        game.require(count == actions, "board_view.places", f"cells for each of {actions} actions of {name}", count)
    points, cells = prod(game.env.plane_shape), len(board_view.cells)
    fits = not game.env.has_ownership or cells == points
    game.require(fits, "board_view.cells", f"the {points} points that have owners", cells)


def _check_contents(game: _Game, position: Position) -> None:
    """Check that a position says what is in each cell of the board, as pages and pictures draw it."""
    board_view = game.env.board_view
    if board_view.surface == "text":
        return
    cells = len(board_view.cells)
    contents = game.run("Position.contents", lambda: position.contents)
    is_complete = contents is not None and len(contents) == cells
    game.require(is_complete, "Position.contents", f"one number for each of {cells} cells", contents)
    gives_captures = not board_view.stores or position.captures is not None
    game.require(gives_captures, "Position.captures", "two numbers for the stores of board_view", None)
    last = game.run("Position.last_cell", lambda: position.last_cell)
    is_cell = last is None or 0 <= last < cells
    game.require(is_cell, "Position.last_cell", f"a cell from 0 to {cells - 1}, or None", last)


def _check_one_game(game: _Game, plain: GameEnv | None, number: int, random: np.random.Generator) -> None:
    """Play and check a random game.

    At the same time, the same moves are played in the game `plain`, if there is one, and the moves turned by a
    symmetry are played in the slot TURNED.

    Args:
        number: the game's number, which chooses the symmetry.  If this is the identity, no turned game is played.
        random: chooses the moves.
    """
    env = game.env
    batch = _new_batch(game, env, SLOTS)
    twin = None if plain is None else _new_batch(game, plain, 1, "plain ")
    # In general a set-up cannot be turned or given to `env.position`: these checks are skipped in games with a set-up.
    position = None if game.setup else game.run("position", env.position)
    symmetry = 0 if game.setup else number % len(env.symmetries.points)  # 0: the identity
    views = [game.view(batch, GAME)]
    game.require(game.setup or not views[0].is_over, "is_over", "False at the start of a game", "True")
    while True:
        view = views[-1]
        game.note(view)
        _check_ply(game, batch, view, twin, symmetry)
        if view.is_over:
            break
        goes_on = len(game.moves) < env.max_moves
        game.require(goes_on, "is_over", f"True after max_moves = {env.max_moves} plies", "False")
        action, tried_in_copy = random.choice(np.flatnonzero(view.legal_mask), 2).tolist()  # perhaps the same action
        copied = _check_copy(game, batch, view, tried_in_copy)
        if position is not None:
            _check_position(game, position, view, random)
        _play_everywhere(game, batch, action, twin, symmetry)
        before = position
        if position is not None:
            position = game.run("Position.play", position.play, action)
        game.moves.append(action)
        views.append(game.view(batch, GAME))
        _check_new_stones(game, before, position)
        game.check_same("copy", "a copy does not change when the original plays on", copied, game.view(batch, COPY))
    if position is not None:
        for last in (position, game.run("Position.after", game.env.position().after, game.moves)):
            _check_position(game, last, view, random)
    _check_whole_game(game, batch, views)


def _new_batch(game: _Game, env: GameEnv, count: int, which: str = "") -> GameBatch:
    """Return a new batch of `env`, set up as `game`; which: what a message calls it, "" or "plain "."""
    batch = game.run(f"{which}new_batch", env.new_batch, count)
    game.run(f"{which}reset", batch.reset, np.arange(count), **game.setup)
    return batch


def _check_ply(game: _Game, batch: GameBatch, view: _View, twin: GameBatch | None, symmetry: int) -> None:
    """Check the answers at one ply: against the plain game and the turned game, if there are such, and decisive moves.

    Args:
        twin: the batch of the plain game, of one slot; None if there is none.
        symmetry: the number of the symmetry that turns the game in the slot TURNED; 0 if there is none.
    """
    if twin is not None:
        _check_against_twin(game, batch, view, twin)
    if symmetry:
        _check_turned(game, batch, view, symmetry)
    if game.env.has_decisive_moves:
        _check_decisive(game, batch, view)


def _play_everywhere(game: _Game, batch: GameBatch, action: int, twin: GameBatch | None, symmetry: int) -> None:
    """Play an action in the game, in the plain game, and turned in the slot TURNED; twin, symmetry: as `_check_ply`."""
    game.play(batch, GAME, action)
    if twin is not None:
        game.play(twin, 0, action, "plain play")
    if symmetry:
        # The turned action is where the permutation has `action`: entry i is the action that is turned to action i.
        turned = int(np.flatnonzero(game.env.symmetries.actions[symmetry] == action)[0])
        game.play(batch, TURNED, turned, "turned play")


def _check_copy(game: _Game, batch: GameBatch, view: _View, action: int) -> _View:
    """Copy the game, play an action in the copy only, and return the view of the copy after that."""
    game.run("copy", batch.copy, np.array([GAME]), np.array([COPY]))
    game.check_same("copy", "as in the original", view, game.view(batch, COPY))
    game.play(batch, COPY, action)
    game.check_same("copy", "the original does not change when a copy plays on", view, game.view(batch, GAME))
    game.moves.append(action)  # for the message if the view of the copy is invalid
    copied = game.view(batch, COPY)
    game.moves.pop()
    return copied


def _check_decisive(game: _Game, batch: GameBatch, view: _View) -> None:
    """Check the answer of `decisive_moves` by playing each legal move in a copy."""

    def wins(action: int) -> bool:
        """Return whether the mover has won after an action."""
        batch.copy(np.array([GAME]), np.array([COPY]))
        game.play(batch, COPY, action)
        over = game.ask(batch, "is_over", [COPY])[0]
        black_outcome = game.ask(batch, "to_play", [COPY])[0] * game.ask(batch, "outcome", [COPY])[0]
        return bool(over and black_outcome == view.to_play)

    answer = int(game.ask(batch, "decisive_moves", [GAME])[0])
    winning = [int(action) for action in np.flatnonzero(view.legal_mask) if wins(int(action))]
    expected = " or ".join(map(game.env.to_text, winning)) or "-1, since no move wins at once"
    game.require(answer in (winning or [-1]), "decisive_moves", expected, answer)


def _check_against_twin(game: _Game, batch: GameBatch, view: _View, twin: GameBatch) -> None:
    """Check that the batch answers as the plain game does; score and ownership only if both games define them."""
    fields = ["to_play", "is_over", "legal_mask", "planes", "outcome"]
    if _has_score(batch) and _has_score(twin):
        fields.append("score")
    if batch.env.has_ownership and twin.env.has_ownership:
        fields.append("ownership")
    # "": no method in particular is blamed; a message names the field that differs.
    game.check_same("", "as in the plain game", game.view(twin, 0), view, *fields)


def _has_score(batch: GameBatch) -> bool:
    """Return whether the game of a batch defines `score`; if it does not, the score is the outcome."""
    if isinstance(batch, PlainBatch):
        return hasattr(batch.states[0], "score")
    return type(batch).score is not GameBatch.score


def _check_turned(game: _Game, batch: GameBatch, view: _View, symmetry: int) -> None:
    """Check that the slot TURNED has the same position turned by a symmetry; hashes are not compared."""
    points, actions = game.env.symmetries.points[symmetry], game.env.symmetries.actions[symmetry]
    turned = game.view(batch, TURNED)
    expected = view._replace(
        planes=view.planes.reshape(len(view.planes), -1)[:, points].reshape(view.planes.shape),
        legal_mask=view.legal_mask[actions],
        ownership=view.ownership[points],
        hash=turned.hash,
    )
    game.check_same(f"symmetries[{symmetry}]", "the same game, all moves turned by this symmetry", expected, turned)


def _check_position(game: _Game, position: Position, view: _View, random: np.random.Generator) -> None:
    """Check that the readable position agrees with the batch, and refuses illegal actions."""

    def answers() -> _View:
        """Return the position's answers in the view of the player to move, as a batch gives them.

        Hash and ownership, which a position lacks, are copied from the batch.  So is the outcome, a fraction in some
        games, if its sign is the position's result.  Then the views differ only if the game is wrong.
        """
        score, result = position.score() * view.to_play, position.result * view.to_play
        # In a draw, where result and score are 0, the outcome may be a little better for one side (see `graded` of
        # `OwareEnv`).
        result_fits_outcome = result == np.sign(view.outcome) or result == score == 0
        outcome = view.outcome if result_fits_outcome else result
        own_answers = (position.to_play, position.is_over, position.legal_mask, position.planes())
        return _View(*own_answers, view.hash, outcome, score, view.ownership)

    game.check_same("Position", "as in the batch", view, game.run("Position", answers))
    _check_contents(game, position)
    illegal = np.flatnonzero(~view.legal_mask)
    # Actions below and above the range, and a random one of the illegal actions, if there are any.
    for action in (-1, game.env.action_space, *random.permutation(illegal)[:1]):
        _check_refusal(game, position, int(action))
    if not view.is_over:
        game.run("Position.play", position.play, int(np.argmax(view.legal_mask)))
        game.check_same("Position.play", "the position played from stays", view, game.run("Position", answers))


def _check_refusal(game: _Game, position: Position, action: int) -> None:
    """Check that a position refuses an illegal action with IllegalMove."""
    try:
        position.play(action)
    except IllegalMove:
        return
    except Exception as error:
        game.fail(f"Position.play({action})", "IllegalMove", f"{type(error).__name__}: {error}", error)
    game.fail(f"Position.play({action})", "IllegalMove", "a position")


def _check_new_stones(game: _Game, before: Any, after: Any) -> None:
    """Check that a stone which a move has added is the mover's, and note who has more stones (`stone_lead`).

    Nothing is done for a position whose class has a `board` of its own.  Only that of `StonesPosition` is computed from
    the planes, which may mix up the sides.

    Args:
        before, after: the Position before the move and the one after the move; both None if there are none.
    """
    if not isinstance(after, StonesPosition) or type(after).board is not StonesPosition.board:
        return
    game.stone_lead = int(after.board.sum())
    new_of_other_side = np.argwhere((before.board == 0) & (after.board == -before.to_play))
    if len(new_of_other_side):
        # The mover's new stone belongs in plane 1, the other side's, if the other side is to move now; else in plane 0.
        wanted = int(before.to_play != after.to_play)
        place = "row {} column {}".format(*new_of_other_side[0])
        why = "plane 0 has the stones of the player to move, plane 1 the other side's"
        game.fail("planes", f"the new stone at {place} in plane {wanted} ({why})", f"it in plane {1 - wanted}")


def _check_winners(games: Sequence[_Game]) -> None:
    """Check, over all games, that scores, ownership and outcomes are in the view of the player to move."""
    decided = [game for game in games if game.winner]
    if len(decided) >= FEWEST_WINS:
        _check_signs(decided)
        _check_last_movers(decided)
        _check_leads(decided)


def _check_signs(decided: Sequence[_Game]) -> None:
    """Check that scores and ownership do not change their sign at every ply, as in the view of another player."""
    for method in ("score", "ownership"):
        # Black's lead at a ply and at the next. If the sign changes, their difference is large, and their sum small.
        pairs = [pair for game in decided for pair in pairwise(game.leads[method])]
        changes = sum(abs(later - now) for now, later in pairs)
        if changes > FLIPPED_RATIO * sum(abs(later + now) for now, later in pairs):
            decided[0].fail(method, "the view of the player to move", "one that changes sides at every ply")


def _check_last_movers(decided: Sequence[_Game]) -> None:
    """Check in a game without points, where the last move usually wins, that outcomes are not in another view.

    If outcomes are negated, the last move loses in all games.  If they are always in the view of one player, the winner
    seems to be the same side in all games, whoever plays the last move.
    """
    last_movers = [game.movers[-2] for game in decided]  # `movers` ends with the player to move after the last move
    lost = [game for game, mover in zip(decided, last_movers, strict=True) if game.winner != mover]
    # In a game without points the score is the outcome: 1, 0 or -1.
    has_points = any(abs(game.leads["score"][-1]) not in (0, 1) for game in decided)
    if has_points or not lost:
        return
    expected = "-1 where the last move has won, in the view of the player to move after it"
    if len(lost) == len(decided):
        lost[0].fail("outcome", expected, f"all {len(lost)} games lost by the last move (see check_winners)")
    if len({game.winner for game in decided}) == 1 and len(set(last_movers)) == 2:  # whoever played the last move
        winner = PLAYER_NAMES[lost[0].winner]
        lost[0].fail("outcome", expected, f"all {len(decided)} games won by {winner} (see check_winners)")


def _check_leads(decided: Sequence[_Game]) -> None:
    """Check that the side with more stones and points at the end wins more games; negated outcomes let it lose."""
    # For each game +1 or -1, and how many more stones and points Black has at the end.
    winners, leads = np.array([(game.winner, game.stone_lead + game.leads["ownership"][-1]) for game in decided]).T
    offsets = winners - winners.mean(), leads - leads.mean()
    if np.dot(*offsets) < -0.5 * np.prod(np.linalg.norm(offsets, axis=1)):  # a correlation below -0.5
        expected = "more games won than lost by the side with more stones or points (see check_winners)"
        decided[0].fail("outcome", expected, "fewer")


def _check_reach(game: _Game, batch: GameBatch, leaves: Leaves, views: list[_View]) -> None:
    """Check that `reach` gives the slots the same states as `replay`, and the same answers as the single methods."""
    count = len(leaves.slots)
    out = Reached(np.empty(count, np.bool_), np.empty(count, np.int8), np.empty(count, np.float32))
    answer = game.run("reach", batch.reach, leaves, out)
    game.require(answer is out, "reach", "the arrays `out` as the answer", "something else")
    for i, (slot, ply) in enumerate(zip(leaves.slots, leaves.lengths, strict=True)):
        expected = views[ply]
        game.check_same("reach", f"as when {ply} of these moves are played", expected, game.view(batch, int(slot)))
        # `reach` writes the outcomes of finished games only.
        outcome = out.outcomes[i] if expected.is_over else expected.outcome
        answers = expected._replace(is_over=out.over[i], to_play=out.movers[i], outcome=outcome)
        game.check_same("reach", f"as after {ply} of these moves", expected, answers)


def _check_whole_game(game: _Game, batch: GameBatch, views: list[_View]) -> None:
    """Check a finished game: its positions, reached in other ways, must give the answers seen while it was played.

    Args:
        batch: the batch in which the game was played, in slot GAME.
        views: `views[ply]` has the answers after `ply` moves.
    """
    game.check_same("reset", "a slot that was not used", views[0], game.view(batch, START))
    _check_replays(game, batch, views)
    alone = game.env.new_batch(1)
    game.run("copy", alone.copy, np.array([GAME]), np.array([0]), of=batch)
    game.check_same("copy", "as in the batch that it comes from", views[-1], game.view(alone, 0))
    _check_together(game, batch, views)
    for method in ("planes", "hash"):
        first = getattr(views[0], method)
        # A game without moves has only one position.
        differ = not game.moves or not all(np.array_equal(getattr(view, method), first) for view in views)
        game.require(differ, method, "different answers for different positions", "the same answer in the whole game")


def _check_replays(game: _Game, batch: GameBatch, views: list[_View]) -> None:
    """Check `replay` and `reach` of the whole game and of its first half, from the slot START.

    The replays stay in the slots FULL and HALF.
    """
    length, half = len(game.moves), len(game.moves) // 2
    paths = np.array([game.moves, game.moves], np.int32).reshape(2, length)  # [2, 0] if there are no moves
    lengths = np.array([length, half], np.int32)
    game.run("replay", batch.replay, np.array([START, START]), paths, lengths, np.array([FULL, HALF]))
    for slot, ply in ((FULL, length), (HALF, half)):
        game.check_same("replay", f"as when {ply} of these moves are played", views[ply], game.view(batch, slot))
    targets = np.array([COPY, TURNED])  # slots that no check needs any more
    _check_reach(game, batch, Leaves(np.array([START, START]), paths, lengths, slots=targets), views)


def _check_together(game: _Game, batch: GameBatch, views: list[_View]) -> None:
    """Check that each method answers for several slots at once as for each alone, and can be called for no slots."""
    half_view = views[len(game.moves) // 2]
    for method in _View._fields:
        together = game.ask(batch, method, [HALF, GAME, START])
        expected = [getattr(view, method) for view in (half_view, views[-1], views[0])]
        same = all(map(np.array_equal, together, expected))
        game.require(same, method, "the same answer for a slot alone and among others", "two answers that differ")
        game.ask(batch, method, [])  # must work for no slots
