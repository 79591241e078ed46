"""`Thinker`: a player that thinks about a game's positions, for every interface; `MoveLimit`: when it stops."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from alphago.env.game import GameEnv
from alphago.env.position import Position
from alphago.mcts.analysis_search import Forbidden, usable
from alphago.mcts.player import MCTSPlayer
from alphago.system.validation import MOST_READOUTS, check_int, check_positive

WARM_UP = 8  # readouts of each of two searches: one compiles kernels, the other measures the first rate
WAVE = 16  # readouts between two looks at the clock
VISITS_PER_LEAF = 50  # visits of the tree for each leaf of a wave: long waves hardly harm the search of a large tree
PREPARED = 256  # readouts for which a search gets room at once


@dataclass(frozen=True)
class MoveLimit:
    """Limits of the search for one move, which ends at the first limit that it reaches.

    readouts: simulations; 0 plays the network's most probable action, None means no limit.
    seconds: time; None means no limit.
    """

    readouts: int | None = 800
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.readouts is None and self.seconds is None:
            raise ValueError("num_readouts or seconds must limit a move, got None for both")
        if self.readouts is not None:
            check_int("num_readouts", self.readouts, 0, MOST_READOUTS)
        if self.seconds is not None:
            check_positive("seconds", self.seconds)

    def left(self, done: int, seconds: float) -> int:
        """Return how many readouts a search may still do; 0 if it has reached a limit.

        done, seconds: its readouts so far, and its time so far.
        """
        if self.seconds is not None and seconds >= self.seconds:
            return 0
        return (MOST_READOUTS if self.readouts is None else self.readouts) - done


def position_in(env: GameEnv, position: Position) -> Position:
    """Return a position as one of the game `env`, which may have other planes or options than the position's game."""
    return position if env.accepts(position.env) else position.again_in(env)


def state_of(position: Position) -> tuple[int, int, bool]:
    """Return what distinguishes the positions of one game: the number of moves, whose turn it is, and if it is over."""
    return len(position.moves), position.to_play, position.is_over


def continues(before: Position, position: Position, env: GameEnv) -> bool:
    """Return whether a position follows from `before` by further moves, or by none.

    env: a game that accepts the positions (`GameEnv.accepts`).
    """
    known = len(before.moves)
    has_same_moves = position.moves[:known] == before.moves and position.movers[:known] == before.movers
    return has_same_moves and position.setup_in(env) == before.setup_in(env)


class Thinker:
    """A player that follows a game (`follow`), and searches for a move (`choose`) or for a short time (`work`).

    It has no thread of its own: it searches in the thread of its caller.

    player: it searches, chooses and resigns.
    wave: readouts between two looks at the clock; in a large tree `work` makes longer waves, up to the number of leaves
        in the player's settings.
    now: returns the time in seconds.
    """

    def __init__(self, player: MCTSPlayer, *, wave: int = WAVE, now: Callable[[], float] = time.monotonic) -> None:
        self.player, self.wave, self.now = player, wave, now
        self.seconds = 0.0  # spent in `work`

    def warm_up(self) -> float:
        """Compile what a search needs, and return how many readouts a second it does; the game then begins anew."""
        self.player.policy_move()
        self.player.tree_search(WARM_UP)
        begin = self.now()
        self.player.tree_search(WARM_UP)
        rate = WARM_UP / max(self.now() - begin, 1e-6)
        self.player.initialize_game()
        return rate

    def follow(self, position: Position, rules: Sequence[Forbidden] = ()) -> None:
        """Go to a position; keep the tree if the position continues the player's game.

        position: of a game that the player's game accepts, such as the same game with other input planes.
        rules: moves that the search must not try.
        """
        player, rules = self.player, usable(rules)
        before = player.position
        is_same_game = player.forbidden == rules and continues(before, position, player.env)
        new_moves = list(zip(position.movers, position.moves, strict=True))[len(before.moves) :]
        # The new moves are played only to keep a tree; without one it is faster to begin at the position.
        has_tree_to_keep = player.root_visits > 0 and not rules  # under rules, playing a move empties the tree
        if is_same_game and (has_tree_to_keep or not new_moves):  # without new moves, the player is there already
            for mover, action in new_moves:
                if player.position.to_play != mover or player.is_done():
                    break  # a turn was skipped, or the game goes on after its end; it begins anew below
                player.play_move(action)
            if state_of(player.position) == state_of(position):
                return
        player.initialize_game(position_in(player.env, position), rules)

    def choose(self, limit: MoveLimit, report: Callable[[int], object] | None = None) -> int:
        """Return the move after a search within a limit, without playing it.

        report: called after each wave with the readouts so far. Without it, and without a limit of time, the search
            ends as soon as its move is certain.
        """
        if limit.readouts == 0:
            return self.player.policy_move()
        if report is None and limit.seconds is None:
            assert limit.readouts is not None
            self.player.num_readouts = limit.readouts
            return self.player.suggest_move()
        done, begin = 0, self.now()
        while readouts := min(self.wave, limit.left(done, self.now() - begin)):
            self.player.tree_search(readouts)
            done += readouts
            if report is not None:
                report(done)
        return self.best()

    def work(self, readouts: int, seconds: float) -> int:
        """Search for about `seconds` seconds, but with at most `readouts` readouts; return how many were done.

        The game must not be over.
        """
        search, begin = self.player.search, self.now()
        slots = np.zeros(1, np.int64)  # of the player's only game
        budget = np.zeros(1, np.int32)  # readouts left in a wave
        done = 0
        prepared = 0  # readouts for which the search has room
        while done < readouts and self.now() - begin < seconds:
            # Room is made for many waves at once: in a small tree making it takes half as long as a wave.
            if prepared < search.settings.leaves:
                prepared = max(PREPARED, search.settings.leaves)
                search.prepare(slots, np.array([prepared], np.int32))
            leaves = max(self.wave, min(self.player.root_visits // VISITS_PER_LEAF, search.settings.leaves))
            leaves -= leaves % self.wave  # on a CPU networks compute whole blocks: a part of a block costs as much
            wave_readouts = min(leaves, readouts - done)
            budget[0] = wave_readouts
            while budget[0] and search.wave(budget):
                pass  # `wave` has reduced the budget
            done += wave_readouts
            prepared -= wave_readouts
        self.seconds += self.now() - begin
        return done

    def best(self) -> int:
        """Return the best move of the search so far; without a search, the network's most probable move."""
        return self.player.pick_move() if self.player.root_visits > 1 else self.player.policy_move()
