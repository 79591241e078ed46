"""Measures the levels of play, and writes what it finds into alphago/mcts/levels.json.

    python benchmarks/levels.py exam                         # points lost a move, by the exams of 7x7, 9x9 and 13x13
    python benchmarks/levels.py judged "katago analysis …" --board-size 13   # of moves that levels play, by an engine
    python benchmarks/levels.py rates                        # win rate lost in other games, by a search of the network
    python benchmarks/levels.py neighbours --games 200       # Elo of each level against the one before
    python benchmarks/levels.py against gnugo:10 --games 100 # of each level
    python benchmarks/levels.py against gnugo:10 --levels 10 7

Matches are in runs/levels; the same command goes on after a stop.  TARGETS are chosen by hand, so that neighbours
differ by 80 to 250 Elo.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from figures import stamp

from alphago.arena.elo import elo_difference
from alphago.arena.entrant import read_entrants
from alphago.arena.tournament import Tournament, TournamentSettings
from alphago.env.games import make_game
from alphago.env.go import GoEnv
from alphago.env.packaged_nets import packaged_nets
from alphago.exams.analysis_client import AnalysisClient
from alphago.exams.drawn_positions import LEAST_WIN, MOST_LEAD
from alphago.exams.grades import compute_grade
from alphago.exams.grading import MOST_LOST, answer_all, exam_game, mark
from alphago.exams.positions import find_exam
from alphago.exams.statistics import estimate_mean
from alphago.mcts import levels
from alphago.mcts.analysis import analyze, open_analyst
from alphago.mcts.levels import FULL_STRENGTH, describe_level, level_conditions
from alphago.mcts.questions import Limit
from alphago.nn.net import load_model
from alphago.records.dataset_writer import check_begun

FOLDER = Path("runs/levels")
FULL = 200  # readouts of full strength
READOUTS = {
    "7": (16, 16, 16, 16, 24, 32, 32, 64, 130, FULL),
    "9": (16, 16, 16, 16, 24, 32, 32, 64, 130, FULL),
    "13": (16, 16, 16, 20, 24, 32, 48, 80, 130, FULL),
    "win rate": (16, 16, 16, 16, 24, 32, 32, 48, 90, FULL),
}
POINTS = {
    "7": (6.0, 4.6, 3.2, 2.1, 1.25, 0.7, 0.3, 0.16, 0.05, 0.0),
    "9": (7.0, 4.9, 3.75, 2.6, 1.84, 1.27, 0.65, 0.31, 0.155, 0.0),
    "13": (3.5, 2.45, 1.64, 1.085, 0.71, 0.455, 0.28, 0.168, 0.078, 0.0),
}
RATES = (0.25, 0.2, 0.16, 0.125, 0.095, 0.07, 0.045, 0.025, 0.01, 0.0)
OTHERS = {"connect-four": 7, "gomoku": 9, "oware": 6, "reversi": 8}
LONGEST = {"connect-four": 24, "gomoku": 30, "oware": 80, "reversi": 50}  # plies before a position
OPENING = 4  # the first ply of a position
DRAWS, JUDGE = 4, 400  # moves that `rates` draws for a level; readouts of the judge
LIKELY = 4  # moves of the judge's own that are tried
SHARPER, BLOCK = 1.5, 50  # power of the policy that draws its positions, so many at a time
SURE = 0.8  # value of a decided game


def table() -> dict[str, Any]:
    """Return the file's contents, with the present targets and networks; rows of others are measured anew."""
    old = json.loads(levels.FILE.read_text("utf-8")) if levels.FILE.exists() else {"games": {}}
    wanted = {"go": {board: ("points", targets) for board, targets in POINTS.items()}}
    wanted |= {name: {str(size): ("win rate", RATES)} for name, size in OTHERS.items()}
    wanted["any"] = {"9": ("win rate", RATES)}
    games: dict[str, Any] = {}
    nets = {name: load_model(name) for name in packaged_nets() if not name.endswith("-large")}
    measured = old.get("networks", {})  # also others than the packaged ones
    networks = measured | {name: net.digest for name, net in nets.items()}
    komi = old.get("komi", {}) | {name: net.env.komi for name, net in nets.items() if isinstance(net.env, GoEnv)}
    for game, boards in wanted.items():
        games[game] = {}
        for board, (unit, targets) in boards.items():
            network = f"{board}x{board}" if game == "go" else game
            same = measured.get(network) == networks.get(network)
            known = old["games"].get(game, {}).get(board, {}).get("levels") if same else None
            readouts = READOUTS[board if unit == "points" else unit]
            aims = [{"target": t, "readouts": r} for t, r in zip(targets, readouts, strict=True)]
            rows = [row if aim.items() <= row.items() else aim for row, aim in zip(known or aims, aims, strict=True)]
            games[game][board] = {"unit": unit, "levels": rows}
    made = {"script": "benchmarks/levels.py", **stamp()}
    return {"made": made, "networks": networks, "komi": komi, "full": FULL, "games": games}


