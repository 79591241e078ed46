"""Games as files: for Go, SGF with variations and analysis; for other games, JSON with the position on the board."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

from alphago.env.board import StonesEnv, result_text
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.games import require_go
from alphago.env.go_rules import rules_name
from alphago.env.position import IllegalMove, Position
from alphago.records.sgf import SgfGame, parse_sgf
from alphago.records.sgf.document import SgfDocument
from alphago.records.sgf.faults import HANDICAP, HARMLESS
from alphago.records.sgf.game_line import GO, SIGNS, LineReader
from alphago.records.sgf.grammar import Node as Properties
from alphago.records.sgf.grammar import SgfTree, escape_text, plain_text, trees
from alphago.records.sgf.stretches import KEPT, STONES, stones_of
from alphago.records.sgf.values import komi_text, point_properties, point_text, read_point, read_sides, stone_properties
from alphago.system.validation import shown
from alphago.ui.web.game_tree import GameTree, Node
from alphago.ui.web.new_game import link_of, open_link, usual_game
from alphago.ui.web.views import result_view

FORMAT = "alphago-game"
WIN_RATE = "SBKV"  # Black's chance to win in percent, as Sabaki writes it (SabakiHQ/Sabaki, pull request 809)
NUMBERS = re.compile(
    r"^Black wins with [0-9.]+ %(?:, (?P<winner>[BW])\+(?P<margin>[0-9.]+)|, (?P<draw>draw))?"
    r", (?P<visits>[0-9]+) visits",
    re.MULTILINE,
)
BEFORE_NUMBERS = re.compile(r"(?=^Black wins with [0-9.]+ %)", re.MULTILINE)
SHOWN = 5  # moves of an analysis in a comment
LOOKED_AT = 1000  # first letters of a file, among which an SGF game begins
NOT_SHOWN = "what follows is not shown, and stays in the file"
RECTANGLES = "outline-go"  # the game of files with rectangular boards, an example
USUAL_KOMI = 6.5  # of a rectangular board whose file names none


# --- writing ---------------------------------------------------------------------------------------


def save_file(tree: GameTree) -> tuple[str, str]:
    """Return the name and the contents of the game's file; without SGF it has the moves up to `tree.end` alone."""
    if tree.env.has_sgf or tree.file:
        return "game.sgf", sgf_text(tree)
    text = json.dumps({"format": FORMAT, "link": link_of(tree.position_at(tree.end))}, indent=2)
    return f"{tree.env.name}.json", text + "\n"


def sgf_text(tree: GameTree) -> str:
    """Return a game of Go with its variations as SGF; each node has what an analysis found there.

    Of a game that was opened from a file, what was not changed since is written as it is there.
    """
    file = next(trees(tree.file), None) if tree.file else None
    if file is None:
        document = SgfDocument([head_of(tree)], parents=[-1])
    else:
        document = SgfDocument(file.nodes, file.parents)
        result = result_of(tree)
        if result is not None:
            document.set_text(0, "RE", result)
    numbers: list[int] = []  # for each node of the tree, the number of its node in the document
    for number, node in enumerate(tree.nodes):
        if 0 <= node.in_file < len(document.nodes):
            numbers.append(node.in_file)
            document.nodes[node.in_file] |= found_properties(tree, number)
        elif number == 0:  # `head_of` has made the first node of a new file
            numbers.append(0)
        else:
            numbers.append(document.add(numbers[node.parent], node_properties(tree, number)))
    return document.text().decode()


def head_of(tree: GameTree) -> Properties:
    """Return the SGF properties of the first node of a new file."""
    env = require_go(tree.env, "SGF files")
    stones = tree.start.board.ravel()  # type: ignore[attr-defined]
    black, white = int((stones == 1).sum()), int((stones == -1).sum())
    is_handicap = black > 1 and not white and tree.start.to_play == -1
    texts = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": "1",
        "AP": "alphago",
        "SZ": str(env.N),
        "RU": rules_name(env.rules),
        "KM": komi_text(env.komi),
        "PB": tree.names[1],
        "PW": tree.names[-1],
        "RE": result_of(tree) or "",
        "HA": str(black) if is_handicap else "",
        "PL": PLAYER_NAMES[tree.start.to_play][0] if black or white else "",
    }
    head = {name: [escape_text(text)] for name, text in texts.items() if text}
    return head | stone_properties(env, stones) | analysis_properties(tree.nodes[0])


