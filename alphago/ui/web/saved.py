"""Games as files: for Go, SGF with variations and analysis; for other games, JSON with the position on the board."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any

from alphago.env.board import StonesEnv, result_text
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.go_count import GoCount, count_of
from alphago.env.position import IllegalMove, Position
from alphago.records.sgf import SgfGame, parse_sgf
from alphago.records.sgf.document import SgfDocument, document_of
from alphago.records.sgf.faults import HANDICAP, HARMLESS
from alphago.records.sgf.game_line import GO, SIGNS, LineReader
from alphago.records.sgf.grammar import Node as Properties
from alphago.records.sgf.grammar import SgfTree, escape_text, plain_text, trees
from alphago.records.sgf.stretches import KEPT, STONES, stones_of
from alphago.records.sgf.values import point_properties, point_text, read_point, read_sides
from alphago.system.validation import check_float, check_int, shown
from alphago.ui.web.new_game import GameTree, link_of, listed, open_link, start_from, usual_game
from alphago.ui.web.views import result_view, with_dead

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


class KeptGame:
    """A game with its variations that a page sends to be saved.

    query: what `begun` and `GameTree.view` have; a node may also have `dead`, the dead stones of a count, and `found`,
        the moves of an analysis in KataGo's fields and Black's view.
    bases: games by name.  Raises ValueError for anything else.
    """

    def __init__(self, query: Mapping[str, Any], bases: Mapping[str, GameEnv]) -> None:
        self.start = start_from(query.get("game"), bases)
        self.env = self.start.env
        self.nodes = listed(query, "nodes")
        for number, node in enumerate(self.nodes):
            if not isinstance(node, Mapping):
                raise ValueError(f"a node must be an object, got {shown(node)}")
            check_int("parent", node.get("parent"), min(number - 1, 0), number - 1)
        self.names = [str(name) for name in listed(query, "names")]
        self.end = check_int("end", query.get("end", 0), 0, len(self.nodes) - 1)
        self.file, self.loser_in_file = str(query.get("file", "")), query.get("fileLoser", 0)

    def in_file(self, number: int) -> int:
        """Return the number of a node in the file that was opened; -1 if it is not in a file."""
        return check_int("inFile", self.nodes[number].get("inFile", -1), -1)

    def play(self, number: int) -> tuple[int, int]:
        """Return the mover and the action of a node's move."""
        move = self.nodes[number].get("move")
        if not isinstance(move, str):
            raise ValueError(f"a move must be a text, got {shown(move)}")
        return (-1 if self.nodes[number].get("mover") == -1 else 1), self.env.from_text(move)

    def position(self, number: int) -> Position:
        """Return the position of a node; raise IllegalMove for an illegal move."""
        plays = []
        while number > 0:
            plays.append(self.play(number))
            number = self.nodes[number]["parent"]
        return self.start.after([action for _, action in reversed(plays)], [mover for mover, _ in reversed(plays)])

    def count(self, number: int) -> GoCount | None:
        """Return the count of a finished game at a node; None if its stones were not counted."""
        dead = self.nodes[number].get("dead")
        count = None if dead is None else count_of(self.position(number))
        return None if count is None else with_dead(count, dead)


def main_line_end(nodes: Sequence[Mapping[str, Any]]) -> int:
    """Return the last one of the root's first child, that node's first child, and so on."""
    last = 0
    for number, node in enumerate(nodes):
        if node["parent"] == last:
            last = number
    return last


def save_file(query: Mapping[str, Any], bases: Mapping[str, GameEnv]) -> tuple[str, str]:
    """Return the name and the contents of the file of a game, see `KeptGame`.

    Without SGF the file has the moves up to `end` alone.
    """
    game = KeptGame(query, bases)
    if game.env.has_sgf or game.file:
        return "game.sgf", sgf_text(game)
    text = json.dumps({"format": FORMAT, "link": link_of(game.position(game.end))}, indent=2)
    return f"{game.env.name}.json", text + "\n"


def sgf_text(game: KeptGame) -> str:
    """Return a game of Go with its variations as SGF; each node has what an analysis found there.

    Of a game that was opened from a file, what was not changed since is written as it is there.
    """
    env, file = game.env, next(trees(game.file), None) if game.file else None
    if file is None:
        black, white, *_ = [*game.names, "", ""]
        setup = {word: value for word, value in game.start.setup.items() if word in env.setup_words}
        head = SgfGame.in_game(env, (), setup=setup, result=result_of(game) or "", players=(black, white))
        document = document_of(head)
        document.set_text(0, "AP", "alphago")
    else:
        document = SgfDocument(file.nodes, file.parents)
        result = result_of(game)
        if result is not None:
            document.set_text(0, "RE", result)
    numbers: list[int] = []  # for each node of the game, the number of its node in the document
    assert isinstance(env, StonesEnv)
    for number, node in enumerate(game.nodes):
        in_file, count = game.in_file(number), game.count(number)
        is_old = number == 0 or 0 <= in_file < len(document.nodes)  # a new file has its first node
        if is_old:
            numbers.append(in_file if number > 0 else 0)
        else:
            mover, action = game.play(number)
            move: Properties = {PLAYER_NAMES[mover][0]: [point_text(env, action)]}
            numbers.append(document.add(numbers[node["parent"]], move))
        properties = document.nodes[numbers[-1]]
        if in_file < 0 or node.get("found"):  # an analysis that comes from the file stays as it is there
            properties |= analysis_properties(node)
        properties |= point_properties(env, {} if count is None else count.territory())
    return document.text().decode()


