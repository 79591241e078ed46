"""The drawings of docs/tutorial.md, from a real network and a real search: docs/tutorial/*.svg.

python docs/draw_tutorial.py
"""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from alphago import GoEnv, MCTSPlayer, Position, load_model
from alphago.drawing.overlay import Overlay
from alphago.drawing.planes import planes_picture
from alphago.drawing.shapes import (
    BLACK,
    BLUE,
    INK,
    ORANGE,
    PALE,
    WHITE,
    Circle,
    Drawing,
    Rect,
    Shape,
    Style,
    Text,
    arrow,
    line,
    mix,
    paragraph,
    sheet,
)
from alphago.drawing.svg import to_svg
from alphago.env.position import Look

FOLDER = Path(__file__).parent / "tutorial"
MOVES = "D4 E5 E4 D5 C5"  # of a game on 7x7; White to play
READOUTS = 100
BRANCHES = (4, 2, 2)  # children that are drawn, by level
LEVEL = 120.0  # from one level of a tree to the next
GREY = "#8a8a8a"
PLANES = """
own stones/other stones/1 liberty/2 liberties/3 or more/forbidden/last move/the one before/and before
own region/other region/on board/passed/komi/score/who is ahead
"""
THIN, THICK = Style(stroke=GREY, width=1.2), Style(stroke=BLUE, width=4.0)


class Node(NamedTuple):
    """A node of a search as it is drawn."""

    move: str
    visits: int
    win: float  # of whoever moved here, 0 .. 1
    children: list["Node"]


def position_of() -> Position:
    """The position of the tutorial."""
    position = GoEnv(7).position()
    for move in MOVES.split():
        position = position.play(move)
    return position


def canvas(width: float, height: float, shapes: Sequence[Shape], label: str) -> Drawing:
    return Drawing(width, height, ((Rect(0, 0, width, height, Style(WHITE)),), tuple(shapes)), label, width)


def save(name: str, drawing: Drawing) -> None:
    to_svg(drawing).save(FOLDER / f"{name}.svg")


def draw_planes(position: Position) -> None:
    """A position beside the planes that a network receives of it."""
    board = position.drawing(Look(caption=""))
    planes = planes_picture(position.planes(), [], "planes", PLANES.strip().replace("\n", "/").split("/"), columns=4)
    save(
        "planes",
        sheet([board, planes], ["the position: White to play", "what the network receives of it"], 2, cell=420),
    )


def draw_first_sight(position: Position, net: Any) -> None:
    """The network's priors, and whose it believes each point to become."""
    policy, value = net(position)
    forecast = net.forecast(position)
    pictures = [
        position.drawing(Look(caption="", overlay=Overlay(priors=policy), legend=False)),
        position.drawing(Look(caption="", overlay=Overlay(ownership=forecast.ownership), legend=False)),
    ]
    captions = [
        "policy: the probability of each move",
        f"value: Black wins {(1 + value) / 2:.0%}; whose the points become",
    ]
    save("first_sight", sheet(pictures, captions, 2, cell=330))


def draw_simulation() -> None:
    """The four steps of one simulation, side by side."""
    titles = ("1. choose", "2. expand", "3. evaluate", "4. back up")
    shapes: list[Shape] = []
    for step, title in enumerate(titles):
        left = 20.0 + 235 * step
        root, a, b, leaf = (left + 100, 70.0), (left + 50, 150.0), (left + 150, 150.0), (left + 110, 230.0)
        other, new = (left + 185, 230.0), (left + 110, 310.0)
        shapes.append(Text(left + 100, 24, title, 17, bold=True))
        edges = [(root, a), (root, b), (b, leaf), (b, other)]
        path = [(root, b), (b, leaf)]
        shapes += [line(*start, *end, THICK if step == 0 and (start, end) in path else THIN) for start, end in edges]
        if step:
            shapes.append(line(*leaf, *new, THIN))
        if step == 3:
            for start, end in ((new, leaf), (leaf, b), (b, root)):
                shapes += arrow(start[0] + 14, start[1] - 16, end[0] + 14, end[1] + 18, Style(stroke=ORANGE, width=3))
            for (x, y), text in zip((new, leaf, b, root), ("+0.6", "−0.6", "+0.6", "−0.6"), strict=True):
                shapes.append(Text(x - 44, y, text, 15, ORANGE, bold=True))
        for place in (root, a, b, leaf, other):
            on_path = step == 0 and place in (root, b, leaf)
            shapes.append(
                Circle(*place, 16, Style(PALE if on_path else WHITE, BLUE if on_path else INK, 2.5 if on_path else 1.5))
            )
        if step:
            shapes.append(Circle(*new, 16, Style(PALE, ORANGE if step == 1 else INK, 4 if step == 1 else 1.5)))
        if step == 2:
            shapes.append(Rect(new[0] + 26, new[1] - 32, 92, 64, Style(PALE, BLUE, 2), 8))
            shapes += [
                Text(new[0] + 72, new[1] - 12, "network", 14, bold=True),
                Text(new[0] + 72, new[1] + 6, "priors", 12),
            ]
            shapes.append(Text(new[0] + 72, new[1] + 20, "value +0.6", 12))
    save("simulation", canvas(960, 350, shapes, "The four steps of a simulation"))


