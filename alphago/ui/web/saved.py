"""Games as files: for Go, SGF with variations and analysis; for other games, JSON with the position on the board."""

import copy
import json
import re
from collections import Counter
from collections.abc import Mapping

from alphago.env.board import StonesEnv, result_text
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.games import require_go
from alphago.env.go_rules import rules_name
from alphago.env.position import IllegalMove, Position
from alphago.examples.go_variants import OutlineGoEnv
from alphago.records.sgf import SgfGame, parse_sgf
from alphago.records.sgf.document import SgfDocument
from alphago.records.sgf.faults import HARMLESS
from alphago.records.sgf.game_line import SIGNS, LineReader
from alphago.records.sgf.grammar import Node as Properties
from alphago.records.sgf.grammar import SgfTree, escape_text, plain_text, trees
from alphago.records.sgf.stretches import stones_of
from alphago.records.sgf.values import read_point, read_sides
from alphago.records.sgf.writing import komi_text, point_properties, point_text, stone_properties
from alphago.system.validation import shown
from alphago.ui.web.game_tree import GameTree, Node
from alphago.ui.web.new_game import link_of, open_link, usual_game
from alphago.ui.web.views import result_view
from alphago.ui.web.wire import MoveView

FORMAT = "alphago-game"
WIN_RATE = "SBKV"  # Black's chance to win in percent, as Sabaki writes it (SabakiHQ/Sabaki, pull request 809)
NUMBERS = re.compile(r"^Black wins with [0-9.]+ %(?:, ([BW])\+([0-9.]+)|, (draw))?, ([0-9]+) visits", re.MULTILINE)
SHOWN = 5  # moves of an analysis in a comment


# --- writing ---------------------------------------------------------------------------------------


def save_file(tree: GameTree, players: Mapping[int, str]) -> tuple[str, str]:
    """Return the name and the contents of the game's file. players: the players' names by side."""
    if tree.env.has_sgf or tree.document is not None:
        return "game.sgf", sgf_text(tree, players)
    text = json.dumps({"format": FORMAT, "link": link_of(tree)}, indent=2)
    return f"{tree.env.name}.json", text + "\n"


def sgf_text(tree: GameTree, players: Mapping[int, str]) -> str:
    """Return a game of Go with its variations as SGF; each node has what an analysis found there.

    Of a game that was opened, what was not changed is as in its file.
    """
    file = tree.document
    document = SgfDocument([head_of(tree, players)], [-1]) if file is None else copy.deepcopy(file)
    if file is not None and (result := result_of(tree)) is not None:
        document.set_text(0, "RE", result)
    numbers: list[int] = []  # by node of the tree, its number in the document
    for number, node in enumerate(tree.nodes):
        if node.in_file >= 0:
            numbers.append(node.in_file)
            document.nodes[node.in_file] |= found_properties(tree, number)
        elif number == 0:
            numbers.append(0)
        else:
            numbers.append(document.add(numbers[node.parent], node_properties(tree, number)))
    return document.text().decode()


def head_of(tree: GameTree, players: Mapping[int, str]) -> Properties:
    """Return the SGF properties of the first node of a new file."""
    env = require_go(tree.env, "SGF files")
    stones = tree.start.board.ravel()  # type: ignore[attr-defined]
    handicap = int((stones == 1).sum()) if not (stones == -1).any() else 0
    texts = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": "1",
        "AP": "alphago",
        "SZ": str(env.N),
        "RU": rules_name(env.rules),
        "KM": komi_text(env.komi),
        "PB": players[1],
        "PW": players[-1],
        "RE": result_of(tree) or "",
        "HA": str(handicap) if handicap > 1 and tree.start.to_play == -1 else "",
        "PL": PLAYER_NAMES[tree.start.to_play][0] if stones.any() else "",
    }
    head = {name: [escape_text(text)] for name, text in texts.items() if text}
    return head | stone_properties(env, stones) | analysis_properties(tree, tree.nodes[0])


def result_of(tree: GameTree) -> str | None:
    """Return the result of the game, as SGF writes it; "" if it is not over.

    It is that at the end of the current line; of a game that was opened, that of the main line, and None if its end is
    the file's and was neither counted nor resigned since.
    """
    opened = tree.document is not None
    last = [0, *tree.main_line()][-1] if opened else tree.line()[-1]
    position, loser, count = tree.position_at(last), tree.resigned.get(last, 0), tree.counts.get(last)
    if opened and tree.nodes[last].in_file >= 0 and count is None and loser == tree.loser_in_file:
        return None
    if not loser and not position.is_over:
        return ""
    short = str(result_view(position, loser, count)["short"])
    return "0" if short == "draw" else short