def result_of(game: KeptGame) -> str | None:
    """Return the result of a game, as SGF writes it; "" if the game is not over; None if its file's result still holds.

    It is the result at the end of the current line; of a game that was opened from a file, at the end of the main line.
    The file's result holds if this end is in the file, and was neither counted nor resigned since.
    """
    last = main_line_end(game.nodes) if game.file else game.end
    position, count = game.position(last), game.count(last)
    loser = check_int("loser", game.nodes[last].get("loser", 0), -1, 1)
    if game.file and game.in_file(last) >= 0 and count is None and loser == game.loser_in_file:
        return None
    if not loser and not position.is_over:
        return ""
    short = str(result_view(position, loser, count)["short"])
    return "0" if short == "draw" else short


def analysis_properties(node: Mapping[str, Any]) -> Properties:
    """Return the SGF properties of a node's comment and analysis: C, and SBKV for Black's chance to win.

    The analysis replaces an older one in the comment of an opened file.
    """
    remark = BEFORE_NUMBERS.split(str(node.get("comment", "")))[0].strip()
    properties: Properties = {}
    if node.get("win") is not None:
        win = check_float("win", node["win"], 0, 1)
        properties[WIN_RATE] = [f"{100 * win:.2f}"]
        remark = "\n".join(filter(None, [remark, numbers_of(node, win)]))
    return properties | ({"C": [escape_text(remark)]} if remark else {})


def numbers_of(node: Mapping[str, Any], win: float) -> str:
    """Return a node's analysis as text for a comment; win: Black's chance.

    Its first line matches the pattern NUMBERS, so that `read_analysis` can read it.
    """
    score = "" if node.get("score") is None else f", {result_text(round(check_float('score', node['score']), 1))}"
    lines = [f"Black wins with {100 * win:.1f} %{score}, {check_int('visits', node.get('visits', 0), 0)} visits"]
    return "\n".join([*lines, *map(move_text, listed(node, "found")[:SHOWN])])


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
    tree.play_line(position)
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
    tree = GameTree(start, game.players)
    hidden = play_file(tree, file)
    last = main_line_end(tree.nodes)
    end, turn = tree.positions[last], ""
    if game.to_play not in (0, end.to_play) and not end.is_over:
        mover, other = PLAYER_NAMES[game.to_play], PLAYER_NAMES[end.to_play]
        turn = f"after the last move it is {mover}'s turn in the file (PL), and {other}'s on the board"
    if game.outcome and "+R" in game.result.upper() and not end.is_over:
        tree.nodes[last]["loser"] = int(-game.outcome)
    remarks = [*map(str, game.faults), game.scoring, *hidden, turn]
    tree.view |= {"file": text, "stated": game.result, "fileLoser": tree.nodes[last].get("loser", 0)}
    tree.view["remarks"] = list(filter(None, remarks))
    return tree


def play_file(tree: GameTree, file: SgfTree) -> list[str]:
    """Play the moves of all nodes of a file, each after those of its parent; return remarks on what is not shown.

    A variation ends before its first illegal move, and before stones that are set up after the game's beginning.
    Raises IllegalMove for an illegal move before the first branching.
    """
    branchings = [parent for parent, children in Counter(file.parents).items() if children > 1]
    first_branching = min(branchings, default=len(file.nodes))
    read_analysis(tree.nodes[0], file.nodes[0])
    tree.nodes[0]["inFile"] = 0
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


def stones_env(tree: GameTree) -> StonesEnv:
    """Return the game of a tree that is read from SGF."""
    assert isinstance(tree.env, StonesEnv)
    return tree.env


def sets_up(tree: GameTree, number: int, properties: Properties) -> bool:
    """Return whether a file's node sets up stones that change the board at a tree's node, or that are off the board."""
    if not any(name in properties for name in STONES):
        return False
    try:
        stones = stones_of(stones_env(tree), properties)
    except ValueError:
        return True
    board = tree.positions[number].board.ravel()  # type: ignore[attr-defined]
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
    if any(name in node for node in line[1:] for name in STONES):
        raise ValueError("stones must be set up in the first node of a game on a board that is not square")
    colours = (SIGNS[name] for node in line for name in node if name in SIGNS and node[name])
    first = next(colours, reader.first_player())
    if first < 0:
        setup["to_play"] = "white"
    if reader.handicap() > 1 and first < 0 and "AB" not in file.nodes[0]:
        reader.fault(HANDICAP, "handicap stones must be set up on a board that is not square, got only their number")
    black, white, result, rules = map(reader.text, ("PB", "PW", "RE", "RU"))
    head = SgfGame(columns, (), result=result, rules=rules, players=(black, white), faults=tuple(reader.faults))
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
        action, position = read_point(env, properties[letter][0]), tree.positions[at]
        if position.is_over:
            if action == env.pass_action:
                continue
            raise IllegalMove(env.to_text(action), "the game is over", position)
        at = tree.play(at, action, SIGNS[letter])
        node = tree.nodes[at]
        node.setdefault("inFile", number)  # if the file has this variation twice, the first one stands
        read_analysis(node, properties)
    return at


def read_analysis(node: dict[str, Any], properties: Properties) -> None:
    """Set a node's comment, win rate, score and visits from the properties of a file's node."""
    comment = plain_text(next(iter(properties.get("C", ())), "")).strip()
    node |= {"comment": comment} if comment else {}
    try:
        rate = float(properties[WIN_RATE][0]) / 100
    except (KeyError, IndexError, ValueError):
        return
    if not 0 <= rate <= 1:
        return
    node["win"] = rate
    if numbers := NUMBERS.search(comment):
        node["visits"] = int(numbers["visits"])
        if numbers["winner"]:
            node["score"] = float(numbers["margin"]) * SIGNS[numbers["winner"]]
        elif numbers["draw"]:
            node["score"] = 0.0