def save(found: dict[str, Any]) -> None:
    """Write the table, a line for each level."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    lines = text.split("\n")
    out: list[str] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if depth > 5 or (depth == 5 and line.strip().startswith("}")):
            out[-1] += line.strip() if out[-1].endswith(("{", "[")) else " " + line.strip()
        else:
            out.append(line)
    levels.FILE.write_text("\n".join(out) + "\n", "utf-8")
    levels.all_tables.cache_clear()


def measure_exam(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Measure points lost a move by exams: for levels what to expect, for full strength the loss of its moves.

    A row gets `exam` [lost, low, high, positions].
    """
    save(found)
    for board in POINTS:
        questions = find_exam(None, int(board))
        net = load_model(f"{board}x{board}")
        env = exam_game(net.env, questions.size)
        evaluator = net.forecast_evaluator(dtype="float32")
        positions = questions.positions_of(env)
        for row, level in zip(found["games"]["go"][board]["levels"], [*range(1, FULL_STRENGTH), None], strict=True):
            if "exam" not in row:
                grade = compute_grade(mark(questions, answer_all(positions, evaluator, FULL, level=level)))
                tell(row, "exam", grade.points, grade.positions)
                print(board, row, flush=True)
        save(found)


def tell(row: dict[str, Any], name: str, lost: Any, positions: int) -> None:
    """Keep a measurement of a level by its name, and as what the level is told to lose that with the most positions."""
    row[name] = [*rounded(lost), positions]
    told = max((row[one] for one in ("exam", "judged") if one in row), key=lambda measured: measured[3])
    row |= dict(zip(("lost", "low", "high", "positions"), told, strict=True))


