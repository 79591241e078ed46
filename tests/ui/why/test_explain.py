"""Explanations: every fact holds by the rules, and the sentences say it."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from go_variants import TwoStonesGoEnv

from alphago import ConnectFourEnv, GameEnv, GoEnv, IllegalMove, Position, analyze, explain, load_model
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.exams.positions import find_exam
from alphago.ui.why import go_facts
from alphago.ui.why.explain import smaller_loss
from alphago.ui.why.facts import Candidate, Capturable, Loss, NamedChain, Phrasing, Reply, SaferChain
from tests.diagrams import position as drawn
from tests.ui.why.rules_say import check_facts, is_caught

DRAWN = {
    "captures": (". X . .\nX O . .\n. X . .\n. . . .", "C3", ["C3 captures White's stone at B3."]),
    "atari": (". X . . .\nX O . . .\n. . . . .\n. . . . .\n. . . . .", "B3", ["B3 puts White's stone at B4 in atari."]),
    "an atari that a capture answers": ("X O . . .\n. . . . .\n. . X . .\n. . . . .\n. . . . .", "C5", []),
    "nothing": (". . . .\n. . . .\n. . . .\n. . . .", "B3", []),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_a_stone_does(name: str) -> None:
    drawing, move, expected = DRAWN[name]
    position = drawn(drawing)
    assert say(go_facts.captures_and_ataris(position, position.env.from_text(move)), position.env) == expected


def tried(position: Any, action: int, best: int) -> Candidate[Any]:
    return Candidate(position, action, best, position.play(action), position.play(best))


def seen(*line: int, owners: Any = None, owners_best: Any = None, is_clear: bool = False) -> Any:
    """What searches found: a line and owners after the move, owners after the best one."""
    after = SimpleNamespace(line=line, ownership=owners, is_clear=is_clear)
    return SimpleNamespace(after=after, after_best=SimpleNamespace(line=(), ownership=owners_best))


def say(facts: Any, env: GoEnv, mover: int = 0) -> list[str]:
    return [fact.sentence(Phrasing(env, mover)) for fact in facts]


def test_a_ladder_is_read() -> None:
    """Black's stone is caught on its way to the upper right; the line is legal and ends with its capture."""
    rows = ". . . . . . .\n" * 4 + ". O . . . . .\n. O X . . . .\n. . O . . . ."
    position = drawn(rows, to_play="white")
    ((chain, line),) = go_facts.in_danger(position)
    (point,) = chain.stones
    assert position.env.to_text(point) == "C2"
    assert is_caught(position.play(line[0]), point)
    assert position.after(line).board.flat[point] == 0


KO = ". . X O .\n. X O . O\n. . X O .\n. . . . .\n. . . . ."  # White's stone at C4 can be taken, and taken back


def test_a_stone_in_a_ko_is_in_no_danger() -> None:
    position = drawn(KO)
    stones = go_facts.read_stones(position)
    ko, other = (stones.chain(position.env.from_text(point)) for point in ("C4", "D5"))
    assert [go_facts.is_in_ko(stones, chain) for chain in (ko, other)] == [True, False]
    assert ko not in [chain for chain, _ in go_facts.in_danger(position)]


def test_only_chains_that_were_there_are_in_danger() -> None:
    """A stone just played may be meant to be given up."""
    position = drawn(". . . . .\n. O X . .\n. O X O .\n. . O . .\n. . . . .")
    env = position.env
    elsewhere, extends = env.from_text("E1"), env.from_text("C5")
    told = say(go_facts.capturable(tried(position, elsewhere, extends), seen()), env)
    assert told
    assert all(text.startswith("After E1 White can ca") and text.endswith("; C5 would prevent it.") for text in told)
    assert not go_facts.capturable(tried(position, elsewhere, env.pass_action), seen())  # a pass prevents nothing
    thrown_in = tried(position, env.from_text("B2"), extends)
    assert [fact for fact in go_facts.capturable(thrown_in, seen()) if fact.chain.stone_count == 1] == []


def likes_the_top(position: Position) -> tuple[np.ndarray, float]:
    """A network of any game that sees Black ahead the more, the nearer to the top his stones are."""
    board = getattr(position, "board", np.zeros(1))
    heights = np.linspace(0.02, -0.02, len(board))
    return np.where(position.legal_mask, 1.0, 1e-9), float(np.tanh((board * heights[:, None]).sum()))


