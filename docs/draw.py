"""The pictures of the documents: what a network sees on a board, and the curves of a run.

    python docs/draw.py            # docs/board.svg, docs/strength.svg and docs/losses.svg
    python docs/draw.py --only board

The curves come from docs/results/run_7x7.json, one run of 7x7 by its recipe.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from alphago import NeuralNet, Position, load_model

DOCS = Path(__file__).parent
RUN = DOCS / "results" / "run_7x7.json"
CELL, MARGIN = 44, 40  # of the board, in pixels
WOOD, LINE, ACCENT = "#e3c288", "#6b5632", "#1f6fb2"
# A game of the packaged 9x9 network against itself, 48 readouts a move.
MOVES = "E5 G5 F7 C5 F3 G7 G8 G3 G2 F4 E4 F2 E3 H2 C7 C3 E2 C6 B7 G1 B6 D2 B4 C4 E1 B5"
LOSSES = {"policy_loss": "policy", "value_loss": "value", "ownership_loss": "ownership", "score_loss": "score"}
COLOURS = ("#1f6fb2", "#d1742f", "#3f8f5a", "#8a5aa8")


def circle(x: float, y: float, radius: float, style: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {style}/>'


def words(x: float, y: float, text: str, size: float, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {style}>{text}</text>'


def ownership(net: NeuralNet, position: Position) -> torch.Tensor:
    """Whose each point becomes, [N, N] in -1 .. 1, +1 Black's."""
    net.eval()
    with torch.inference_mode():
        forecast = net.value.forecast(net.base_net(torch.from_numpy(position.planes())[None]))
    return forecast.ownership.reshape(net.env.N, net.env.N) * position.to_play


def draw_board(path: Path) -> None:
    """The board beside the same board with the network's policy and the owners that it expects."""
    net = load_model("9x9")
    env = net.env
    position = env.position()
    for name in MOVES.split():
        position = position.play(env.from_text(name))
    policy, value = net(position)
    side = (env.N - 1) * CELL + 2 * MARGIN
    parts = [board(position, 0)]
    parts.append(board(position, side + 20, ownership(net, position), policy))
    black = (1 + float(value)) / 2
    texts = ("Black to move", f"the network: its moves, whose points; Black wins {black:.0%}")
    for i, text in enumerate(texts):
        parts.append(words(i * (side + 20) + side / 2, side + 24, text, 15, 'text-anchor="middle" fill="#777"'))
    width, height = 2 * side + 20, side + 36
    font = "font-family=\"system-ui, 'Helvetica Neue', Arial, sans-serif\""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
    path.write_text("\n".join([head, *parts, "</svg>"]) + "\n", "utf-8")


def board(position: Position, left: float, owners: torch.Tensor | None = None, policy: Any = None) -> str:
    """One board; with owners as small squares and the policy as discs with their percentages, where given."""
    env, side = position.env, (position.env.N - 1) * CELL
    at = [MARGIN + CELL * i for i in range(env.N)]
    parts = [f'<g transform="translate({left} 0)">']
    parts.append(f'<rect width="{side + 2 * MARGIN}" height="{side + 2 * MARGIN}" rx="8" fill="{WOOD}"/>')
    for a in at:
        parts.append(f'<path d="M{MARGIN} {a}H{MARGIN + side}M{a} {MARGIN}V{MARGIN + side}" stroke="{LINE}"/>')
    parts += [circle(at[x], at[y], 3.5, f'fill="{LINE}"') for x, y in ((2, 2), (6, 2), (2, 6), (6, 6), (4, 4))]
    for i, letter in enumerate("ABCDEFGHJ"):
        parts.append(words(at[i], MARGIN + side + 31, letter, 13, f'text-anchor="middle" fill="{LINE}"'))
        parts.append(words(13, at[i] + 5, f"{env.N - i}", 13, f'text-anchor="middle" fill="{LINE}"'))
    stones = position.board
    for y in range(env.N):
        for x in range(env.N):
            if stones[y, x]:
                fill = "#1c1c1c" if stones[y, x] > 0 else "#fafafa"
                parts.append(circle(at[x], at[y], CELL * 0.46, f'fill="{fill}" stroke="#333"'))
            if owners is not None:
                black, half = float(owners[y, x]), 5.5 * abs(float(owners[y, x])) ** 0.5
                fill = "#1c1c1c" if black > 0 else "#fafafa"
                corner = f'x="{at[x] - half:.1f}" y="{at[y] - half:.1f}" width="{2 * half:.1f}" height="{2 * half:.1f}"'
                parts.append(f'<rect {corner} fill="{fill}" stroke="#777" stroke-width="0.7"/>')
    for action in [] if policy is None else policy[:-1].argsort()[::-1][:6]:
        if (share := float(policy[action])) >= 0.02:
            x, y = at[action % env.N], at[action // env.N]
            parts.append(circle(x, y, CELL * 0.44, f'fill="{ACCENT}" fill-opacity="{0.45 + 0.55 * share:.2f}"'))
            parts.append(words(x, y + 5, f"{share:.0%}", 14, 'text-anchor="middle" fill="white" font-weight="600"'))
    return "\n".join([*parts, "</g>"])


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


DRAWERS = {"board": draw_board, "strength": draw_strength, "losses": draw_losses}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=DRAWERS, default=list(DRAWERS))
    for name in parser.parse_args().only:
        DRAWERS[name](DOCS / f"{name}.svg")


if __name__ == "__main__":
    main()
