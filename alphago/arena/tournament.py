"""A match or round robin that is saved in a folder and can be stopped and resumed."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from alphago.arena.entrant import Entrant
from alphago.arena.match import find_adjudicator, play_match
from alphago.arena.match_games import MatchPlan, MatchSetup, opening_length
from alphago.arena.match_result import MatchGame, MatchResult
from alphago.arena.match_work import travelling_network
from alphago.arena.result_folder import Match, ResultFolder
from alphago.arena.sprt import Sprt, Verdict, pair_scores
from alphago.arena.submission import MOVE_SECONDS, Submission
from alphago.drawing.live_bar import LiveBar
from alphago.env.game import GameEnv
from alphago.mcts.levels import level_conditions
from alphago.mcts.rule import temperature_plies
from alphago.mcts.search_specs import make_search
from alphago.system.files import lock
from alphago.system.own_modules import own_files
from alphago.system.validation import check_ranges, setting, settings
from alphago.workers.jobs import JobPool

BATCH_GAMES = 64  # games at once: enough to fill a network's batches, few enough to play again after an interruption
SPRT_GAMES = 32  # the sequential test is made after every so many games


@settings
class TournamentSettings:
    """The settings shared by all matches of a tournament."""

    games: int = setting(
        "games in each match, an even number, since each opening is played with both colours",
        default=200,
        least=2,
        shown="games in each match, an even number",
    )
    random_opening: int | None = setting(
        "first plies on random points, the same in all matches; None for the game's usual number: 2 in Go from 7x7 on, "
        "4 in Oware and Connect Four, 6 in Reversi",
        default=None,
    )
    opening_plies: int | None = setting(
        "first plies drawn in proportion to visits; None for 0 if openings are random, else N^2 / 12", default=None
    )
    seed: int = setting("random seed of openings and drawn moves", default=0, shown="random seed of openings")
    adjudicator: str | None = setting(
        'engine that scores final boards of Go instead of Tromp-Taylor rules: "gnugo" or "gnugo:LEVEL"; differences '
        "are reported",
        default=None,
    )
    move_seconds: float = setting(
        "time for a move of a player in a .py file; who exceeds it loses the game",
        default=MOVE_SECONDS,
        positive=True,
    )
    sprt: tuple[float, float] | None = setting(
        "two Elo differences: end a match when a sequential test decides between them, with error rates of 5 %",
        default=None,
        shown="end a match when a sequential test decides, as 0:20 in Elo",
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.games % 2:
            raise ValueError(f"games must be even, to play each opening with both colours, got {self.games}")
        if self.sprt is not None:
            Sprt(*self.sprt)  # raises for invalid differences


class Tournament:
    """A round robin of entrants, with a match for each pair.

    Games of Go end after two passes, or when their fixed turns are played; a ply limit of `env` below 4 N^2 is raised
    to 4 N^2. Finished games are saved in the folder. `play` continues an unfinished tournament, also in a later process
    that has the same entrants, game and settings.  With more games it continues a finished one; with fewer, only the
    first games count.

    Attributes:
        entrants: the players; those that are submissions have the settings' time for a move.
        settings: those of the call, with `random_opening` as a number.
        plan: what determines the games of each match, except the players.
        names: the names of the entrants.
        matches: for each pair of entrants their indices (i, j), i < j.
        folder: the finished games.
    """

    def __init__(
        self,
        env: GameEnv,
        entrants: Sequence[Entrant],
        settings: TournamentSettings,
        folder: str | Path | None = None,
        pool: JobPool | None = None,
    ) -> None:
        """Open or create the folder.

        Args:
            folder: the path; None for `runs/evaluate-HASH`, with a hash of everything that determines the games.
            pool: the workers that play, as in `evaluate`; None for threads of this process.

        Raises:
            ValueError: if the folder has other contents, if there are fewer than two entrants, if the adjudicator
                cannot score the game, or if the workers cannot play an entrant.
            EngineError: if the adjudicator is not installed.
        """
        if len(entrants) < 2:
            raise ValueError(f"a match must have two players or more, got {len(entrants)}")
        self.env = env.match_variant()
        self.entrants = [
            replace(entrant, player=replace(entrant.player, move_seconds=settings.move_seconds))
            if isinstance(entrant.player, Submission)
            else entrant
            for entrant in entrants
        ]
        random_plies = opening_length(self.env) if settings.random_opening is None else settings.random_opening
        self.settings = replace(settings, random_opening=random_plies)
        opening_plies = settings.opening_plies
        if opening_plies is None:
            opening_plies = 0 if random_plies else temperature_plies(self.env)
        # One leaf a wave, so that strength does not depend on how many games are played at once.
        self.plan = MatchPlan(settings.games, opening_plies, random_plies, settings.seed, leaves=1)
        self.adjudicator = find_adjudicator(settings.adjudicator, self.env)
        self.names = [entrant.name for entrant in entrants]
        self.pool = pool
        if pool is not None:
            for entrant in self.entrants:
                travelling_network(self.env, entrant)  # raises if it cannot travel to workers, before there is a folder
        self.matches: list[Match] = list(itertools.combinations(range(len(entrants)), 2))
        self.folder = ResultFolder(folder, self.env, self.names, self.identity())

    def identity(self) -> dict[str, Any]:
        """Return everything that determines each game, as JSON data; the number of games does not."""
        kinds = [type(self.env), *(type(make_search(entrant.search, 1, 1)) for entrant in self.entrants)]
        facts = asdict(self.settings)
        del facts["games"]
        if not any(isinstance(entrant.player, Submission) for entrant in self.entrants):
            del facts["move_seconds"]
        return {
            "players": self.names,
            "readouts": [entrant.readouts for entrant in self.entrants],
            "search": [str(entrant.search or "") for entrant in self.entrants],
            # How an entrant at a level plays this game: its loss per move, on purpose, and its readouts.
            "levels": [
                entrant.level
                and level_conditions(entrant.level, self.env, bool(getattr(entrant.player, "makes_forecasts", False)))
                for entrant in self.entrants
            ],
            "file or version of": {entrant.name: entrant.weights for entrant in self.entrants} | own_files(kinds),
            "game": self.env.name,
            **self.env.rule_options,
            **facts,
        }

    def play(self, make_bar: Callable[..., Any] = LiveBar) -> None:
        """Play the games that are missing, with a progress bar.

        Ctrl-C stops unfinished games at their next move; a later call plays them again from the start.

        Args:
            make_bar: returns the bar, as tqdm does.

        Raises:
            BlockingIOError: if another process plays in the folder.
        """
        with lock(self.folder.path):
            done = sum(len(self.games(match)) for match in self.matches)
            with make_bar(total=len(self.matches) * self.settings.games, initial=done, unit="game") as bar:
                for match in self.matches:
                    self._play_match(match, bar)

    def _play_match(self, match: Match, bar: Any) -> None:
        """Play the missing games of a match, at most until the sequential test decides; save each game as it ends.

        Args:
            match: the indices of the two players.
            bar: the progress bar of `play`.
        """
        setup = MatchSetup(self.env, [self.entrants[player] for player in match], self.plan)

        def add(game: MatchGame) -> None:
            """Keep a finished game, and show the standing of its match."""
            self.folder.add(match, game)
            result = self.result(match)
            text = f"{len(result.games) // 2} pairs: {result.wins} won, {result.draws} drawn, {result.losses} lost"
            bar.set_description(" - ".join(entrant.name for entrant in setup.entrants), refresh=False)
            bar.set_postfix_str(text, refresh=False)
            bar.update()

        # The games of a batch are played at once, and an interruption loses the unfinished ones: batches are small.
        # With workers one batch has all games, since `play_on_workers` divides the games into small jobs.
        batch = BATCH_GAMES if self.pool is None else self.plan.games
        step = SPRT_GAMES if self.settings.sprt else batch  # games between two looks at the test
        for begin in range(0, self.plan.games, step):
            played = self.games(match)  # also games of earlier calls
            verdict = self.verdict(match, games=begin)
            if verdict is not None and verdict.state != "continue":  # the games that are left are not played
                bar.total -= self.plan.games - len(played)
                return
            numbers = [number for number in range(begin, min(begin + step, self.plan.games)) if number not in played]
            if numbers:
                play_match(setup, numbers, add, adjudicator=self.adjudicator, pool=self.pool)

    def games(self, match: Match) -> dict[int, MatchGame]:
        """Return the games of a match that were played, by number; match: the indices of the two players."""
        saved = self.folder.games.get(match, {})  # more than are wanted, if an earlier call wanted more
        return {number: game for number, game in saved.items() if number < self.settings.games}

    def result(self, match: Match) -> MatchResult:
        """Return the result so far of a match, from its first player's view.

        Only games whose opening was played with both colours count.  match: the indices of the two players.
        """
        games = self.games(match)
        paired = [game for number, game in games.items() if number ^ 1 in games]  # games 2k and 2k + 1 are a pair
        return MatchResult.of(self.env, paired)

    def verdict(self, match: Match, games: int | None = None) -> Verdict | None:
        """Return the sequential test's verdict on a match; None if there is no test.

        Pairs of games are tested in the order of their numbers, up to the first missing game, so that the order in
        which games end does not matter. Pairs in which an engine forfeited a game are ignored.

        Args:
            games: only the first `games` games count; None for all games.
        """
        if self.settings.sprt is None:
            return None
        played = self.games(match)
        numbers = range(self.settings.games if games is None else games)
        tested = [played[number] for number in itertools.takewhile(played.__contains__, numbers)]
        pairs = zip(tested[::2], tested[1::2], strict=False)  # a last game without its partner is left out
        faultless = [pair for pair in pairs if not any(game.fault for game in pair)]
        outcomes = [game.outcome for pair in faultless for game in pair]
        return Sprt(*self.settings.sprt).judge(pair_scores(outcomes))
