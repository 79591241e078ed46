"""The pictures of the documents: what a network sees on a board, its worst moves, and the curves of a run.

    python docs/draw.py            # docs/board.svg, worst_moves.svg, strength.svg, losses.svg, and docs/games/*.svg
    python docs/draw.py --only board

The curves come from docs/results/run_7x7.json, one run of 7x7 by its recipe.
"""

import argparse
import json
from pathlib import Path

from alphago import exam, load_model
from alphago.arena.match_result import wilson
from alphago.drawing.axes import SHARE
from alphago.drawing.curves import LEVEL, Curve, CurvePanel, curves_picture
from alphago.drawing.overlay import Overlay
from alphago.drawing.shapes import sheet
from alphago.drawing.svg import to_svg
from alphago.env.position import Look, Position
from alphago.mcts.player import MCTSPlayer
from alphago.nn.net import NeuralNet

DOCS = Path(__file__).parent
RUN = DOCS / "results" / "run_7x7.json"
# A game of the packaged 9x9 network against itself, 48 readouts a move.
PLIES = {"oware": 14, "reversi": 24, "connect-four": 14, "gomoku": 10}
READOUTS = 48
MOVES = "E5 G5 F7 C5 F3 G7 G8 G3 G2 F4 E4 F2 E3 H2 C7 C3 E2 C6 B7 G1 B6 D2 B4 C4 E1 B5"
LOSSES = {"policy_loss": "policy", "value_loss": "value", "ownership_loss": "ownership", "score_loss": "score"}
AXIS = "games of self-play"
COLOURS = ("#1f6fb2", "#d1742f", "#3f8f5a", "#8a5aa8")


def draw_board(path: Path) -> None:
    """The board beside the same board with the network's policy and the owners that it expects."""
    net = load_model("9x9")
    position = net.env.position()
    for name in MOVES.split():
        position = position.play(name)
    draw_seen(path, position, net)


def draw_games(path: Path) -> None:
    """A position of each other game, in a game of its packaged network against itself."""
    for name, plies in PLIES.items():
        net = load_model(name)
        player = MCTSPlayer(net.env, net, READOUTS, seed=1)
        while len(player.position.moves) < plies:
            player.play_move(player.suggest_move())
        draw_seen(path.with_suffix("") / f"{name.replace('-', '_')}.svg", player.position, net)


def draw_seen(path: Path, position: Position, net: NeuralNet) -> None:
    """A position beside the same with what the network sees."""
    policy, value = net(position)
    owners = net.forecast(position).ownership if position.env.has_ownership else None
    overlay = Overlay(priors=policy, ownership=owners)
    pictures = [position.drawing(Look(caption="")), position.drawing(Look(caption="", overlay=overlay, legend=False))]
    side = position.env.board_view.side(1)
    seen = (
        f"the network: its moves{'' if owners is None else ', whose points'}; {side} wins {(1 + float(value)) / 2:.0%}"
    )
    to_svg(sheet(pictures, [position.state_text, seen], 2, cell=420)).save(path)


def draw_worst_moves(path: Path) -> None:
    """The ten moves of the package's exam with which the packaged 9x9 network loses most at 64 readouts."""
    exam("9x9", 64).sheet().save(path)


def draw_strength(path: Path) -> None:
    """Win rates against opponents that stay the same, with their 95 % intervals, over the games of the run."""
    run = json.loads(RUN.read_text("utf-8"))
    curves = []
    for (opponent, readouts, label), colour in zip(run["opponents"], COLOURS, strict=False):
        points = [point for point in run["matches"] if (point["opponent"], point["readouts"]) == (opponent, readouts)]
        points.sort(key=lambda point: point["games"])
        counts = [point["wins"] + point["draws"] + point["losses"] for point in points]
        rates = [(p["wins"] + p["draws"] / 2) / n for p, n in zip(points, counts, strict=True)]
        low, high = zip(*[wilson(rate, n) for rate, n in zip(rates, counts, strict=True)], strict=True)
        curves.append(Curve([point["games"] for point in points], rates, colour, name=label, low=low, high=high))
    panel = CurvePanel("Win rate", curves, SHARE, 0.5, low=0.0, high=1.01)
    to_svg(curves_picture([panel], 1, AXIS, size=(720, 340))).save(path)


def draw_losses(path: Path) -> None:
    """The four losses of the training batches; a line where the curriculum's smaller board ends."""
    run = json.loads(RUN.read_text("utf-8"))
    last = run["metrics"][-1]["board_size"]
    turn = max(row["games"] for row in run["metrics"] if row["board_size"] != last)
    panels = []
    for (key, name), colour in zip(LOSSES.items(), COLOURS, strict=True):
        points = [(row["games"], row[key]) for row in run["metrics"] if row.get(key) is not None]
        x, y = zip(*points, strict=True)
        border = Curve([turn, turn], [0.0, max(y)], LEVEL, dash=":", is_exact=True)
        panels.append(CurvePanel(name, [Curve(x, y, colour, is_exact=True), border], low=0.0))
    to_svg(curves_picture(panels, 2, AXIS, size=(360, 200))).save(path)


DRAWERS = {
    "board": draw_board,
    "games": draw_games,
    "worst_moves": draw_worst_moves,
    "strength": draw_strength,
    "losses": draw_losses,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=DRAWERS, default=list(DRAWERS))
    for name in parser.parse_args().only:
        DRAWERS[name](DOCS / f"{name}.svg")


if __name__ == "__main__":
    main()