@pytest.mark.parametrize("env", [GoEnv(5), ConnectFourEnv()], ids=lambda env: env.name)
def test_every_game_has_values_and_lines(env: GameEnv) -> None:
    position = env.position()
    worst = 22 if env.name == "go" else 3
    told = explain(position, worst, likes_the_top, 40, threads=1)
    assert told.facts[0] == told.loss
    assert env.name == "go" or [type(fact) for fact in told.facts] == [Loss, Reply]
    assert told.loss.points != told.loss.points  # no scores: unknown
    assert len(told.sentences) >= len(told.facts) - 1
    assert str(told).endswith(".")
    for fact in told.facts:
        if isinstance(fact, Loss | Reply):
            start = position if isinstance(fact, Loss) else position.play(worst)
            start.after(fact.line)


def test_a_side_that_moves_twice_goes_on() -> None:
    position = TwoStonesGoEnv(4).position().play("B2")
    assert explain(position, "C3", likes_the_top, 20, threads=1).reasons[0].startswith("White goes on with ")
    assert explain(GoEnv(4).position().after(["C3", "B2"], [1, 1]), net=likes_the_top, readouts=4).loss.colour == 1


@pytest.mark.parametrize(
    ("points", "rate", "said"),
    [
        (3.0, 0.02, "C3 loses at least 1 point; D4 is better."),
        (8.0, 0.28, "C3 loses at least 4 points and 10% of winning; D4 is better."),
        (1.0, 0.3, "C3 loses at least 15% of winning; D4 is better."),
        (-4.0, 0.1, "C3 loses at least 5% of winning; D4 is better."),
        (2.9, 0.09, ""),
        (float("nan"), 0.1, "C3 loses at least 5% of winning; D4 is better."),
        (float("nan"), 0.09, ""),
    ],
)
def test_a_mistake_is_told_with_what_it_surely_loses(points: float, rate: float, said: str) -> None:
    env = GoEnv(5)
    loss = Loss(1, env.from_text("C3"), env.from_text("D4"), points, rate, 0.3)
    assert loss.sentence(Phrasing(env)) == said
    assert loss.is_mistake == bool(said)
    assert replace(loss, least=1.0).is_mistake
    assert replace(loss, best_ends_game=True).sentence(Phrasing(env)) == ""  # dead stones would count as alive
    if said.endswith("better."):
        assert replace(loss, best=25).sentence(Phrasing(env)).endswith("; passing is better.")
        assert replace(loss, line=(6, 7)).sentence(Phrasing(env)).endswith("; better is B4 C4.")


def test_a_deeper_search_can_only_lessen_a_loss() -> None:
    """A loss that the deeper search does not confirm is not told."""
    loss = Loss(1, 12, 8, 8.0, 0.2, share=0.6)
    assert smaller_loss(loss, replace(loss, points=9.0, rate=0.3, share=0.7)) == replace(loss, share=0.7)
    assert not smaller_loss(loss, replace(loss, points=1.0, rate=0.0)).is_mistake


@pytest.mark.parametrize("share", [0.9, 0.8])
def test_only_a_move_of_which_the_search_is_sure_is_praised(share: float) -> None:
    drawing, move, expected = DRAWN["captures"]
    position = drawn(drawing)
    action = position.env.from_text(move)
    loss = Loss(1, action, action, 0.0, 0.0, share)
    told = say(go_facts.go_facts(tried(position, action, action), seen(), loss), position.env)
    assert told == (expected if share == 0.9 else [])


@pytest.mark.parametrize("answered", [True, False])
def test_what_the_better_move_captures_is_told_unless_it_is_answered(answered: bool) -> None:
    """Where the other side plays there, its name is said instead."""
    drawing, move, expected = DRAWN["captures"]
    position = drawn(drawing)
    played, best = map(position.env.from_text, ("A1", move))
    found = seen(best, is_clear=True) if answered else seen()
    loss = Loss(1, played, best, 5.0, 0.2, share=0.6)
    told = say(go_facts.go_facts(tried(position, played, best), found, loss), position.env, 1)
    assert told == (["C3 is vital for both sides: White would play there next."] if answered else expected)


def survival(row: str, chances: tuple[float, float]) -> list[str]:
    """What is told of White's stone at B4 on a drawn board, with its chances after a bad and after the best move."""
    position = drawn(f". X . . .\n{row}\n. . . . .\n. . . . .\n. . . . .", to_play="white")
    bad = tried(position, position.env.from_text("A1"), position.env.from_text("E5"))
    owners, owners_best = (np.full((5, 5), 1 - 2 * chance) for chance in chances)
    return say(go_facts.safer_chain(bad, seen(owners=owners, owners_best=owners_best)), position.env)