def result_of(tree: GameTree) -> str | None:
    """Return the result of a game, as SGF writes it; "" if the game is not over; None if its file's result still holds.

    It is the result at the end of the current line; of a game that was opened from a file, at the end of the main line.
    The file's result holds if this end is in the file, and was neither counted nor resigned since.
    """
    last = [0, *tree.main_line()][-1] if tree.file else tree.end
    position, loser, count = tree.position_at(last), tree.nodes[last].loser, tree.counts.get(last)
    is_as_in_file = tree.nodes[last].in_file >= 0 and count is None and loser == tree.loser_in_file
    if tree.file and is_as_in_file:
        return None
    if not loser and not position.is_over:
        return ""
    short = str(result_view(position, loser, count)["short"])
    return "0" if short == "draw" else short


def found_properties(tree: GameTree, number: int) -> Properties:
    """Return the SGF properties of what was found at a node: an analysis, and the territory of a count.

    An analysis that the node has from its file is left out.
    """
    node, env = tree.nodes[number], stones_env(tree)
    territory = tree.counts[number].territory() if number in tree.counts else {}
    analysis = {} if node.in_file >= 0 and not node.found else analysis_properties(node)
    return analysis | point_properties(env, territory)


def node_properties(tree: GameTree, number: int) -> Properties:
    """Return the SGF properties of a new node: its move, and what was found there."""
    node, env = tree.nodes[number], stones_env(tree)
    return {PLAYER_NAMES[node.mover][0]: [point_text(env, node.action)]} | found_properties(tree, number)


def stones_env(tree: GameTree) -> StonesEnv:
    """Return the game of a tree that is saved as SGF."""
    assert isinstance(tree.env, StonesEnv)
    return tree.env


def analysis_properties(node: Node) -> Properties:
    """Return the SGF properties of a node's comment and analysis: C, and SBKV for Black's chance to win.

    The analysis replaces an older one in the comment of an opened file.
    """
    remark = BEFORE_NUMBERS.split(node.comment)[0].strip()
    numbers = "" if node.win_rate is None else numbers_of(node)
    text = "\n".join(filter(None, [remark, numbers]))
    properties: Properties = {}
    if text:
        properties["C"] = [escape_text(text)]
    if node.win_rate is not None:
        properties[WIN_RATE] = [f"{100 * node.win_rate:.2f}"]
    return properties


def numbers_of(node: Node) -> str:
    """Return a node's analysis as text for a comment.

    Its first line matches the pattern NUMBERS, so that `read_analysis` can read it.
    """
    assert node.win_rate is not None
    score = "" if node.score is None else f", {result_text(round(node.score, 1))}"
    lines = [f"Black wins with {100 * node.win_rate:.1f} %{score}, {node.visits} visits"]
    return "\n".join([*lines, *map(move_text, node.found[:SHOWN])])


def move_text(move: Mapping[str, Any]) -> str:
    """Return a move of an analysis as text, such as "C3 54.2 %, 31 visits, prior 12.0 %: C3 D4", in Black's view.

    move: KataGo's fields of it.  Raises ValueError for other ones.
    """
    try:
        rate = "" if move.get("winrate") is None else f" {100 * move['winrate']:.1f} %"
        line = " ".join(map(str, move["pv"]))
        return f"{move['move']}{rate}, {move['visits']} visits, prior {100 * move['prior']:.1f} %: {line}"
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"a move of an analysis must have KataGo's fields, got {shown(move)}") from None


# --- reading ---------------------------------------------------------------------------------------