def found_properties(tree: GameTree, number: int) -> Properties:
    """Return what was found at a node since the game began or was opened: an analysis, and the territory of a count."""
    node, env = tree.nodes[number], stones_env(tree)
    territory = tree.counts[number].territory() if number in tree.counts else {}
    analysis = {} if node.in_file >= 0 and node.analysis is None else analysis_properties(tree, node)
    return analysis | point_properties(env, territory)


def node_properties(tree: GameTree, number: int) -> Properties:
    """Return the SGF properties of a new node: its move, and what was found there."""
    node, env = tree.nodes[number], stones_env(tree)
    return {PLAYER_NAMES[node.mover][0]: [point_text(env, node.action)]} | found_properties(tree, number)


def stones_env(tree: GameTree) -> StonesEnv:
    """Return the game of a tree that is saved as SGF."""
    assert isinstance(tree.env, StonesEnv)
    return tree.env


def analysis_properties(tree: GameTree, node: Node) -> Properties:
    """Return the SGF properties of a node's comment and analysis: C, and SBKV for Black's chance to win."""
    lines = [NUMBERS_END.split(node.comment)[0].strip()] if node.comment else []
    found: Properties = {}
    if node.win_rate is not None:
        lines.append(numbers_of(tree.env, node))
        found[WIN_RATE] = [f"{100 * node.win_rate:.2f}"]
    text = "\n".join(filter(None, lines))
    return {**({"C": [escape_text(text)]} if text else {}), **found}


NUMBERS_END = re.compile(r"(?=^Black wins with [0-9.]+ %)", re.MULTILINE)


def numbers_of(env: GameEnv, node: Node) -> str:
    """Return a node's analysis as text for a comment.

    The first line must match the pattern NUMBERS, with which `read_analysis` reads it.
    """
    assert node.win_rate is not None
    score = "" if node.score is None else f", {result_text(round(node.score, 1))}"
    lines = [f"Black wins with {100 * node.win_rate:.1f} %{score}, {node.visits} visits"]
    moves = node.analysis["moves"] if node.analysis else []
    mover = node.analysis["mover"] if node.analysis else 1
    return "\n".join(lines + [move_text(env, move, mover) for move in moves[:SHOWN]])


def move_text(env: GameEnv, move: MoveView, mover: int) -> str:
    """Return a move of an analysis as text, such as "C3 54.2 %, 31 visits, prior 12.0 %: C3 D4", in Black's view.

    mover: who plays it, +1 Black, -1 White.
    """
    win = move["win"]
    rate = "" if win is None else f" {100 * (win if mover > 0 else 1 - win):.1f} %"
    line = " ".join(map(env.to_text, move["line"]))
    return f"{env.to_text(move['move'])}{rate}, {move['visits']} visits, prior {100 * move['prior']:.1f} %: {line}"


# --- reading ---------------------------------------------------------------------------------------