def tree_of(player: MCTSPlayer, node: int = 0, depth: int = 0) -> list[Node]:
    """The most visited children of a node, and theirs."""
    tree = player.search.tree
    children, child = [], int(tree.first_child[0, node])
    while child >= 0:
        children.append(child)
        child = int(tree.next_sibling[0, child])
    best = sorted((c for c in children if tree.visits[0, c]), key=lambda c: -tree.visits[0, c])
    nodes = []
    for c in best[: BRANCHES[depth]]:
        visits = int(tree.visits[0, c])
        win = (1 + tree.value_sum[0, c] / visits) / 2
        below = tree_of(player, c, depth + 1) if depth + 1 < len(BRANCHES) else []
        nodes.append(Node(player.env.to_text(int(tree.action[0, c])), visits, float(win), below))
    return nodes


def draw_tree(player: MCTSPlayer) -> None:
    """The tree of a real search: as large as its visits, each with its move and the mover's win rate."""
    root = Node("now", player.root_visits, (1 + player.root_value) / 2, tree_of(player))
    shapes: list[Shape] = []
    texts: list[Shape] = []
    next_leaf = [60.0]

    def place(node: Node, depth: int) -> float:
        """Draw a node and all below it, and return where its middle is."""
        y = 50 + LEVEL * depth
        places = [place(child, depth + 1) for child in node.children]
        if places:
            x = (places[0] + places[-1]) / 2
        else:
            x, next_leaf[0] = next_leaf[0], next_leaf[0] + 78
        for child_x, child in zip(places, node.children, strict=True):
            share = child.visits / node.visits
            shapes.insert(
                0, line(x, y, child_x, y + LEVEL, Style(stroke=mix("#cccccc", BLUE, share), width=1 + 7 * share))
            )
        radius = 13 + 2.2 * sqrt(node.visits)
        texts.append(Circle(x, y, radius, Style(PALE, BLUE, 1.5)))
        texts.append(Text(x, y - 6, node.move, 13, bold=True))
        texts.append(Text(x, y + 8, str(node.visits), 12))
        texts.append(Text(x + radius + 3, y + 4, f"{node.win:.0%}", 11, INK, "start"))
        return x

    place(root, 0)
    width = next_leaf[0]
    words = f"The most visited moves of {READOUTS} readouts: move and visits, and beside them the mover's win rate"
    below = paragraph(words, width / 2, 110 + LEVEL * len(BRANCHES), width=width - 40, size=14)
    save("tree", canvas(width, below[-1].y + 24, [*shapes, *texts, *below], "A search tree"))


def draw_target(position: Position, player: MCTSPlayer) -> None:
    """What the network said and what the search made of it, as bars."""
    found = player.analysis()
    visits = found.visits[0] / found.visits[0].sum()
    moves = found.order()[:7].tolist()
    shapes: list[Shape] = []
    for i, action in enumerate(moves):
        left = 60.0 + 88 * i
        for share, shift, fill in ((float(found.prior[0, action]), 0, WHITE), (float(visits[action]), 30, BLUE)):
            high = 190 * share / max(visits.max(), found.prior[0].max())
            shapes.append(Rect(left + shift, 220 - high, 26, high, Style(fill, BLUE, 1.5)))
            shapes.append(Text(left + shift + 13, 210 - high, f"{share:.0%}", 12))
        shapes.append(Text(left + 28, 236, position.env.to_text(action), 14, bold=True))
    shapes.append(line(46, 220, 60 + 88 * len(moves), 220, Style(stroke=BLACK, width=1.2)))
    shapes += [
        Rect(60, 258, 14, 14, Style(WHITE, BLUE, 1.5)),
        Text(82, 265, "prior: what the network said", 13, anchor="start"),
    ]
    shapes += [
        Rect(320, 258, 14, 14, Style(BLUE)),
        Text(342, 265, "share of visits: what it learns", 13, anchor="start"),
    ]
    save("target", canvas(700, 290, shapes, "Priors and visits of the best moves"))


def draw_loop() -> None:
    """The loop: play, remember, learn, publish, judge."""
    steps = (
        ("play", "many games against itself, a search for every move"),
        ("remember", "positions, what the search preferred, who won"),
        ("learn", "gradient steps: say at first sight what the search found"),
        ("publish", "the averaged weights play from now on"),
        ("judge", "matches against the old network and others"),
    )
    shapes: list[Shape] = []
    for i, (name, text) in enumerate(steps):
        left = 20.0 + 188 * i
        shapes.append(Rect(left, 30, 156, 104, Style(PALE, BLUE, 2), 8))
        shapes.append(Text(left + 78, 50, name, 17, bold=True))
        shapes += paragraph(text, left + 78, 76, width=144, size=12)
        if i:
            shapes += arrow(left - 32, 82, left - 2, 82, Style(stroke=BLACK, width=2))
    right = 20.0 + 188 * 4 + 78
    back = Style(stroke=BLACK, width=2)
    shapes += [line(right, 134, right, 170, back), line(right, 170, 98, 170, back), *arrow(98, 170, 98, 136, back)]
    shapes.append(Text(475, 186, "again, with a network that plays a little better", 14))
    save("loop", canvas(950, 204, shapes, "The loop of AlphaZero"))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    net = load_model("7x7")
    position = position_of()
    player = MCTSPlayer(net.env, net, two_player_mode=True, leaves=1)
    player.initialize_game(position)
    player.tree_search(READOUTS)
    save("game", position.drawing(Look(numbers=len(position.moves))))
    draw_planes(position)
    net.svg().save(FOLDER / "network.svg")
    draw_first_sight(position, net)
    draw_simulation()
    draw_tree(player)
    draw_target(position, player)
    draw_loop()
    visited = Overlay(visits=player.analysis().visits[0], q=player.analysis().q[0])
    save("search", position.drawing(Look(overlay=visited)))
    print(*sorted(path.name for path in FOLDER.glob("*.svg")))


if __name__ == "__main__":
    main()
