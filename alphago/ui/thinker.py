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

WARM_UP = 8  # readouts of each of the two searches that compile kernels and measure the first rate
WAVE = 16  # readouts between two looks at the clock
VISITS_PER_LEAF = 50  # visits of a tree for each leaf of a wave beyond `Thinker.wave`: more cost a large tree little
PREPARED = 256  # readouts for which a search is prepared at once


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
        """Return how many readouts may follow `done` readouts in `seconds` seconds; 0 at the limit."""
        if self.seconds is not None and seconds >= self.seconds:
            return 0
        return (MOST_READOUTS if self.readouts is None else self.readouts) - done


def position_in(env: GameEnv, position: Position) -> Position:
    """Return a position as one of the same game with other planes or options."""
    return position if env.accepts(position.env) else position.again_in(env)


def state_of(position: Position) -> tuple[int, int, bool]:
    """Return what tells apart positions after the same moves: how many there were, whose turn it is, and the end."""
    return len(position.moves), position.to_play, position.is_over


class Thinker:
    """A player that goes where a game goes and thinks there: for a move, or in slices that end soon.

    It has no thread of its own: whoever calls it decides where it works.

    player: it searches, chooses and resigns.
    wave: readouts between two looks at the clock in a small tree; in a large one more, up to the player's leaves.
    now: returns the time in seconds.
    """

    def __init__(self, player: MCTSPlayer, *, wave: int = WAVE, now: Callable[[], float] = time.monotonic) -> None:
        self.player, self.wave, self.now = player, wave, now
        self.seconds = 0.0  # spent in `work`

    def warm_up(self) -> float:
        """Compile what a search needs, begin the game anew, and return how many readouts a second a search does."""
        self.player.policy_move()
        self.player.tree_search(WARM_UP)
        begin = self.now()
        self.player.tree_search(WARM_UP)
        rate = WARM_UP / max(self.now() - begin, 1e-6)
        self.player.initialize_game()
        return rate

    def follow(self, position: Position, rules: Sequence[Forbidden] = ()) -> None:
        """Go to a position; the tree is kept if the position continues the player's game.

        position: of the player's game, whose network may see other planes.
        rules: moves that the search must not try.
        """
        player, env = self.player, self.player.env
        before, rules = player.position, usable(rules)
        known = len(before.moves)
        continues = (position.moves[:known], position.movers[:known]) == (before.moves, before.movers)
        continues = continues and before.setup_in(env) == position.setup_in(env) and player.forbidden == rules
        has_tree = player.root_visits and not rules  # a move ends the rules, and with them the tree
        if continues and (position.moves == before.moves or has_tree):
            for mover, action in zip(position.movers[known:], position.moves[known:], strict=True):
                if player.position.to_play != mover or player.is_done():
                    break  # a turn was skipped, or the game goes on after its end
                player.play_move(action)
            if state_of(player.position) == state_of(position):
                return
        player.initialize_game(position_in(env, position), rules)

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
        """Search for about `seconds` seconds, with at most `readouts` readouts; return how many there were.

        The game must not be over.
        """
        done, prepared, begin = 0, 0, self.now()
        search, game, budget = self.player.search, np.zeros(1, np.int64), np.zeros(1, np.int32)
        while done < readouts and self.now() - begin < seconds:
            if prepared < search.settings.leaves:  # not for each wave of small trees: it costs half of their own time
                prepared = max(PREPARED, search.settings.leaves)
                search.prepare(game, np.array([prepared], np.int32))
            leaves = max(self.wave, min(self.player.root_visits // VISITS_PER_LEAF, search.settings.leaves))
            leaves -= leaves % self.wave  # on a CPU networks compute whole blocks: a part of one costs as much
            budget[0] = part = min(leaves, readouts - done)
            while budget[0] and search.wave(budget):
                pass
            done += part
            prepared -= part
        self.seconds += self.now() - begin
        return done

    def best(self) -> int:
        """Return the best move of the search so far; without a search, the network's most probable one."""
        return self.player.pick_move() if self.player.root_visits > 1 else self.player.policy_move()
