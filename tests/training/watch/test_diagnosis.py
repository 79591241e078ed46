"""Diagnosis: sound runs are left in peace, and each fault is named by its numbers, once."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alphago.env.go import GoEnv
from alphago.system.settings import to_data
from alphago.training.history import Row, read_rows
from alphago.training.recipes import FEW_GAMES, OTHER_GAMES, RECIPES
from alphago.training.runs.config import flat_settings
from alphago.training.watch import diagnosis
from alphago.training.watch.diagnosis import PERSISTENCE, TABLE, Diagnosis, Finding, Rule, diagnose
from tests.training.small_runs import run_settings

HERE = Path(__file__).parent
SETTINGS = {"num_games": 100_000, "max_minutes": None, "batch_size": 128}
SOUND = {"policy_loss": 2.0, "target_entropy": 1.6, "policy_entropy": 2.0, "value_loss": 0.2, "fresh_value_loss": 0.22}
SOUND |= {"value_variance": 0.6, "value_correlation": 0.8, "learning_rate": 1e-3, "selfplay_share": 0.5}
SOUND |= {"skipped_steps": 0, "gpu_busy": 0.8, "game_length": 60.0, "pass_rate": 0.05}
SOUND |= {"black_wins": 0.45, "draws": 0.05, "resignations": 0.0, "capped": 0.2}


def iteration(number: int, **changes: Any) -> dict[str, Any]:
    """The metrics of one iteration of a sound run: 20 games, 1000 positions, 50 steps of 128, 4 seconds."""
    counts = {"seconds": 4.0, "games": 20, "positions": 1000, "steps": 50}
    row = {"iteration": number, **{name: number * count for name, count in counts.items()}, **SOUND}
    row["memory"] = min(row["positions"], 30_000)
    return row | {name: change(number) if callable(change) else change for name, change in changes.items()}


def run(last: int = 60, **changes: Any) -> list[dict[str, Any]]:
    return [iteration(number, **changes) for number in range(1, last + 1)]


def names(findings: list[Finding]) -> list[str]:
    return [finding.what for finding in findings]


def told(rows: list[Row], settings: dict[str, Any]) -> list[str]:
    """What a diagnosis tells while it follows a run."""
    follower = Diagnosis(settings)
    return [finding.what for row in rows for finding in follower.update(row)]


# --- sound runs --------------------------------------------------------------------------------------


def test_a_sound_run_that_took_place() -> None:
    """7x7, 4 x 32, the first 70 iterations of five minutes; its policy then won 100 of 100 games against random."""
    rows = read_rows(HERE / "sound_run.jsonl", "seconds")
    assert len(rows) == 70
    assert told(rows, {"num_games": 1_000_000, "max_minutes": 5.0, "batch_size": 256}) == []


def test_a_starved_run_is_told_from_its_first_half_minute_on_and_at_its_end() -> None:
    """It was told after twelve iterations that were trained on: a run that starves has fewer."""
    starved = {"gpu_busy": None, "processor_share": 0.083, "policy_loss": None, "games": lambda i: 30 * i}
    rows = run(6, **starved, seconds=lambda i: 25.0 * i, processor_seconds=lambda i: 25 / 3 * i / 2)
    follower = Diagnosis(SETTINGS)
    assert [names(follower.update(row)) for row in rows] == [[], ["starved processor"], [], [], [], []]
    (final,) = follower.final()
    assert "180 games in 25 of some 301 processor seconds, where there might have been 2,169" in final.evidence
    assert told([{**row, "gpu_busy": 0.5} for row in rows], SETTINGS) == []


def test_a_run_that_will_end_untrained_is_told_while_it_is_young() -> None:
    """A recipe of 50 000 positions a generation, given a minute."""
    rows = run(6, steps=0, policy_loss=None, seconds=lambda i: 10.0 * i, positions=lambda i: 400 * i)
    settings = {**SETTINGS, "num_games": None, "max_minutes": 1.0, "start_training_after": 50_000}
    assert [names(diagnose(rows[:count], settings)) for count in (2, 3)] == [[], ["no training"]]
    (finding,) = diagnose(rows[:3], settings)
    assert "after 50% of the run there are 1,200 positions, so some 2,400 at its end" in finding.evidence
    assert "waits for 50,000, 20.8 times as many; lower start_training_after; let the run have" in str(finding)
    assert diagnose(rows, {**settings, "start_training_after": 2000}) == []


def test_a_run_that_learned_to_pass() -> None:
    """7x7 by exact rules: a quarter of all moves were passes from the first minute on."""
    rows = read_rows(HERE / "passing_run.jsonl", "seconds")
    assert told(rows, {"num_games": 20_000, "max_minutes": 3, "batch_size": 128}) == ["pass collapse"]


# --- each fault alone --------------------------------------------------------------------------------

SHORT_GAMES = {"game_length": lambda i: 60 if i < 50 else 20, "pass_rate": lambda i: 0.05 if i < 50 else 0.1}
ALL_KEPT = dict.fromkeys(("positions", "memory"), lambda i: 60_000 + 500 * i)
STARVED = {"gpu_busy": None, "processor_share": 0.4, "processor_seconds": lambda i: 3.2 * i}
FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("pass collapse", {"pass_rate": 0.25}, "25% of the moves are passes, over 80 games of 60 moves"),
    ("pass collapse", SHORT_GAMES, "games fell from 60 to 20 moves and end by passes"),
    ("entropy death", {"policy_entropy": 0.2}, "the policy's entropy is 0.20 nats and its target's 1.60"),
    ("entropy death", {"target_entropy": 0.1, "policy_loss": 0.9}, "its target's 0.10 after 1% of the run"),
    ("value over-fit", {"fresh_value_loss": 0.5}, "0.20 on those it was trained on; the results' variance is 0.60"),
    ("dead value", {"value_correlation": 0.0, "selfplay_share": None}, "(r = 0.00)"),  # of a network on given games
    ("dead value", {"value_correlation": 0.01}, "values and results are not correlated (r = 0.01) after 3000"),
    ("stale window", ALL_KEPT, "samples came from 90000 positions, 100% of all, from 180 iterations"),
    ("stale window", {"positions": lambda i: 90_000 + 500 * i, "memory": 80_000}, "from 80000 positions"),
    ("starved device", {"gpu_busy": 0.3}, "the GPU was busy 30% of the time"),
    ("starved processor", STARVED, "worked 40% of the time: 1,200 games in 192 of some 480 processor seconds, where "),
    ("no training", {"steps": 0, "policy_loss": None, "positions": lambda i: i / 10}, "so some 500 at its end"),
    ("starved self-play", {"selfplay_share": 0.03}, "it had 3% of the time"),
    ("starved training", {"selfplay_share": 0.995}, "it had 0.5% of the time"),
    ("exploded loss", {"policy_loss": 5e18}, "the policy's loss is 5e+18 nats"),
    ("skipped steps", {"skipped_steps": lambda i: 5 * i}, "95 of the latest 1045 gradient steps"),
    ("one colour wins", {"black_wins": 0.98, "draws": 0.0}, "Black won 98% of 80 games"),
    ("one colour wins", {"black_wins": 0.01, "draws": 0.0}, "White won 99% of 80 games"),
    ("one colour wins", {"black_wins": 1.0, "draws": 0.0, "games": lambda i: 2 * i}, "100% of 64 games"),
    ("all games capped", {"capped": 1.0}, "100% of 80 games were cut off, at 60 moves"),
]


@pytest.mark.parametrize(("what", "changes", "evidence"), FAULTS)
def test_each_fault_is_found_alone_and_told_once(what: str, changes: dict[str, Any], evidence: str) -> None:
    findings = diagnose(run(**changes), SETTINGS)
    assert names(findings) == [what]
    assert evidence in findings[0].evidence
    assert str(findings[0]) == f"{what}: {findings[0].evidence}; {findings[0].remedy}"
    assert told(run(120, **changes), SETTINGS) == [what]


def flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run with these keywords, as its config has them."""
    return flat_settings({"settings": to_data(run_settings(**given).completed("cpu"))})


