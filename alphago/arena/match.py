"""Matches: many games at once with alternating colours, whose final boards an engine may score."""

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from alphago.arena.engine import COMMAND_PREFIX, Engine
from alphago.arena.engine_player import disagreement, read_margin, set_up
from alphago.arena.entrant import entrant_for, find_player
from alphago.arena.line_process import EngineError
from alphago.arena.match_games import MatchPlan, MatchSetup, play_games
from alphago.arena.match_result import MatchGame, MatchResult
from alphago.arena.match_work import play_on_workers
from alphago.arena.playout_player import PlayoutSettings
from alphago.arena.submission import Submission
from alphago.env.game import GameEnv, check_env
from alphago.env.games import require_go
from alphago.mcts.rule import temperature_plies
from alphago.mcts.search import leaves_for
from alphago.mcts.search_specs import PLAYER_RULE, SearchSpec
from alphago.mcts.warm_up import warm_up
from alphago.nn.threads import Workers, one_torch_thread
from alphago.system.cores import available_cores
from alphago.system.interrupts import Stopped
from alphago.system.validation import check_int, checks_keywords
from alphago.workers.jobs import JobPool, open_pool


class MatchStopped(Stopped):
    """A match was stopped before all its games were over."""


def adjudicate(env: GameEnv, engine: Engine, game: MatchGame, seed: int) -> MatchGame:
    """Return a game of Go with the outcome and margin that follow from an engine's score (its `final_score`).

    This is for players that pass before dead stones are captured: Tromp-Taylor rules count these stones as alive.  If
    the Tromp-Taylor score differs, `disagreement` has both scores.  A game that ended by resignation or forfeit (margin
    None) is returned unchanged.

    Args:
        env: the game of the match, in which `find_adjudicator` has found the engine.
        seed: the engine's random seed.

    Raises:
        EngineError: if the engine's reply is not a score.
    """
    if game.margin is None:
        return game
    go = require_go(env, engine.name)
    with engine.start(seed, go.rules) as process:
        set_up(process, go)
        for ply, action in enumerate(game.moves):
            process.ask(f"play {'bw'[ply % 2]} {go.to_text(action)}")  # Black begins, and colours alternate
        text = process.ask("final_score")
    margin = read_margin(text)
    if margin is None:
        raise EngineError(f"{engine.name} answered {text!r} to final_score of game {game.number}, not a score")
    # The game may have a text already: of a player that is an engine and has scored the board itself.
    texts = game.disagreement, disagreement(game.margin, text, engine.name)
    first_colour = 1 if game.number % 2 == 0 else -1  # of the match's first player; the outcome is in its view
    outcome = first_colour * float(np.sign(margin)) + 0.0  # no -0.0
    # `counted`: an engine has scored the final board too.
    return replace(game, outcome=outcome, margin=margin, counted=True, disagreement="; ".join(filter(None, texts)))


def find_adjudicator(adjudicator: str | Engine | None, env: GameEnv) -> Engine | None:
    """Return the engine that scores the final boards of a match of `env`, or None for none.

    Args:
        adjudicator: an Engine, or a name such as "gnugo:5" or "gtp:COMMAND" (`find_player`).

    Raises:
        ValueError: for any other name, for games other than Go, and for games with fixed turns (`GoEnv.turns`), which
            GTP does not know.
        EngineError: for an engine that is not installed.
    """
    if adjudicator is None:
        return None
    is_name = isinstance(adjudicator, str) and adjudicator.startswith(("gnugo", COMMAND_PREFIX))
    engine = find_player(str(adjudicator)) if is_name else adjudicator
    if not isinstance(engine, Engine):
        raise ValueError(f"adjudicator must be 'gnugo', 'gnugo:LEVEL', an Engine or None, got {adjudicator!r}")
    if require_go(env, engine.name).turns is not None:
        raise ValueError(f"{engine.name} scores games that end by two passes, got games of fixed turns")
    return engine


