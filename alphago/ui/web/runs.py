"""Runs that a page watches.  They are read from their folders, without writing there and without taking their locks."""

import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from alphago.drawing.curves import panel_drawing
from alphago.drawing.svg import to_svg
from alphago.env.game import GameEnv
from alphago.env.position import IllegalMove
from alphago.records.record import GameRecord, load_records
from alphago.system.validation import check_int, shown
from alphago.training.call.summary import game_text, latest_losses, match_facts, minutes_spent, of_total, why_over
from alphago.training.history import EVALUATIONS, METRICS, History, Row, limits, number, opponent_name, read_rows
from alphago.training.runs.config import CONFIG, flat_settings, game_from_config, read_config, run_game
from alphago.training.watch.diagnosis import diagnose, games_a_second, numbers
from alphago.training.watch.game_sheet import record_game
from alphago.training.watch.plots import AXES, legend_names, list_panels, reword, run_colours
from alphago.ui.web.new_game import GameTree

LATEST_GAMES = 24  # games of self-play that are offered
MATCH_GAMES = 8  # games of each opponent's latest match that are offered
SELF_PLAY = "self-play"
LEAST_LEFT = 1 / 6  # minutes: the shortest time that the headline says is left
LEAST_IDLE = 5  # minutes for which a run may write nothing without counting as stopped
MAIN_TITLES = ("Win rate", "Elo", "Policy loss", "Value error")  # how the titles of the most important panels begin


class RunGame(NamedTuple):
    """A game of a run that a page may open.

    Attributes:
        title: its name in the page's list, which no other game of the run has.
        names: the players' names, Black's first.
        moves: actions, or their texts.
        record: the game's record; None if the run has kept only its moves.
    """

    title: str
    names: tuple[str, str]
    moves: Sequence[int | str]
    record: GameRecord | None = None