def open_file(text: str, bases: Mapping[str, GameEnv]) -> tuple[GameTree, dict[int, str]]:
    """Return the game in a file with the contents `text`, and the players' names by side ({} for a file in JSON).

    bases: games by name; options that the file does not give are taken from its game in `bases`.
    Raises ValueError for text that is not a saved game, or for a game that cannot be played.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return open_json(text, bases), {}
    if "(" not in text[:1000]:
        raise ValueError(f"a file must be an SGF game, or one that this page saved, got {shown(text[:80])}")
    return open_sgf(text, bases)


def open_json(text: str, bases: Mapping[str, GameEnv]) -> GameTree:
    """Return the game that `save_file` wrote as JSON; raise ValueError for other text."""
    try:
        content = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file cannot be read as JSON: {shown(str(error))}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"the file must be a game that this page saved, got {shown(content)}")
    tree = open_link(content.get("link"), bases)
    tree.go_to(0)
    return tree


def open_sgf(text: str, bases: Mapping[str, GameEnv]) -> tuple[GameTree, dict[int, str]]:
    """Return a game of Go with its variations, and the players' names by side.

    A variation with an illegal move ends before that move. bases: see `open_file`.
    """
    file = next(trees(text), None)
    start: Position
    if file is None or (found := rectangular(file)) is None:
        game = parse_sgf(text, "the SGF file", allowed=HARMLESS)  # which checks the main line
        own = game.env().replace(planes=usual_game("go", bases).config["planes"]).match_variant()
        file, start = next(trees(text)), game.position(own, 0)
    else:
        start, game = found
    env = start.env
    tree = GameTree(env, start)
    branching = min((parent for parent, count in Counter(file.parents).items() if count > 1), default=len(file.nodes))
    read_analysis(tree.nodes[0], file.nodes[0])
    tree.document, tree.nodes[0].in_file = SgfDocument(file.nodes, file.parents), 0
    reached = {-1: 0}  # by node of the file, the node of the tree
    for number, (properties, parent) in enumerate(zip(file.nodes, file.parents, strict=True)):
        if parent in reached:
            tree.current = reached[parent]
            try:
                follow(tree, properties)
            except IllegalMove:
                if number <= branching:
                    raise
            else:
                reached[number] = here = tree.current
                while here != reached[parent]:  # two nodes, if there are moves of both colours
                    if tree.nodes[here].in_file < 0:
                        tree.nodes[here].in_file = number
                    here = tree.nodes[here].parent
    tree.go_to(0)
    tree.stated = game.result
    tree.remarks = [*map(str, game.faults), *([game.scoring] if game.scoring else [])]
    set_loser(tree, game)
    for one in tree.nodes:
        one.chosen = -1
    return tree, {1: game.players[0], -1: game.players[1]}


def rectangular(file: SgfTree) -> tuple[Position, SgfGame] | None:
    """Return the first position of a file whose board is not square, and what else its first node says; else None.

    Such games are played by the rules of OutlineGoEnv.  Raises ValueError for stones that cannot be set up.
    """
    reader = LineReader(file.nodes[:1], None, None, "", [])
    try:
        columns, rows = read_sides(reader.text("SZ"))
    except ValueError:
        return None
    if columns == rows or reader.text("GM") not in ("", "1"):
        return None
    komi = reader.komi()
    env = OutlineGoEnv(rows, columns, komi=6.5 if komi is None else komi, first_pass=0)
    stones = stones_of(env, file.nodes[0])
    sides = {} if stones is None else {"black": stones == 1, "white": stones == -1}
    setup = {side: " ".join(map(env.to_text, points.nonzero()[0].tolist())) for side, points in sides.items()}
    first = next((SIGNS[name] for node in file.nodes for name in node if name in SIGNS and node[name]), 1)
    players = reader.text("PB"), reader.text("PW")
    head = SgfGame(columns, (), result=reader.text("RE"), players=players, faults=tuple(reader.faults))
    return env.position(**setup, **({"to_play": "white"} if first < 0 else {})), head


def follow(tree: GameTree, properties: Properties) -> None:
    """Play the move of a file's node on the board of the tree, and read the node's analysis.

    If the other colour is to move, its turn is skipped. Raises IllegalMove for an illegal move.
    """
    env = stones_env(tree)
    for letter in properties:
        if letter not in SIGNS or not properties[letter]:
            continue
        action = read_point(env, properties[letter][0])
        if tree.position.is_over:
            if action == env.pass_action:
                continue
            raise IllegalMove(env.to_text(action), "the game is over", tree.position)
        tree.play(action, SIGNS[letter])
        read_analysis(tree.nodes[tree.current], properties)


def read_analysis(node: Node, properties: Properties) -> None:
    """Set a node's comment, win rate, score and visits from the properties of a file's node."""
    node.comment = plain_text("".join(properties.get("C", ())[:1])).strip()
    match = NUMBERS.search(node.comment)
    if properties.get(WIN_RATE):
        try:
            rate = float(properties[WIN_RATE][0]) / 100
        except ValueError:
            return
        if 0 <= rate <= 1:
            node.win_rate = rate
    if match and node.win_rate is not None:
        node.visits = int(match[4])
        if match[1]:
            node.score = float(match[2]) * (1 if match[1] == "B" else -1)
        elif match[3]:
            node.score = 0.0


def set_loser(tree: GameTree, game: SgfGame) -> None:
    """Record the loser at the end of the tree's main line if the file's result is a resignation, such as B+R."""
    line = list(tree.main_line())
    last = line[-1] if line else 0
    if game.outcome and "+R" in game.result.upper() and not tree.position_at(last).is_over:
        tree.resigned[last] = tree.loser_in_file = int(-game.outcome)