def measure_judged(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Measure points lost by the moves that levels play in positions of their own, by an analysis engine.

    The positions are undecided, as an exam's; a move's loss is what the engine's network sees after it, less than after
    the best of all tried: the levels' and the LIKELY most probable ones by the engine.  The same chance draws the moves
    of all levels.  A row gets `judged` [lost, low, high, positions].  What was found is in FOLDER, BLOCK by BLOCK, and
    the same command goes on, with the same network and engine.
    """
    size, file = options.board_size, FOLDER / f"judged-{options.board_size}.json"
    net = load_model(f"{size}x{size}")
    env = exam_game(net.env, size)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with AnalysisClient(options.engine) as engine:
        begun = {"network": net.digest, "judge": engine.describe()}
        saved = json.loads(file.read_text("utf-8")) if file.exists() else {"begun": begun, "losses": []}
        check_begun(file, saved["begun"], begun)
        known: list[list[list[float]]] = saved["losses"]  # of each block
        while sum(map(len, known)) < options.positions:
            drawn = own_positions(env, net, len(known), size * size // 2)
            likely = [likely_moves(engine, position) for position in drawn]
            asked = [one for one, moves in zip(drawn, likely, strict=True) if moves]
            moves = moves_of_levels(asked, env, net, len(known))
            losses = []
            for position, own, best in zip(asked, moves, filter(None, likely), strict=True):
                leads = {action: lead_after(engine, position, action) for action in {*own, *best}}
                losses.append([min(max(leads.values()) - leads[move], MOST_LOST) for move in own])
            known.append(losses)
            file.write_text(json.dumps(saved), "utf-8")
    lost = np.concatenate(known)
    for row, column in zip(found["games"]["go"][str(size)]["levels"], lost.T, strict=True):
        tell(row, "judged", estimate_mean(column), len(column))
    save(found)


def likely_moves(engine: AnalysisClient, position: Any) -> list[int]:
    """Return the engine's LIKELY most probable moves in a position, none in a decided one."""
    engine.ask("root", position, 1, includePolicy=True)
    reply = engine.receive()
    win, lead = engine.root(reply)
    if not LEAST_WIN <= win <= 1 - LEAST_WIN or abs(lead) > MOST_LEAD * position.env.N:
        return []
    return [int(action) for action in np.argsort(reply["policy"])[::-1][:LIKELY]]


def lead_after(engine: AnalysisClient, position: Any, action: int) -> float:
    """Return the mover's lead in points after a move, by the engine's network alone."""
    engine.ask("move", position.play(action), 1)
    return float(position.to_play * engine.root(engine.receive())[1])


def moves_of_levels(asked: list[Any], env: Any, net: Any, seed: int) -> list[list[int]]:
    """Return the moves of all levels in each position."""
    evaluator = net.forecast_evaluator(dtype="float32")
    noise = np.random.default_rng(seed).gumbel(size=(len(asked), env.action_space))
    moves = []
    for level in range(1, FULL_STRENGTH + 1):
        own = level if level < FULL_STRENGTH else None
        answer = answer_all(asked, evaluator, FULL, level=own)
        with np.errstate(divide="ignore"):
            drawn = answer.actions if answer.shares is None else (np.log(answer.shares) + noise).argmax(axis=1)
        moves.append(drawn.tolist())
    return [list(one) for one in zip(*moves, strict=True)]


def own_positions(env: Any, net: Any, seed: int, longest: int) -> list[Any]:
    """Return BLOCK positions of as many games, at a random ply of OPENING to `longest`, or at the game's end.

    The policy, made sharper, draws the moves.
    """
    rng = np.random.default_rng(seed)
    plies = rng.integers(OPENING, longest, BLOCK)
    boards = [env.position()] * BLOCK
    for ply in range(int(plies.max())):
        left = [i for i in np.flatnonzero(plies > ply) if not boards[i].is_over]
        if not left:
            break
        priors = analyze([boards[i] for i in left], net, 0, threads=1).prior.astype(np.float64) ** SHARPER
        if env.name == "go":
            priors[:, env.pass_action] = 0
        for i, prior in zip(left, priors, strict=True):
            boards[i] = boards[i].play(int(rng.choice(len(prior), p=prior / prior.sum())))
    return boards


def measure_rates(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Measure the win rate lost in other games, all levels in the same undecided positions, by searches of the network.

    A move's loss is what JUDGE readouts see after it, less than after the best of all tried: those that the levels draw
    with DRAWS chances, the same for all levels, and the judge's own LIKELY most visited ones.
    """
    save(found)
    for name, board in OTHERS.items():
        net = load_model(name)
        asked, likely = undecided(net, LONGEST[name], options.positions)
        moves = rate_moves(asked, net)  # [levels, draws, positions]
        lost = win_rates_lost(asked, likely, moves, net).mean(axis=1)  # [levels, positions]
        for level, (row, column) in enumerate(zip(found["games"][name][str(board)]["levels"], lost, strict=True), 1):
            row |= dict(zip(("lost", "low", "high"), rounded(estimate_mean(column), 3), strict=True))
            row["positions"] = len(asked)
            print(name, level, row, flush=True)
        save(found)


def undecided(net: Any, longest: int, wanted: int) -> tuple[list[Any], list[list[int]]]:
    """Return `wanted` undecided positions of the network's games, and the most visited moves of each."""
    asked: list[Any] = []
    likely: list[list[int]] = []
    seed = 0
    while len(asked) < wanted:
        drawn = [one for one in own_positions(net.env, net, seed, longest) if not one.is_over]
        judged = analyze(drawn, net, JUDGE)
        for i in np.flatnonzero(np.abs(judged.value) <= SURE):
            asked.append(drawn[i])
            likely.append([int(action) for action in np.argsort(judged.visits[i])[::-1][:LIKELY]])
        seed += 1
    return asked[:wanted], likely[:wanted]


def rate_moves(asked: list[Any], net: Any) -> np.ndarray:
    """Return the moves that the levels draw, int64 [levels, DRAWS, positions]."""
    evaluator = net.forecast_evaluator(dtype="float32")
    noise = np.random.default_rng(0).gumbel(size=(DRAWS, len(asked), net.env.action_space))
    moves = []
    for level in range(1, FULL_STRENGTH):
        terms = level_conditions(level, net.env, evaluator.makes_forecasts)
        with open_analyst(asked, evaluator, terms.readouts, threads=1) as analyst:
            questions = analyst.ask_all(asked, Limit(0), level=level, reuse=False)
            shares = np.array([question.last().shares for question in questions])
        with np.errstate(divide="ignore"):
            moves.append((np.log(shares) + noise).argmax(axis=2))
    best = analyze(asked, net, FULL).visits.argmax(axis=1)
    return np.array([*moves, np.tile(best, (DRAWS, 1))])


def win_rates_lost(asked: list[Any], likely: list[list[int]], moves: np.ndarray, net: Any) -> np.ndarray:
    """Return the loss of each move in win rate, float64 shaped as `moves`."""
    lost = np.zeros(moves.shape)
    for i, position in enumerate(asked):
        tried = np.unique([*moves[:, :, i].ravel(), *(a for a in likely[i] if position.legal_mask[a])])
        after = [position.play(int(action)) for action in tried]
        judged = analyze(after, net, JUDGE)
        rates = position.to_play * judged.to_play * judged.value / 2
        lost[:, :, i] = rates.max() - rates[np.searchsorted(tried, moves[:, :, i])]
    return lost


def measure_matches(options: argparse.Namespace, found: dict[str, Any]) -> None:
    """Play levels against their neighbours, or against another player."""
    save(found)
    size, settings = options.board_size, TournamentSettings(games=options.games)
    names = [f"{size}x{size}@level={level}" for level in range(1, FULL_STRENGTH)] + [f"{size}x{size}@{FULL}"]
    rows = found["games"]["go"][str(size)]["levels"]
    for level in options.levels or range(1, FULL_STRENGTH + 1):
        other = options.player or (names[level - 2] if level > 1 else None)
        if other is None:
            continue
        env, entrants = read_entrants([names[level - 1], other], device=options.device)
        folder = FOLDER / f"{names[level - 1]}-{other}".replace(":", "")
        match = Tournament(env, entrants, settings, folder)
        match.play()
        result = match.result((0, 1))
        if options.player:
            rows[level - 1] |= {"games": [result.wins, result.draws, result.losses], "opponent": other}
        else:
            elo = elo_difference(result.win_rate, len(result.games))
            rows[level - 1] |= {"elo": [round(number) for number in elo[:3]], "played": len(result.games)}
        print(folder, repr(result), flush=True)
        save(found)


def rounded(estimate: Any, digits: int = 2) -> list[float]:
    return [round(float(number), digits) for number in estimate]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("targets", "exam", "judged", "rates", "neighbours", "against", "show"))
    parser.add_argument("more", nargs="*", help="the player of `against`, the engine of `judged`")
    parser.add_argument("--positions", type=int, default=400, help="of `judged`")
    parser.add_argument("--board-size", type=int, default=9)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda", "host"), help="of matches (cpu)")
    parser.add_argument("--levels", type=int, nargs="+", help="of matches, in this order; else all")
    options = parser.parse_args()
    options.player = options.more[0] if options.what == "against" else None
    options.engine = " ".join(options.more)
    found = table()
    steps = {"exam": measure_exam, "rates": measure_rates, "neighbours": measure_matches, "against": measure_matches}
    steps |= {"judged": measure_judged, "targets": lambda options, found: save(found)}
    if options.what in steps:
        steps[options.what](options, found)
    for level in range(1, FULL_STRENGTH + 1):
        print(describe_level(level, make_game("go", options.board_size)))


if __name__ == "__main__":
    sys.exit(main())