@checks_keywords()
def evaluate(
    env: GameEnv,
    black: object,
    white: object,
    num_games: int = 400,
    readouts: int | tuple[int, int] = 800,
    *,
    search: SearchSpec | tuple[SearchSpec, SearchSpec] = PLAYER_RULE,
    opening_plies: int | None = None,
    random_opening: int = 0,
    seed: int = 0,
    device: str = "auto",
    adjudicator: str | Engine | None = None,
    progress: Callable[[int], Any] | None = None,
    stop: threading.Event | None = None,
    workers: str | int | None = None,
) -> MatchResult:
    """Play a match and return its result from the view of `black`.

    All games are played to their end by the rules; only engines resign.  Networks of Go may have different input
    planes.  Against an engine, "uct:N" or "rave:N" the environment's `first_pass` is ignored and a ply limit is raised
    to at least 4 N^2, since engines know neither option, and matches against these opponents should be comparable.
    Fixed turns do apply: the game ends when they are played, the board is scored as it is, and an engine's pass uses up
    a turn.

    Args:
        black, white: the players; `black` has Black in every other game, beginning with the first.  A player is one of
            - a NeuralNet, its name, file or run folder ("7x7", see `load_model`), an evaluator, or a function on
              positions;
            - "7x7@64", "runs/a@8,gumbel" or "9x9@level=5": a network with its own readouts, search or level;
            - "random": a uniformly random legal action, the pass included;
            - "rave:N", in Go: N random games a move (see `alphago.arena.playout_player`);
            - "uct:N": the same in Go; in other games a PUCT search with equal priors, whose values are a random game
              from each position;
            - "alphabeta:N", in other games than Go: N plies ahead (see `alphago.arena.alphabeta`); in games that do not
              come with the package it sees wins and losses alone;
            - "gnugo" (level 10) or "gnugo:LEVEL": GNU Go, if installed;
            - "gtp:./engine --argument" or an `Engine`: any GTP engine;
            - "player.py" or a `Submission`: a Python file with a function `choose(position)`.
        readouts: simulations per move, one number for both players or (black's, white's); 0 plays the network's most
            probable action without search.
        search: the search, without noise: "puct" or "gumbel"; settings such as Puct(c_puct=1.5); or a dictionary that
            changes some settings, {"kind": "gumbel", "c_scale": 0.5}.  One for both players or (black's, white's).
        opening_plies: number of first plies in which a move is drawn in proportion to its visits (or probability), so
            that games differ; None for N^2 / 12, or 0 with `random_opening`.  Engines vary by their seeds;
            "alphabeta:N" is deterministic, so give it random openings.
        random_opening: number of plies on random points off the edge before the players choose.  Games 2k and 2k + 1
            have the same opening with colours exchanged, so that it favours neither player.
        seed: random seed of openings, drawn moves and engines; the same seed gives the same games on a CPU.
        device: the device of networks and of the boards of their searches: "cpu", "cuda", or "auto" for the GPU if
            there is one that supports game and network.
        adjudicator: scores final boards of Go: "gnugo", "gnugo:LEVEL" or an Engine; None for Tromp-Taylor rules.  Games
            in which the engine's score differs from the Tromp-Taylor score are reported in the result.
        progress: called with the number of each finished game.
        stop: an event that ends the match at the next move, with MatchStopped.
        workers: the workers that play, as in `train`, on CPUs; the players must be networks, "random", "uct:N",
            "rave:N" or "alphabeta:N".  Games depend on the seed, not on which worker plays them.  They equal those of
            the player `net.evaluator(exact=True)` without workers; the usual evaluator of a network computes faster,
            but its last bits depend on how many games are played side by side.
    """
    check_env(env)
    warm_up()  # begins to compile the kernels of searches in another process, unless they are compiled
    num_games = check_int("num_games", num_games, 1)
    first_readouts, second_readouts = (check_int("readouts", n, 0) for n in as_pair("readouts", readouts))
    first_search, second_search = as_pair("search", search)
    random_opening, seed = check_int("random_opening", random_opening, 0), check_int("seed", seed, 0)
    device = device if workers is None else "cpu"
    first = entrant_for(black, env, first_readouts, first_search, device)
    second = entrant_for(white, env, second_readouts, second_search, device)
    players = first.player, second.player
    referee = find_adjudicator(adjudicator, env)
    if referee is not None or any(isinstance(player, (PlayoutSettings, Engine, Submission)) for player in players):
        env = env.match_variant()  # without options that only help self-play
    if opening_plies is None:
        opening_plies = 0 if random_opening else temperature_plies(env)
    opening_plies = check_int("opening_plies", opening_plies, 0)
    # Each player is to move in about half of the games.  The fewer they are, the more positions (leaves) of each game
    # are evaluated at once.
    leaves = leaves_for(num_games // 2, max(first.readouts, second.readouts))
    match = MatchSetup(env, (first, second), MatchPlan(num_games, opening_plies, random_opening, seed, leaves))
    games: list[MatchGame] = []

    def add(game: MatchGame) -> None:
        """Keep a finished game, and report its number."""
        games.append(game)
        if progress:
            progress(game.number)

    with open_pool(workers, env) as pool:
        play_match(match, range(num_games), add, stop=stop, adjudicator=referee, pool=pool)
    if len(games) < num_games:
        raise MatchStopped(f"the match was stopped after {len(games)} of {num_games} games")
    return MatchResult.of(env, games)


def as_pair(name: str, value: object) -> tuple[Any, Any]:
    """Return an option's value for each of the two players.

    Args:
        name: the option, for the message.
        value: a pair (tuple or list), or one value for both players.

    Raises:
        ValueError: for a sequence of any other length.
    """
    if not isinstance(value, (tuple, list)):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be one value for both players or a pair, got {value!r}")
    return value[0], value[1]


def play_match(
    match: MatchSetup,
    numbers: Sequence[int],
    on_game: Callable[[MatchGame], Any],
    *,
    stop: threading.Event | None = None,
    adjudicator: Engine | None = None,
    pool: JobPool | None = None,
) -> None:
    """Play the games with these numbers, and call `on_game` with each finished game.

    Two calls of `on_game` never overlap. Setting `stop` ends the match at the next move; an exception in a thread, and
    Ctrl-C, also set `stop`.

    Args:
        adjudicator: scores the final boards; None to score them by Tromp-Taylor rules.
        pool: the workers that play; None for threads of this process.
    """
    engine_limits = [entrant.player.at_once for entrant in match.entrants if isinstance(entrant.player, Engine)]
    threads = min([available_cores(), len(numbers), *engine_limits])
    stop = stop or threading.Event()
    one_at_a_time = threading.Lock()

    def report(game: MatchGame) -> None:
        """Call `on_game` with a finished game, whose final board the adjudicator has scored if there is one."""
        if adjudicator is not None:
            game = adjudicate(match.env, adjudicator, game, match.plan.engine_seed(game.number))
        with one_at_a_time:
            on_game(game)

    if pool is not None:
        return play_on_workers(pool, match, numbers, report, stop)

    def play_in_parts(share: Sequence[int]) -> None:
        """Play one thread's games in parts, so that all threads together run no more processes than engines allow.

        Each game runs one process of each engine.

        Args:
            share: the numbers of the thread's games.
        """
        # The threads share the least limit, which is not below their number.
        games_per_part = min(engine_limits) // threads if engine_limits else len(share)
        for begin in range(0, len(share), games_per_part):
            if not stop.is_set():
                play_games(match, share[begin : begin + games_per_part], report, stop=stop)

    with one_torch_thread(), Workers(threads) as workers:
        tasks = [functools.partial(play_in_parts, numbers[thread::threads]) for thread in range(threads)]
        workers.run(tasks, stop)
