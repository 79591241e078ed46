"""The pictures of the documents: what a network sees on a board, its worst moves, and the curves of a run.

    python docs/draw.py            # docs/board.svg, docs/worst_moves.svg, docs/strength.svg and docs/losses.svg
    python docs/draw.py --only board

The curves come from docs/results/run_7x7.json, one run of 7x7 by its recipe.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from alphago import exam, load_model
from alphago.drawing.overlay import Overlay
from alphago.drawing.shapes import sheet
from alphago.drawing.svg import to_svg
from alphago.env.pictured import Look

DOCS = Path(__file__).parent
RUN = DOCS / "results" / "run_7x7.json"
# A game of the packaged 9x9 network against itself, 48 readouts a move.
MOVES = "E5 G5 F7 C5 F3 G7 G8 G3 G2 F4 E4 F2 E3 H2 C7 C3 E2 C6 B7 G1 B6 D2 B4 C4 E1 B5"
LOSSES = {"policy_loss": "policy", "value_loss": "value", "ownership_loss": "ownership", "score_loss": "score"}
COLOURS = ("#1f6fb2", "#d1742f", "#3f8f5a", "#8a5aa8")


def draw_board(path: Path) -> None:
    """The board beside the same board with the network's policy and the owners that it expects."""
    net = load_model("9x9")
    position = net.env.position()
    for name in MOVES.split():
        position = position.play(name)
    policy, value = net(position)
    overlay = Overlay(priors=policy, ownership=net.forecast(position).ownership)
    pictures = [position.drawing(Look(caption="")), position.drawing(Look(caption="", overlay=overlay, legend=False))]
    seen = f"the network: its moves, whose points; Black wins {(1 + float(value)) / 2:.0%}"
    to_svg(sheet(pictures, ["Black to move", seen], 2, cell=420)).save(path)


def draw_worst_moves(path: Path) -> None:
    """The ten moves of the package's exam with which the packaged 9x9 network loses most at 64 readouts."""
    exam("9x9", 64).sheet().save(path)


def draw_strength(path: Path) -> None:
    """Win rates against opponents that stay the same, with their 95 % intervals, over the games of the run."""
    import matplotlib.pyplot as plt

    from alphago.arena.match import wilson

    figure, axes = plt.subplots(figsize=(7.6, 3.9))
    run = json.loads(RUN.read_text("utf-8"))
    for opponent, colour in zip(run["opponents"], COLOURS, strict=False):
        points = [point for point in run["matches"] if (point["opponent"], point["readouts"]) == tuple(opponent[:2])]
        points.sort(key=lambda point: point["games"])
        games = [point["games"] for point in points]
        counts = [point["wins"] + point["draws"] + point["losses"] for point in points]
        rates = [(p["wins"] + p["draws"] / 2) / n for p, n in zip(points, counts, strict=True)]
        bounds = [wilson(rate, n) for rate, n in zip(rates, counts, strict=True)]
        axes.fill_between(
            games, *zip(*[(100 * a, 100 * b) for a, b in bounds], strict=True), color=colour, alpha=0.15, lw=0
        )
        axes.plot(games, [100 * rate for rate in rates], "o-", color=colour, markersize=4, label=opponent[2])
    axes.axhline(50, color="#999", linewidth=0.8, linestyle=":")
    axes.set(xlabel="games of self-play", ylabel="win rate, %", ylim=(0, 101), xlim=(0, None))
    finish(figure, axes, path)


def draw_losses(path: Path) -> None:
    """The four losses of the training batches; a line where the curriculum's smaller board ends."""
    import matplotlib.pyplot as plt

    run = json.loads(RUN.read_text("utf-8"))
    last = run["metrics"][-1]["board_size"]
    turn = max(row["games"] for row in run["metrics"] if row["board_size"] != last)
    figure, grid = plt.subplots(2, 2, figsize=(7.6, 4.4), sharex=True)
    for axes, (key, name), colour in zip(grid.flat, LOSSES.items(), COLOURS, strict=True):
        points = [(row["games"], row[key]) for row in run["metrics"] if row.get(key) is not None]
        axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.6)
        axes.axvline(turn, color="#999", linewidth=0.8, linestyle=":")
        axes.set_title(name, loc="left", fontsize=10)
        axes.set_ylim(bottom=0)
    for axes in grid[1]:
        axes.set_xlabel("games of self-play")
    finish(figure, None, path)


def finish(figure: Any, axes: Any, path: Path) -> None:
    """Take frames off, add a legend to `axes`, and write the file: the same bytes for the same numbers."""
    import matplotlib.pyplot as plt

    for part in figure.axes:
        part.spines[["top", "right"]].set_visible(False)
        part.grid(alpha=0.25)
    if axes is not None:
        axes.legend(frameon=False, fontsize=9, loc="lower right")
    figure.tight_layout()
    plt.rcParams.update({"svg.hashsalt": "alphago", "svg.fonttype": "none", "font.family": ["sans-serif"]})
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


DRAWERS = {"board": draw_board, "worst_moves": draw_worst_moves, "strength": draw_strength, "losses": draw_losses}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=DRAWERS, default=list(DRAWERS))
    for name in parser.parse_args().only:
        DRAWERS[name](DOCS / f"{name}.svg")


if __name__ == "__main__":
    main()
