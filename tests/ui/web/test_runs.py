"""Runs that are watched: facts, curves and games come from the folder, and nothing in it changes."""

import json
import re
import shutil
from pathlib import Path

import pytest

from alphago import ConnectFourEnv, GameEnv, GoEnv, train
from alphago.env.games import GAMES
from alphago.env.packaged_nets import NETWORKS
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.training.history import EVALUATIONS, METRICS
from alphago.training.runs.config import read_config, write_config
from alphago.ui.web.engines import Engines
from alphago.ui.web.runs import Runs, game_words, history_of, latest_games, latest_strength, make_headline
from alphago.ui.web.server_options import make_offer
from tests.drawing.reading import texts, title
from tests.ui.web.desks import Guest
from tests.ui.web.served import serving

SMALL = {"num_games": 8, "readouts": 2, "tower_height": 0, "channels": 4, "start_training_after": 20, "ckp_freq": 4}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run on 3x3 that has met a random player."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    train(GoEnv(3, komi=0.5), folder=folder, watch=["random@0"], watch_share=0.5, reports=[], seed=1, **SMALL)
    return folder


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_run_is_shown_and_stays_as_it_is(run: Path) -> None:
    before = contents(run)
    runs = Runs([run])
    shown = json.loads(json.dumps(runs.overview("games")))
    (facts,) = shown["runs"]
    assert (facts["name"], facts["facts"]["games"]) == ("a", "8 of 8")
    assert facts["facts"]["over"] == "yes, all games are played"
    assert "against random@0" in facts["facts"]
    told = r"wins \d+ % of \d+ games against random@0 \(95 % sure: \d+ to \d+ %\)"
    assert re.fullmatch(told, facts["headline"]["strength"])
    assert re.search(r"^\d+ (s|min) · 8 games.* · finished$", facts["headline"]["progress"])
    assert facts["headline"]["share"] == 1
    titles = [title(panel) for panel in shown["panels"]]
    assert titles[2:4] == ["Policy loss", "Value error"]  # those that matter come first
    assert any(words.startswith("Win rate") for words in titles)
    assert "games of self-play" in texts(shown["panels"][titles.index("Policy loss")])
    assert "style=" not in "".join(shown["panels"])  # the page's policy allows no styles in it
    games = latest_games(history_of(run))
    assert [game.title.split(":")[0] for game in games][:1] == ["self-play, game 8"]
    assert len({game.title for game in games}) == len(games)
    assert any(game.title.startswith("against random@0") for game in games)
    for game in games:
        tree = runs.open_game(0, game.title)
        assert tree.env.N == 3
        assert len(tree.nodes) > 1
    assert contents(run) == before
    with pytest.raises(ValueError, match="x must be one of"):
        runs.overview("weeks")
    for wrong in ((5, game.title), (0, "?"), ("../..", game.title), (0, None), (True, game.title)):
        with pytest.raises(ValueError, match=r"^(run must be an integer|game must be one of the run's latest, got )"):
            runs.open_game(*wrong)


def test_a_run_that_learns_from_games_tells_what_it_found_of_them() -> None:
    judged = [{"opponent": "held-out games", "accuracy": share} for share in (0.31, 0.514)]
    assert latest_strength(judged) == "finds 51 % of the moves of held-out games"
    assert latest_strength([*judged, {"opponent": "random", "win_rate": 0.9}]) == "wins 90 % against random"


def test_a_game_of_a_run_is_replayed_with_its_values(run: Path) -> None:
    with Guest(runs=Runs([run])) as guest:
        guest.post("run-game", run=0, game=latest_games(history_of(run))[0].title)
        told = guest.until("game")
        assert told["game"]["title"] == "Go 3x3"
        assert told["names"] == ["self-play", "self-play"]
        state = guest.until("state", lambda state: not state["busy"])
        assert state["node"] == 0
        assert len(state["line"]) > 2
        assert any(node["win"] is not None for node in told["nodes"])
        assert guest.ask("go", node=state["line"][-1])["comment"].startswith("self-play, game 8: ")