def test_a_chain_is_safer_only_if_it_was_at_risk() -> None:
    assert survival("X O . . .", (0.1, 0.9)) == ["White's stone at B4 dies after A1, and would live after E5."]
    assert survival("X O . . .", (0.3, 0.9)) == ["White's stone at B4 is safer after E5 than after A1."]
    assert survival("X O . . .", (0.55, 0.9)) == []
    assert survival("X O . . .", (0.3, 0.7)) == []  # it is not saved
    assert survival("X O X . .", (0.3, 0.9)) == []  # it is in atari after the best move too


def test_the_best_move_and_a_pass() -> None:
    position = GoEnv(5).position()
    best = analyze(position, likes_the_top, 30, threads=1).best()
    told = explain(position, best, likes_the_top, 30, threads=1)
    assert str(told) == f"There is nothing to say about {position.env.to_text(best)}."  # it does not lead clearly
    assert str(explain(position, "pass", likes_the_top, 30, threads=1)).endswith("pass.")
    ended = position.play("pass")
    assert explain(ended, "pass", likes_the_top, 30, threads=1).loss.action == ended.env.pass_action
    with pytest.raises(IllegalMove):
        explain(position.play("C3"), "C3", likes_the_top, 30)


@pytest.mark.parametrize("caught", [True, False])
def test_a_clear_answer_is_told_by_what_it_does(caught: bool) -> None:
    """White's answer gives atari to Black's stone at C3, which could escape by C2 unless White waits there."""
    below = ". O . O ." if caught else ". . . . ."
    position = drawn(f". . . . .\n. . . . .\n. O X O .\n{below}\n. . . . .")
    env = position.env
    played, best, *line = map(env.from_text, ("A5", "E5", "C4", "B4", "C2"))
    bad = tried(position, played, best)
    clear, unclear = (seen(*line, is_clear=is_clear) for is_clear in (True, False))
    loss = Loss(1, played, best, 9.0, 0.2, share=0.9)
    end = ", and it cannot escape." if caught else "."
    assert say(go_facts.answer(bad, clear, loss, []), env, 1) == [f"White's C4 puts Black's stone at C3 in atari{end}"]
    told_by_capture = Capturable(1, played, best, NamedChain(1, env.from_text("C3"), 1), (line[0], line[2]))
    assert go_facts.answer(bad, clear, loss, [told_by_capture]) == []
    assert go_facts.answer(bad, unclear, loss, []) == []
    assert [type(fact) for fact in go_facts.answer(bad, unclear, replace(loss, best=line[0]), [])] == [Reply]


@pytest.mark.parametrize("alive", [True, False])
def test_a_capture_by_stones_that_are_dead_is_not_told(alive: bool) -> None:
    drawing, move, _ = DRAWN["captures"]
    position = drawn(drawing)
    found = go_facts.captures_and_ataris(position, position.env.from_text(move))
    owners = np.full((4, 4), 0.9 if alive else -0.9)
    assert go_facts.keep_lasting(found, owners) == (found if alive else [])


def explain_bad_moves(size: int, count: int, readouts: int) -> Counter[Any]:
    """Check every fact about moves of an exam that lose points and that the network might play; count the kinds."""
    exam, net, kinds = find_exam(None, size), load_model(f"{size}x{size}"), Counter[Any]()
    step = len(exam) // count
    positions = list(exam.boards)[::step][:count]
    priors = analyze(positions, net, 0).prior
    rng = np.random.default_rng(0)
    for position, judged, prior in zip(positions, exam.positions[::step], priors, strict=False):
        bad = np.nan_to_num(judged.points) > 3
        if bad.any():
            move = int(np.argmax(np.sqrt(prior) * bad * rng.random(len(bad))))
            told = explain(position, move, net, readouts, threads=1)
            check_facts(position, told)
            assert all(text.endswith(".") for text in told.sentences)
            kinds.update(map(type, told.facts))
    return kinds


def test_facts_about_bad_moves() -> None:
    kinds = explain_bad_moves(7, 8, 24)
    assert kinds[Loss] >= 6


@pytest.mark.slow
def test_facts_about_two_hundred_blunders() -> None:
    kinds = explain_bad_moves(9, 200, 100)
    assert {Loss, Reply, SaferChain, Capturable} <= set(kinds)


def test_without_a_network_the_packaged_one_explains() -> None:
    position = GoEnv(5).position().after(["C3"])
    told = explain(position, "A1", readouts=8, device="cpu", threads=1)
    assert told == explain(position, "A1", "7x7", readouts=8, device="cpu", threads=1)
    with pytest.raises(ValueError, match="net must be given: no network for tic-tac-toe comes with"):
        explain(TicTacToeEnv().position(), "A1")