def remedies(settings: dict[str, Any]) -> dict[str, set[str]]:
    """The words that may be settings in what a run with each fault is told, by fault."""
    told: dict[str, set[str]] = {}
    for what, changes, _ in FAULTS:
        for finding in diagnose(run(**changes), settings):
            told.setdefault(what, set()).update(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", finding.remedy))
    return told


def test_every_setting_that_advice_names_exists() -> None:
    for rule in TABLE:
        assert rule.advice.keys() <= flat({}).keys()
        assert all(name in text for name, text in rule.advice.items())
    words = {word for rule in TABLE for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", rule.otherwise + rule.always)}
    assert words <= set(inspect.signature(GoEnv).parameters)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", [*RECIPES, "other", "few games"])
def test_no_advice_contradicts_a_recipe(name: str, device: str) -> None:
    """A run that took all its settings from a recipe, or from the defaults, is told of no setting of its own."""
    recipes = {**RECIPES, "other": OTHER_GAMES, "few games": replace(OTHER_GAMES, settings=FEW_GAMES, gpu={})}
    given = recipes[name].settings_on(device)
    for settings in (flat(given), flat({**given, "max_minutes": 7.0})):
        told = remedies(settings)
        assert len(told) >= 10
        for what, words in told.items():
            assert not words & (set(settings) - {"seed"}), (what, words & set(settings))


def test_advice_is_about_the_settings_of_the_call() -> None:
    """Whatever else the recipe has."""
    recipe = RECIPES["9x9"].settings_on("cpu")
    told = remedies(flat({**recipe, "samples_per_position": 20.0}))["value over-fit"]
    assert told & {"samples_per_position", "memory_size"} == {"samples_per_position"}
    own = remedies(flat({**recipe, "exact_rules": True, "learning_rate": 0.5}))
    assert "exact_rules" in own["pass collapse"]
    assert "learning_rate" in own["exploded loss"]


# --- what is no fault --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"game_length": 9.0, "pass_rate": 0.22},  # a tiny board: the two passes that end a game
        {"game_length": lambda i: 60 if i < 50 else 20, "pass_rate": 0.0},  # short because players resign
        {"game_length": lambda i: 30 if i < 50 else 60},  # the board has grown
        {"value_loss": 0.01, "fresh_value_loss": 0.03},  # both next to nothing
        {"value_loss": 0.3, "fresh_value_loss": 0.38},  # a quarter more
        {"positions": lambda i: 900_000 + 500 * i, "memory": 90_000},  # 180 iterations, but a tenth of the run
        {"positions": lambda i: 10_000 + 100 * i, "memory": lambda i: 10_000 + 100 * i},  # little, but all there is
        {"skipped_steps": lambda i: i // 10},  # one in 500
        {"black_wins": 0.9, "draws": 0.0},
        {"capped": 0.8},
        {"selfplay_share": lambda i: 0.3 if i % 2 else 1.0},  # training comes every other iteration
        {"gpu_busy": lambda i: 0.8 if i < 55 else 0.1},  # the last games of a run
        {"gpu_busy": None},  # there is none
        # Given games: their moves are not a search's, and no setting of self-play would change them.
        {"selfplay_share": None, "target_entropy": 0.0, "memory": 10**8, "black_wins": 1.0, "capped": 1.0},
        # A pool trains on means over many games, to which a network is closer than to the result of a new one.
        {"fresh_value_loss": 0.5, "settings": {"memory": {"kind": "pool"}}},
        {"policy_entropy": 0.2, "settings": {"num_games": 2000}},  # late in a run: 1200 games, 4 minutes
        {"policy_entropy": 0.2, "settings": {"max_minutes": 6.0}},
        # Games from before training: a random network may well lose every game as Black.
        {"steps": 0, "black_wins": 0.0, "draws": 0.0, "policy_loss": None, "selfplay_share": 1.0},
        {"steps": lambda i: 50 * (i > 55), "black_wins": lambda i: 0.4 * (i > 56), "draws": 0.0},
        {"black_wins": 1.0, "draws": 0.0, "games": lambda i: i},  # 59 after training began
    ],
)
def test_what_is_no_fault(changes: dict[str, Any]) -> None:
    assert names(diagnose(run(**changes), SETTINGS | changes.get("settings", {}))) == []


def test_iterations_without_games_or_steps() -> None:
    """Long games finish in some iterations only, and training follows them; all other rows hold None."""

    def gap(value: Any) -> Any:
        return lambda i: value if i % 3 == 0 else None

    finished = ("policy_loss", "target_entropy", "policy_entropy", "value_loss", "game_length")
    gaps = {name: gap(SOUND[name]) for name in finished} | {"black_wins": gap(1.0), "draws": gap(0.0)}
    rows = run(games=lambda i: 20 * (i // 3), **gaps, pass_rate=gap(0.05))
    assert names(diagnose(rows, SETTINGS)) == ["one colour wins"]


@pytest.mark.parametrize("missing", [*SOUND, "seconds", "games", "positions", "memory", "steps", "iteration"])
def test_a_metric_that_is_missing_leaves_its_rules_silent(missing: str) -> None:
    for value in (None, float("nan"), "text"):
        assert names(diagnose(run(**{missing: value}), SETTINGS)) == []
    assert names(diagnose([{k: v for k, v in row.items() if k != missing} for row in run()], SETTINGS)) == []


def test_without_rows_or_settings() -> None:
    for rows in ([], run(1), [{}] * 60):
        assert diagnose(rows, {}) == []
    assert names(diagnose(run(policy_entropy=0.2), {})) == ["entropy death"]  # of a run without an end


# --- told once ---------------------------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only rule finds a fault where a row says so."""
    monkeypatch.setattr(diagnosis, "TABLE", [Rule("fault", {"found": "latest fault"}, "", least={"found": 1})])


def follow(*parts: tuple[int, int]) -> list[int]:
    """The iterations, from 1, at which a fault is told; parts are (iterations, 1 if they have it or 0)."""
    follower = Diagnosis(SETTINGS)
    rows = [{"fault": fault} for count, fault in parts for _ in range(count)]
    return [number for number, row in enumerate(rows, 1) if follower.update(row)]


def test_told_after_it_has_lasted(faulty: None) -> None:
    assert follow((10, 0), (PERSISTENCE - 1, 1), (10, 0)) == []
    assert follow((10, 0), (PERSISTENCE, 1), (10, 0)) == [10 + PERSISTENCE]


def test_told_once(faulty: None) -> None:
    flickering = [(5, 1), (5, 0)] * 40
    assert follow((10, 0), (200, 1)) == follow((10, 0), *flickering) == [13]


def test_a_second_fault_is_told_beside_the_first() -> None:
    rows = run(100, capped=1.0, selfplay_share=lambda i: 0.5 if i < 50 else 0.01)
    assert told(rows, SETTINGS) == ["all games capped", "starved self-play"]