class Runs:
    """The runs that the page watches; each call reads their files anew, and several threads may call the methods.

    Args:
        folders: the runs' folders.
    """

    def __init__(self, folders: Sequence[str | Path]) -> None:
        self.folders, self.names = list(map(Path, folders)), legend_names(folders)

    def stamp(self) -> str:
        """Return a text that changes when a run has written something new, and with each minute."""
        stamps = [int(time.time()) // 60]
        for path in [folder / name for folder in self.folders for name in (CONFIG, METRICS, EVALUATIONS)]:
            with contextlib.suppress(OSError):
                stamps += [path.stat().st_size, path.stat().st_mtime_ns]
        return "-".join(map(str, stamps))

    def overview(self, x: str = "minutes") -> dict[str, Any]:
        """Return headlines, facts, games and panels of all runs; raise ValueError unless `x` is a key of AXES.

        The panels are SVG, those that matter most first.  A run that cannot be read has a sentence as its "error", and
        no curves.

        Args:
            x: what the x axes of the panels count, such as "minutes".
        """
        if x not in AXES:
            raise ValueError(f"x must be one of {', '.join(AXES)}, got {shown(x)}")
        runs, histories = [], []
        for i, folder in enumerate(self.folders):
            try:
                history = history_of(folder)
                list(list_panels([history], x))  # raises here if the run's curves cannot be drawn
                run = {**describe_run(history), "games": [game.title for game in latest_games(history)]}
            except Exception as error:  # one damaged run must not hide the others
                fault = str(error) if isinstance(error, ValueError) else f"it cannot be read ({error!r})"
                run = {"error": fault, "facts": {}, "diagnosis": [], "games": []}
                history = History(folder, [], [])  # keeps its place, so that each run has its colour
            histories.append(history)
            runs.append({**run, "name": self.names[i], "colour": run_colours(len(self.folders))[i]})
        _, _, axis_label = AXES[x]
        label = reword(histories, axis_label)  # such as "given games" for runs without self-play
        panels = list(list_panels(histories, x))
        order = panel_order([panel.title for panel in panels])
        pictures = [to_svg(panel_drawing(panels[i], label), shrinks=False) for i in order]
        return {"runs": runs, "x": x, "axes": list(AXES), "panels": pictures}

    def open_game(self, run: Any, title: Any) -> GameTree:
        """Return a game of a run as a tree; raise ValueError for an unknown run or game.

        Args:
            run: the run's index in `folders`.
            title: the game's title.  The run may have written newer games since the page listed it.
        """
        history = history_of(self.folders[check_int("run", run, 0, len(self.folders) - 1)])
        for game in latest_games(history, files=4, most=None):
            if game.title == title:
                return game_tree(run_game(history.folder).match_variant(), game)
        raise ValueError(f"game must be one of the run's latest, got {shown(title)}")


def history_of(folder: Path) -> History:
    """Return the history of a run; it has no metrics until the first iteration is over, or if none can be read."""
    metrics: list[Row] = []
    with contextlib.suppress(ValueError):
        metrics = read_rows(folder / METRICS, required_key="seconds")
    return History(folder, metrics, read_rows(folder / EVALUATIONS, required_key="opponent"))


# --- facts and curves ------------------------------------------------------------------------------


def describe_run(history: History) -> dict[str, Any]:
    """Return headline, facts and diagnosis of a run for the page: how far and how fast it is, and what goes wrong."""
    config, log = read_config(history.folder), history.folder / METRICS
    # Seconds since the last row; not negative where the clock of the folder's disk is ahead.
    idle = max(time.time() - log.stat().st_mtime, 0) if log.exists() else math.inf
    settings, rows = flat_settings(config), history.metrics
    last: Row = rows[-1] if rows else {}
    over = why_over(settings, last, history.evaluations)
    facts = {
        "game": game_words(config),
        "games": of_total(number(last, "games") or 0.0, settings.get("num_games")),
        **minutes_spent(settings, last),
        "positions": f"{number(last, 'positions') or 0:,.0f}",
        "gradient steps": f"{number(last, 'steps') or 0:,.0f}",
        "over": over or "no",
        "latest line": "none yet" if math.isinf(idle) else f"{duration_text(idle / 60)} ago",
        **latest_losses(rows),
        **match_facts(history.evaluations),
    }
    findings = [str(finding) for finding in diagnose(rows, settings)] if rows else ["No iteration is over yet."]
    if rows and not number(last, "steps"):
        made = "was made" if over else "has been made yet"
        findings.append(f"No gradient step {made}: the network plays as it did at the start.")
    headline = make_headline(settings, rows, history.evaluations, over=bool(over), idle=idle)
    return {"headline": headline, "facts": facts, "diagnosis": findings, "over": bool(over)}


def game_words(config: Mapping[str, Any]) -> str:
    """Return the game in a run's config in a person's words, such as "Go 19x19, komi 7"."""
    try:
        env = game_from_config(config)
        size = {"board_size": env.config["board_size"]} if "board_size" in env.config else {}
        usual = {option.name: option.value for option in type(env)(**size).options}
    except (LookupError, ValueError, TypeError):  # a user's own game that is not loaded, or has no usual options
        return game_text(config)
    words = [env.title_and_size]
    for option in env.options:
        if option.name != "board_size" and option.value != usual[option.name]:
            value = f"{option.value:g}" if isinstance(option.value, float) else f"{option.value}"
            words.append(f"{option.title.lower()} {value}")
    return ", ".join(words)


# --- the headline ----------------------------------------------------------------------------------


def make_headline(
    settings: Mapping[str, Any], rows: Sequence[Row], matches: Sequence[Row], *, over: bool, idle: float
) -> dict[str, Any]:
    """Return the most important facts about a run.

    "strength" is its latest result against its hardest opponent, "" before any match.  "progress" is a text on how far
    it is.  "share" is the part of its games or of its time that is over, 0 .. 1.

    Args:
        settings: see `flat_settings`.
        rows: of metrics.jsonl.
        matches: the rows of evaluations.jsonl.
        over: whether the run is over.
        idle: seconds since the run wrote its last row.
    """
    last: Row = rows[-1] if rows else {}
    games, minutes = number(last, "games") or 0.0, (number(last, "seconds") or 0.0) / 60
    pace = 60 * games_a_second(rows)  # games a minute
    parts = [duration_text(minutes), f"{games:,.0f} games"]
    shown_pace = games / minutes if over and minutes else pace  # the mean of the whole run once it is over
    if shown_pace:
        parts.append(f"{shown_pace:,.0f} games/min")
    left = minutes_left(settings, last, pace)
    if over:
        parts.append("finished")
    # The time left counts from the last row: a run that has written nothing for longer should have ended by now, so it
    # was probably stopped.
    elif left < math.inf and idle < 60 * max(left, LEAST_IDLE):
        parts.append(f"about {duration_text(max(left, LEAST_LEFT))} to go")
    share = max([0.0, *(spent / limit for spent, limit in limits(settings, last).values())])
    return {"strength": latest_strength(matches), "progress": " · ".join(parts), "share": min(1.0, share)}


def minutes_left(settings: Mapping[str, Any], last: Row, pace: float) -> float:
    """Return the minutes until a run reaches the first of its limits; infinity without limits, or if this is unknown.

    Args:
        settings: see `flat_settings`.
        last: the last row of metrics.jsonl.
        pace: the latest games a minute.
    """
    minutes, left = (number(last, "seconds") or 0.0) / 60, math.inf
    for setting, (spent, limit) in limits(settings, last).items():
        # How much of a limit of time a minute of the run spends: 1 minute of the run, or some minutes of its cores.
        # Before any time has passed, 1.0 is a guess.
        time_speed = spent / minutes if minutes else 1.0
        speed = pace if setting == "num_games" else time_speed
        left = min(left, (limit - spent) / speed if speed else math.inf)
    return left


def duration_text(minutes: float) -> str:
    """Return a time as text such as "3 h", in the largest unit of which it has two or more."""
    for length, unit in ((1440, "days"), (60, "h"), (1, "min")):
        if minutes >= 2 * length:
            return f"{minutes / length:.0f} {unit}"
    return f"{60 * minutes:.0f} s"


def latest_strength(matches: Sequence[Row]) -> str:
    """Return the latest result against the hardest opponent, the one that the run beats least often.

    A run that learns from given games plays no matches.  For such a run, return how often its latest network finds the
    move that was played in held-out games.  Return "" if there is neither.
    """
    latest = {opponent_name(row): row for row in matches if number(row, "win_rate") is not None}
    if not latest:
        accuracies = numbers(matches, "accuracy")
        return f"finds {100 * accuracies[-1]:.0f} % of the moves of held-out games" if accuracies else ""
    rates = {name: number(row, "win_rate") or 0.0 for name, row in latest.items()}
    hardest = min(rates, key=rates.__getitem__)
    played, low, high = (number(latest[hardest], key) for key in ("played", "low", "high"))
    games = "" if played is None else f" of {played:.0f} games"
    interval = "" if low is None or high is None else f" (95 % sure: {100 * low:.0f} to {100 * high:.0f} %)"
    return f"wins {100 * rates[hardest]:.0f} %{games} against {hardest}{interval}"


def panel_order(titles: Sequence[str]) -> list[int]:
    """Return the indices of all panels in the order to show: first one for each of MAIN_TITLES, then the others.

    If there are several panels of win rates, each against one opponent, the last one comes first: that of the strongest
    opponent.
    """
    # For each of MAIN_TITLES, the panels whose titles begin so.
    groups = [[i for i, title in enumerate(titles) if title.startswith(begin)] for begin in MAIN_TITLES]
    # Of panels of win rates against an opponent, "Win rate, NAME", the last one; of others the first one.
    main = [panels[-1] if titles[panels[-1]].startswith("Win rate, ") else panels[0] for panels in groups if panels]
    return main + [i for i in range(len(titles)) if i not in main]


# --- games -----------------------------------------------------------------------------------------


def latest_games(history: History, files: int = 2, most: int | None = LATEST_GAMES) -> list[RunGame]:
    """Return the latest games of a run: of self-play and of matches.

    Args:
        files: how many files of self-play are read; two, since the newest may have few games.
        most: most games of self-play; None for all in these files.
    """
    newest = sorted((history.folder / "games").glob("games-*-*.npz"), reverse=True)[:files]
    return [*islice(recorded_games(newest), most), *match_games(history)]


def recorded_games(files: Sequence[Path]) -> Iterator[RunGame]:
    """Yield the games in files games-M-N.npz, which hold the games M to N - 1 of a run, counted from 0.

    Of each file the last game comes first.  Files that cannot be read are left out.
    """
    for path in files:
        with contextlib.suppress(OSError, ValueError):
            first = int(path.stem.split("-")[1])
            for number, record in reversed(list(enumerate(load_records(path), first + 1))):
                title = f"{SELF_PLAY}, game {number:,}: {record.result_string}, {len(record)} moves"
                yield RunGame(title, (SELF_PLAY, SELF_PLAY), record.moves.tolist(), record)


def match_games(history: History) -> list[RunGame]:
    """Return at most MATCH_GAMES games of the latest match against each opponent, from the run's log.

    The network is Black in games 0, 2, 4 and so on of a match.
    """
    latest = {opponent_name(row): row for row in history.evaluations if isinstance(row.get("moves"), list)}
    games = []
    for name, row in latest.items():
        games_before = number(row, "games")  # of self-play, before the match
        when = "" if games_before is None else f" after {games_before:,.0f} games"
        for index, game in enumerate(row["moves"][:MATCH_GAMES]):
            network_side = 1 if index % 2 == 0 else -1
            network_outcome = network_side * (number(game, "outcome") or 0.0)
            result = "won" if network_outcome > 0 else "lost" if network_outcome < 0 else "draw"
            moves = str(game.get("moves", "")).split()
            title = f"against {name}{when}, game {index + 1}: {result}, {len(moves)} moves"
            names = ("network", name) if network_side == 1 else (name, "network")
            games.append(RunGame(title, names, moves))
    return games


def game_tree(env: GameEnv, game: RunGame) -> GameTree:
    """Return a game as a tree without variations; its nodes have Black's win rates by the game's searches."""
    record = game.record
    start = env.position() if record is None else record.start(record_game(env, record))  # on the record's own board
    tree, last = GameTree(start, game.names), 0
    for ply, move in enumerate(game.moves):
        if record is not None and record.weights[ply] > 0:  # the weight is 0 if there was no full search
            black_value = float(record.movers[ply] * record.values[ply])
            tree.nodes[last]["win"] = round((1 + black_value) / 2, 4)
        try:
            last = tree.play(last, move)
        except IllegalMove:  # here the game ended by a rule of the run that this page's game does not have
            break
    if record is not None and record.resigned:
        tree.nodes[last]["loser"] = -1 if record.outcome > 0 else 1
    tree.nodes[last]["comment"] = game.title
    return tree