def test_a_run_that_grows_and_one_that_has_nothing_yet(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    shutil.copytree(run, folder)
    rows = (folder / METRICS).read_text().splitlines(keepends=True)
    for name in (METRICS, EVALUATIONS):
        (folder / name).unlink()
    runs = Runs([folder, run])
    stamps = [runs.stamp()]
    shown = runs.overview()
    titles = shown["runs"][0]["games"]
    shutil.copy(next((folder / "games").iterdir()), folder / "games" / "games-0000008-0000012.npz")  # written later
    assert [runs.open_game(0, title).nodes[-1]["comment"] for title in titles] == titles
    assert shown["runs"][0]["facts"]["games"] == "0 of 8"
    assert shown["runs"][0]["diagnosis"] == ["No iteration is over yet."]
    (folder / METRICS).write_text("".join(rows[:1]) + '{"seconds": 3, "ga')
    stamps.append(runs.stamp())
    shown = runs.overview()
    assert shown["runs"][0]["facts"]["minutes of training"].endswith(" of 8") is False
    (folder / "config.json").write_text("{")
    assert len({*stamps, runs.stamp()}) == 3
    (folder / "config.copy.json").write_text("{")
    assert "is damaged" in runs.overview()["runs"][0]["error"]


# A run whose last iterations were faster.
FASTER = [[0, 0], [300, 30], *([300 + 15 * i, 30 + 18 * i] for i in range(1, 21))]
SHARED = [[0, 0], [240, 40, 60]]  # a minute of the processor took four by the clock


@pytest.mark.parametrize(
    ("settings", "over", "rows", "told"),
    [
        ({}, False, [[0, 0], [34, 82]], "34 s · 82 games · 145 games/min"),
        ({}, False, [[0, 0], [119, 82]], "119 s · 82 games · 41 games/min"),
        ({}, False, [[0, 0], [120, 82]], "2 min · 82 games · 41 games/min"),
        ({"max_minutes": 1}, False, [[0, 0], [34, 82]], "34 s · 82 games · 145 games/min · about 26 s to go"),
        ({"max_minutes": 5}, False, [[0, 0], [60, 82]], "60 s · 82 games · 82 games/min · about 4 min to go"),
        ({"max_minutes": 20}, False, FASTER, "10 min · 390 games · 72 games/min · about 10 min to go"),
        ({"max_minutes": 20}, True, FASTER, "10 min · 390 games · 39 games/min · finished"),
        ({"max_processor_minutes": 2.0}, False, SHARED, "4 min · 40 games · 10 games/min · about 4 min to go"),
    ],
)
def test_how_far_a_run_is(settings: dict[str, float], over: bool, rows: list[list[int]], told: str) -> None:
    """Short times are in seconds, so that time, games and pace agree; the pace of a run that is over is its mean."""
    read = [dict(zip(("seconds", "games", "processor_seconds"), row, strict=False)) for row in rows]
    assert make_headline(settings, read, [], over=over, idle=0)["progress"] == told


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (GoEnv(19, komi=7.0), "Go 19x19, komi 7"),
        (GoEnv(9), "Go 9x9"),
        (GoEnv(9, komi=5.5, max_moves=90, suicide=True), "Go 9x9, komi 5.5, rules Tromp-Taylor"),
        (ConnectFourEnv(), "Connect Four"),
    ],
)
def test_the_game_in_a_persons_words(env: GameEnv, words: str) -> None:
    assert game_words({"game": env.name, "env": env.config}) == words


def test_a_game_that_is_not_loaded_is_told_by_its_options() -> None:
    assert game_words({"game": "chess960", "env": {"start": 518}}) == "chess960 {'start': 518}"


def test_a_run_that_is_over_is_told_as_over(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    shutil.copytree(run, folder)
    rows = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    untrained = "No gradient step {}: the network plays as it did at the start."
    for games, steps, told in ((5000, 5, ""), (5000, 0, "has been made yet"), (12000, 0, "was made")):
        (folder / METRICS).write_text(json.dumps({**rows[-1], "steps": steps, "games": games}) + "\n")
        config = read_config(folder)
        config["settings"]["num_games"] = 12000
        write_config(folder, config)
        (watched,) = Runs([folder]).overview()["runs"]
        assert watched["over"] == (games == 12000)
        assert watched["facts"]["games"] == f"{games:,} of 12,000"
        found = [text for text in watched["diagnosis"] if "gradient step" in text]
        assert found == [untrained.format(told)] * bool(told)


def test_what_the_page_fetches(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)
    with serving(runs=[run]) as served:
        status, text = served.get("/watch?x=games")
        assert status == 200
        assert "games of self-play" in "".join(json.loads(text)["panels"])
        status, text = served.get("/watch?x=weeks")
        assert [status, json.loads(text)["error"].split(",")[0]] == [400, "x must be one of minutes"]
        (watched,) = json.loads(served.get("/watch")[1])["runs"]
        assert watched["games"] == [game.title for game in latest_games(history_of(run))]
        tag = f'"minutes-{Runs([run]).stamp()}"'
        assert served.get("/watch", **{"If-None-Match": tag}) == (304, "")  # unchanged runs are not sent again
        monkeypatch.setattr("time.time", lambda: 60.0)
        assert served.get("/watch", **{"If-None-Match": tag})[0] == 200  # that a run has stopped is seen by the time


class LimitedEnv(TicTacToeEnv):
    """A game with an option for which None is a value, and not the default."""

    name = "limited"

    def __init__(self, limit: int | None = 5) -> None:
        self.config = {"limit": limit}


def test_an_option_given_as_none_is_not_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "limited", LimitedEnv)
    limits = [make_offer([], "limited", None, given).usual_games["limited"].config for given in ({}, {"limit": None})]
    assert limits == [{"limit": 5}, {"limit": None}]


def test_a_run_plays_with_its_newest_network(run: Path) -> None:
    offer = make_offer([str(run)])
    assert [choice.name for choice in offer.choices][:2] == ["a", "7x7"]
    assert offer.runs == [run]
    assert next(iter(offer.usual_games.values())).komi == 0.5  # type: ignore[attr-defined]
    other = make_offer([], None, 13, {"komi": 5.5})
    assert str(other.usual_games["go"]) == "GoEnv(13, komi=5.5, max_moves=676)"
    assert make_offer([], "oware", None, {"rules": "cgzero"}).usual_games["oware"].max_moves == 199
    with pytest.raises(ValueError, match=r"^there is no file"):
        make_offer(["nowhere"])


def test_of_networks_with_one_name_none_is_lost(run: Path, tmp_path: Path) -> None:
    second, third = tmp_path / "a", tmp_path / "7x7.safetensors"
    shutil.copytree(run, second)
    shutil.copy(NETWORKS / third.name, third)
    offer = make_offer([str(run), str(second), str(third)])
    named = [("a", run), (str(second), second), ("7x7", third)]
    assert [(choice.name, choice.source) for choice in offer.choices][:3] == named
    assert [choice.source for choice in Engines(offer.choices).choices.values()][:3] == [run, second, third]