def open_file(text: str, bases: Mapping[str, GameEnv]) -> GameTree:
    """Return the game in a file with the contents `text`.

    bases: games by name; options that the file does not give are taken from its game in `bases`.
    Raises ValueError for text that is not a saved game, or for a game that cannot be played.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return open_json(text, bases)
    if "(" not in text[:LOOKED_AT]:
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
    return line_tree(open_link(content.get("link"), bases))


def line_tree(position: Position) -> GameTree:
    """Return the moves that led to a position as a tree without variations."""
    start, *_ = position.replay()
    tree = GameTree(start)
    for mover, action in zip(position.movers, position.moves, strict=True):
        tree.end = tree.play(tree.end, action, mover)
    return tree


def open_sgf(text: str, bases: Mapping[str, GameEnv]) -> GameTree:
    """Return a game of Go with its variations.

    A variation with an illegal move ends before that move. bases: see `open_file`.
    """
    file, second = islice(chain(trees(text), (None, None)), 2)
    rectangular_game = None if file is None else rectangular(file, bases)
    if file is not None and rectangular_game is not None:
        start, game = rectangular_game
        if second is not None:
            raise ValueError("the SGF file: it must hold one game, got several")
    else:
        game = parse_sgf(text, "the SGF file", allowed=HARMLESS)  # which raises errors of the file and its main line
        planes = usual_game("go", bases).config["planes"]
        start = game.position(game.env().replace(planes=planes).match_variant(), 0)
        file = next(trees(text))
    tree = GameTree(start, {1: game.players[0], -1: game.players[1]})
    tree.file = text
    hidden = play_file(tree, file)
    tree.stated = game.result
    tree.remarks = [*map(str, game.faults), *([game.scoring] if game.scoring else []), *hidden]
    set_loser(tree, game)
    return tree


def play_file(tree: GameTree, file: SgfTree) -> list[str]:
    """Play the moves of all nodes of a file, each after those of its parent; return remarks on what is not shown.

    A variation ends before its first illegal move, and before stones that are set up after the game's beginning.
    Raises IllegalMove for an illegal move before the first branching.
    """
    branchings = [parent for parent, children in Counter(file.parents).items() if children > 1]
    first_branching = min(branchings, default=len(file.nodes))
    read_analysis(tree.nodes[0], file.nodes[0])
    tree.nodes[0].in_file = 0
    tree_nodes = {-1: 0}  # by node of the file, the node of the tree
    after_set_up: set[int] = set()  # nodes of the file from a set-up on
    remarks: dict[str, None] = {}  # in their order
    for number, (properties, parent) in enumerate(zip(file.nodes, file.parents, strict=True)):
        if parent not in tree_nodes and parent not in after_set_up:  # it comes after an illegal move
            continue
        if parent in after_set_up or (number > 0 and sets_up(tree, tree_nodes[parent], properties)):
            after_set_up.add(number)
            if any(properties.get(letter) for letter in SIGNS):
                remarks[f"variations end before stones that are set up after a move: {NOT_SHOWN}"] = None
            continue
        try:
            tree_nodes[number] = follow(tree, tree_nodes[parent], properties, number)
        except IllegalMove:
            if number <= first_branching:
                raise
            remarks[f"variations end before an illegal move: {NOT_SHOWN}"] = None
    return list(remarks)


def sets_up(tree: GameTree, number: int, properties: Properties) -> bool:
    """Return whether a file's node sets up stones that change the board at a tree's node, or that are off the board."""
    if not any(name in properties for name in STONES):
        return False
    try:
        stones = stones_of(stones_env(tree), properties)
    except ValueError:
        return True
    board = tree.position_at(number).board.ravel()  # type: ignore[attr-defined]
    return stones is not None and bool(((stones != KEPT) & (stones != board)).any())


def rectangular(file: SgfTree, bases: Mapping[str, GameEnv]) -> tuple[Position, SgfGame] | None:
    """Return the first position of a file whose board is not square, and an SgfGame with only its result and players.

    Returns None for a square board, a damaged size and another game than Go.  Raises ValueError if `bases` has no game
    for such boards, and for stones that cannot be set up.
    """
    line = file.main_line()
    reader = LineReader(line, required=None, number=None, source="", faults=[])
    try:
        columns, rows = read_sides(reader.text("SZ"))
    except ValueError:
        return None
    if columns == rows or reader.text("GM").lower() not in GO:
        return None
    if joined := reader.joined_edges():
        raise ValueError(f"the SGF file: {joined}")
    komi = reader.komi()
    if RECTANGLES not in bases:
        raise ValueError(
            f"the SGF file: its board must be square, got {columns}x{rows}; a page that is opened by "
            "alphago web --game examples/go_variants.py:OutlineGoEnv shows it"
        )
    komi = USUAL_KOMI if komi is None else komi
    env = bases[RECTANGLES].replace(height=rows, width=columns, missing="", komi=komi, first_pass=0)
    assert isinstance(env, StonesEnv)
    setup: dict[str, str] = {}
    stones = stones_of(env, file.nodes[0])
    if stones is not None:
        for side, sign in (("black", 1), ("white", -1)):
            setup[side] = " ".join(map(env.to_text, (stones == sign).nonzero()[0].tolist()))
    moves = [(number, name) for number, node in enumerate(line) for name in node if name in SIGNS and node[name]]
    if any(name in node for node in line[1:] for name in STONES):
        raise ValueError("stones must be set up in the first node of a game on a board that is not square")
    first = SIGNS[moves[0][1]] if moves else reader.first_player()
    if first < 0:
        setup["to_play"] = "white"
    if reader.handicap() > 1 and first < 0 and "AB" not in file.nodes[0]:
        reader.fault(HANDICAP, "handicap stones must be set up on a board that is not square, got only their number")
    players = reader.text("PB"), reader.text("PW")
    result, rules = reader.text("RE"), reader.text("RU")
    head = SgfGame(columns, moves=(), result=result, rules=rules, players=players, faults=tuple(reader.faults))
    return env.position(**setup), head


def follow(tree: GameTree, at: int, properties: Properties, number: int) -> int:
    """Play the moves of a file's node, mostly one, after a node of the tree, read its analysis, and return the last.

    A move out of turn skips the other colour's turn; passes after the end of the game are left out.
    number: the number of the node in the file.  Raises IllegalMove for an illegal move.
    """
    env = stones_env(tree)
    for letter in properties:
        if letter not in SIGNS or not properties[letter]:
            continue
        action, position = read_point(env, properties[letter][0]), tree.position_at(at)
        if position.is_over:
            if action == env.pass_action:
                continue
            raise IllegalMove(env.to_text(action), "the game is over", position)
        at = tree.play(at, action, SIGNS[letter])
        node = tree.nodes[at]
        if node.in_file < 0:  # otherwise the file has this variation twice, and the first one stands
            node.in_file = number
        read_analysis(node, properties)
    return at


def read_analysis(node: Node, properties: Properties) -> None:
    """Set a node's comment, win rate, score and visits from the properties of a file's node."""
    comments = properties.get("C")
    node.comment = plain_text(comments[0]).strip() if comments else ""
    if properties.get(WIN_RATE):
        try:
            rate = float(properties[WIN_RATE][0]) / 100
        except ValueError:
            return
        if 0 <= rate <= 1:
            node.win_rate = rate
    numbers = NUMBERS.search(node.comment)
    if numbers and node.win_rate is not None:
        node.visits = int(numbers["visits"])
        if numbers["winner"]:
            node.score = float(numbers["margin"]) * SIGNS[numbers["winner"]]
        elif numbers["draw"]:
            node.score = 0.0


def set_loser(tree: GameTree, game: SgfGame) -> None:
    """Record the loser at the end of the tree's main line if the file's result is a resignation, such as B+R."""
    line = list(tree.main_line())
    last = line[-1] if line else 0
    if game.outcome and "+R" in game.result.upper() and not tree.position_at(last).is_over:
        tree.nodes[last].loser = tree.loser_in_file = int(-game.outcome)
