"""Games of Go as SGF with variations and analysis.  Files of other games have a link, and are the page's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from alphago.env.board import StonesEnv
from alphago.env.game import PLAYER_NAMES, GameEnv
from alphago.env.go_count import GoCount, count_as_alive
from alphago.env.position import IllegalMove, Position
from alphago.records.sgf import SgfGame, parse_sgf
from alphago.records.sgf.document import SgfDocument, to_document
from alphago.records.sgf.faults import HARMLESS
from alphago.records.sgf.game_line import GO, SIGNS, LineReader
from alphago.records.sgf.grammar import Node as Properties
from alphago.records.sgf.grammar import SgfTree, escape_text, plain_text, trees
from alphago.records.sgf.notes import GENERATED, MoveNote, note_properties, read_note, without_generated
from alphago.records.sgf.stretches import KEPT, STONES, setup_stones
from alphago.records.sgf.values import point_properties, point_text, read_point, read_sides
from alphago.system.validation import check_float, check_int, shown
from alphago.ui.web.new_game import FullTree, GameTree, field_of, start_from, usual_game
from alphago.ui.web.views import result_view, with_dead

MOST_MOVES = 5  # most moves of an analysis in a comment
BEGIN_LETTERS = 1000  # letters at the beginning of a file, among which an SGF game begins
NOT_SHOWN = "what follows is not shown, and stays in the file"
RECTANGLES = "outline-go"  # the game of files with rectangular boards, an example
USUAL_KOMI = 6.5  # of a rectangular board whose file names none


# --- writing ---------------------------------------------------------------------------------------


def read_game_tree(query: Mapping[str, Any], usual_games: Mapping[str, GameEnv]) -> GameTree:
    """Return the game that a page sends to be saved, with its variations.

    Args:
        query: the game under "game", as `describe_start` returns it, and the fields of `GameTree.view`.  A node may
            also have `dead`, the dead stones of a count, and `found`, the moves of an analysis in KataGo's fields and
            Black's view; `sgf_text` checks these.
        usual_games: games by name.

    Raises:
        ValueError: if the game or one of its nodes is not as above.
        IllegalMove: for an illegal move.
    """
    nodes = field_of(query, "nodes", list)
    tree = GameTree(start_from(field_of(query, "game", dict), usual_games))
    for number, node in enumerate(nodes):
        if not isinstance(node, Mapping) or (number > 0 and not isinstance(node.get("move"), str)):
            raise ValueError(f"a node must be an object with a move, got {shown(node)}")
        if number > 0:  # node 0 is the start
            parent = check_int("parent", node.get("parent"), 0, number - 1)
            mover = -1 if node.get("mover") == -1 else 1
            if tree.play(parent, node["move"], mover) != number:  # an earlier node has the same parent and move
                raise ValueError(f"the moves after a node must differ, got {shown(node['move'])} twice after {parent}")
        tree.nodes[number] |= node
    tree.view |= {"names": [str(name) for name in field_of(query, "names", list)], "file": str(query.get("file", ""))}
    tree.view["end"] = check_int("end", query.get("end", 0), 0, len(nodes) - 1)
    tree.view["fileLoser"] = query.get("fileLoser", 0)  # who resigns in the opened file, +1 or -1; 0 for neither side
    return tree


def file_number(node: Mapping[str, Any]) -> int:
    """Return the number that a node has in the file that was opened; -1 for a node that is not in a file."""
    return check_int("inFile", node.get("inFile", -1), -1)


def count_at(tree: GameTree, number: int) -> GoCount | None:
    """Return the count of a finished game at a node; None if its stones were not counted."""
    dead = tree.nodes[number].get("dead")
    count = None if dead is None else count_as_alive(tree.positions[number])
    return None if count is None else with_dead(count, dead)


def main_line_end(nodes: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of the main line's last node; the main line goes from each node to its first child."""
    return SgfTree(parents=[node["parent"] for node in nodes]).main_line()[-1]


def sgf_text(tree: GameTree) -> str:
    """Return a game of Go with its variations as SGF; each node has the results of its analysis.

    If the game was opened from a file, what was not changed since is written as in this file.
    """
    document = begin_document(tree)
    numbers: list[int] = []  # for each node of the game, the number of its node in the document
    for number, node in enumerate(tree.nodes):
        numbers.append(document_node(document, tree, number, numbers))
        properties, count = document.nodes[numbers[-1]], count_at(tree, number)
        if file_number(node) < 0 or node.get("found"):  # else the analysis comes from the file, and stays as it is
            properties |= analysis_properties(node)
        properties |= point_properties(tree.env, {} if count is None else count.territory())
    return document.text().decode()


def begin_document(tree: GameTree) -> SgfDocument:
    """Return the file that a game was opened from as a document, or a new one without moves, with the game's result."""
    file, result = next(trees(tree.view["file"]), None), format_result(tree)
    if file is not None:
        document = SgfDocument(file.nodes, file.parents)
    else:  # the game was not opened from a file
        black, white = (tree.view["names"] + ["", ""])[:2]  # the page may send fewer names than two
        setup = {word: value for word, value in tree.start.setup.items() if word in tree.env.setup_words}
        document = to_document(SgfGame.in_game(tree.env, (), setup=setup, players=(black, white)))
        document.nodes[0]["AP"] = ["alphago"]
    if result is not None:  # None: the result in the file still holds
        # "": the game is not over; [] then leaves the property out.
        document.nodes[0]["RE"] = [escape_text(result)] if result else []
    return document


def document_node(document: SgfDocument, tree: GameTree, number: int, numbers: Sequence[int]) -> int:
    """Return the number in the document of a game's node; add the node if the document does not have it yet.

    Args:
        number: the number of the game's node.
        numbers: for each earlier node of the game, its number in the document.
    """
    if number == 0:
        return 0  # both begin with the start
    node, position = tree.nodes[number], tree.positions[number]
    if 0 <= file_number(node) < len(document.nodes):
        return file_number(node)
    letter = PLAYER_NAMES[position.movers[-1]][0]  # B or W, the SGF property of a move
    return document.add(numbers[node["parent"]], {letter: [point_text(tree.env, position.moves[-1])]})


def format_result(tree: GameTree) -> str | None:
    """Return the result of a game, as SGF writes it, "" if the game is not over; None if its file's result still holds.

    It is the result at the end of the current line, or of the main line if the game was opened from a file.
    """
    is_opened = bool(tree.view["file"])
    last = main_line_end(tree.nodes) if is_opened else tree.view["end"]
    node, position, count = tree.nodes[last], tree.positions[last], count_at(tree, last)
    loser = check_int("loser", node.get("loser", 0), -1, 1)
    # Since the file was opened, no move was added to its last node, no stones were counted and no side resigned there.
    is_as_in_file = file_number(node) >= 0 and count is None and loser == tree.view["fileLoser"]
    if is_opened and is_as_in_file:
        return None
    if not loser and not position.is_over:
        return ""
    short = str(result_view(position, loser, count)["short"])
    return "0" if short == "draw" else short


def analysis_properties(node: Mapping[str, Any]) -> Properties:
    """Return the SGF properties of a node's comment and analysis, see `alphago.records.sgf.notes`.

    The analysis replaces an older one in the comment of an opened file.
    """
    lines, properties = [without_generated(str(node.get("comment", "")))], Properties()
    if node.get("win") is not None:
        value = 2 * check_float("win", node["win"], 0, 1) - 1
        score = None if node.get("score") is None else check_float("score", node["score"])
        note = MoveNote(value, check_int("visits", node.get("visits", 0), 0) or None, score=score)
        properties |= note_properties(note)
        # The note has no prior, so that its sentence names no move.
        sentences = [note.sentence(""), *map(move_text, field_of(node, "found", list)[:MOST_MOVES])]
        lines += [GENERATED + sentence for sentence in sentences]
    comment = "\n".join(filter(None, lines))
    return properties | ({"C": [escape_text(comment)]} if comment else {})


def move_text(move: Mapping[str, Any]) -> str:
    """Return a move of an analysis as text, such as "C3 54.2 %, 31 visits, prior 12.0 %: C3 D4", in Black's view.

    Args:
        move: KataGo's fields of the move.

    Raises:
        ValueError: if a field is missing or has a wrong type.
    """
    try:
        rate = "" if move.get("winrate") is None else f" {100 * move['winrate']:.1f} %"
        line = " ".join(map(str, move["pv"]))
        return f"{move['move']}{rate}, {move['visits']} visits, prior {100 * move['prior']:.1f} %: {line}"
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"a move of an analysis must have KataGo's fields, got {shown(move)}") from None


# --- reading ---------------------------------------------------------------------------------------


def open_sgf(text: str, usual_games: Mapping[str, GameEnv]) -> GameTree:
    """Return a game of Go with its variations.

    A variation with an illegal move, such as one off the board, ends before that move.

    Args:
        usual_games: games by name; options that the file does not give are taken from its game in `usual_games`.

    Raises:
        ValueError: for text that is no SGF game, or for a game that cannot be played.
    """
    start, game, file = read_file(text, usual_games)
    tree = GameTree(start, game.players)
    hidden = play_file(tree, file)
    last = main_line_end(tree.nodes)
    end = tree.positions[last]
    if game.outcome and "+R" in game.result.upper() and not end.is_over:
        tree.nodes[last]["loser"] = tree.view["fileLoser"] = int(-game.outcome)
    remarks = filter(None, [*map(str, game.faults), game.scoring_notice, *hidden, turn_remark(game, end)])
    tree.view |= {"file": text, "stated": game.result, "remarks": list(remarks)}
    return tree


def read_file(text: str, usual_games: Mapping[str, GameEnv]) -> tuple[Position, SgfGame, SgfTree]:
    """Return the first position of an SGF file's game, the game, and the file's nodes.

    On a board that is not square, the game has no moves, see `read_rectangular`.

    Raises:
        ValueError: as `open_sgf`.
    """
    if "(" not in text[:BEGIN_LETTERS]:
        raise ValueError(f"a file must be an SGF game, got {shown(text[:80])}")
    games = list(islice(trees(text), 2))  # a second one shows that there are several
    if games and (rectangular_game := read_rectangular(games[0], usual_games)) is not None:
        if len(games) > 1:
            raise ValueError("the SGF file: it must hold one game, got several")
        return *rectangular_game, games[0]
    # `parse_sgf` raises the errors of the file and its main line.  HARMLESS faults do not change the moves: they become
    # remarks.
    game = parse_sgf(text, "the SGF file", allowed=HARMLESS)
    planes = usual_game("go", usual_games).config["planes"]  # those of the networks that the page offers
    return game.position(game.env().replace(planes=planes).match_variant(), 0), game, games[0]


def turn_remark(game: SgfGame, end: Position) -> str:
    """Return a remark if after the last move it is the other side's turn by the file's PL; else ""."""
    if end.is_over or game.to_play in (0, end.to_play):
        return ""
    mover, other = PLAYER_NAMES[game.to_play], PLAYER_NAMES[end.to_play]
    return f"after the last move it is {mover}'s turn in the file (PL), and {other}'s on the board"


def play_file(tree: GameTree, file: SgfTree) -> list[str]:
    """Play the moves of all nodes of a file in a tree, and return remarks on what is not shown.

    A variation ends before its first illegal move, and before stones that are set up after the game's beginning.

    Raises:
        FullTree: for too many moves.
        ValueError: for a move before the first branching that cannot be played.
    """
    branchings = [parent for parent, children in Counter(file.parents).items() if children > 1]
    # The first node with several children.  Nodes are numbered depth first: those up to this one are in all variations.
    trunk_end = min(branchings, default=len(file.nodes))
    # The tree's node 0 is the start.  If the file's node 0 has a move too, the loop plays it from there.
    read_analysis(tree.nodes[0], file.nodes[0])
    tree.nodes[0]["inFile"] = 0  # the number of the file's node that this one is from
    tree_nodes = {-1: 0}  # by node of the file that is shown, the node of the tree; the file's node 0 has parent -1
    after_set_up: set[int] = set()  # nodes of the file that set up stones after the beginning, and nodes after them
    remarks: dict[str, None] = {}  # each once, in their order
    for number, (properties, parent) in enumerate(zip(file.nodes, file.parents, strict=True)):
        begins_set_up = number > 0 and parent in tree_nodes and sets_up(tree, tree_nodes[parent], properties)
        if begins_set_up or parent in after_set_up:
            after_set_up.add(number)
            if any(properties.get(letter) for letter in SIGNS):  # the node has a move, which is left out
                remarks[f"variations end before stones that are set up after a move: {NOT_SHOWN}"] = None
        elif parent in tree_nodes:  # any other node follows an illegal move, and is not shown
            try:
                tree_nodes[number] = play_node(tree, tree_nodes[parent], properties, number)
            except ValueError as error:  # an illegal move, one off the board, or one out of turn where none is skipped
                if number <= trunk_end or isinstance(error, FullTree):
                    raise
                remarks[f"variations end before an illegal move: {NOT_SHOWN}"] = None
    return list(remarks)


def sets_up(tree: GameTree, number: int, properties: Properties) -> bool:
    """Return whether a file's node sets up stones that change the board at a tree's node, or that are off the board."""
    try:
        stones = setup_stones(tree.env, properties)
    except ValueError:  # off the board
        return True
    board = tree.positions[number].board.ravel()  # type: ignore[attr-defined]
    return stones is not None and bool(((stones != KEPT) & (stones != board)).any())


def read_rectangular(file: SgfTree, usual_games: Mapping[str, GameEnv]) -> tuple[Position, SgfGame] | None:
    """Return the first position of a file whose board is not square, and an SgfGame without moves.

    The SgfGame has the file's result, rules, players and faults.

    Returns:
        None for a square board, a damaged size, and a game other than Go.

    Raises:
        ValueError: if `usual_games` has no game for such boards, and for stones that cannot be set up.
    """
    reader = LineReader([file.nodes[number] for number in file.main_line()])
    try:
        columns, rows = read_sides(reader.text("SZ"))
    except ValueError:
        return None
    if columns == rows or reader.text("GM").lower() not in GO:
        return None
    if RECTANGLES not in usual_games:
        raise ValueError(
            f"the SGF file: its board must be square, got {columns}x{rows}; a page that is opened by "
            "alphago web --game examples/go_variants.py:OutlineGoEnv shows it"
        )
    komi = reader.komi()
    komi = USUAL_KOMI if komi is None else komi
    # All points of the rectangle are there, and passing is legal from the first move on.
    env = usual_games[RECTANGLES].replace(height=rows, width=columns, missing="", komi=komi, first_pass=0)
    assert isinstance(env, StonesEnv)
    setup = rectangular_setup(env, reader)
    black, white, result, rules = map(reader.text, ("PB", "PW", "RE", "RU"))
    head = SgfGame(columns, (), result=result, rules=rules, players=(black, white), faults=tuple(reader.faults))
    return env.position(**setup), head


def rectangular_setup(env: StonesEnv, reader: LineReader) -> dict[str, str]:
    """Return what a file's main line sets up, as keywords of `GameEnv.position`: the stones, and who begins.

    Raises:
        ValueError: for stones off the board, or in another node than the first.
    """
    setup: dict[str, str] = {}
    stones = setup_stones(env, reader.line[0])
    if stones is not None:
        for side, sign in (("black", 1), ("white", -1)):
            setup[side] = " ".join(map(env.to_text, (stones == sign).nonzero()[0].tolist()))
    if any(name in node for node in reader.line[1:] for name in STONES):
        raise ValueError("stones must be set up in the first node of a game on a board that is not square")
    movers = [SIGNS[name] for node in reader.line for name in node if name in SIGNS and node[name]]
    first = movers[0] if movers else reader.first_player()  # without moves, the file's PL says who begins
    return setup | ({"to_play": "white"} if first < 0 else {})


def play_node(tree: GameTree, at: int, properties: Properties, number: int) -> int:
    """Play the moves of a file's node (nearly always one) in the tree, and return the number of the last node.

    A move out of turn skips the other colour's turn.  Passes after the end of the game are left out.

    Args:
        at: the number of the tree's node after which the moves are played.
        properties: of the file's node; its analysis is added to the tree's nodes.
        number: the number of the file's node.

    Raises:
        ValueError: for a move that cannot be played, as `read_point` and `GameTree.play`.
    """
    env = tree.env
    letters = [name for name in properties if name in SIGNS and properties[name]]  # B or W, or both in their order
    for letter in letters:
        action, position = read_point(env, properties[letter][0]), tree.positions[at]
        if position.is_over:
            if action == env.pass_action:
                continue
            raise IllegalMove(env.to_text(action), "the game is over", position)
        at = tree.play(at, action, SIGNS[letter])
        node = tree.nodes[at]
        node.setdefault("inFile", number)  # if the file has this variation twice, the number of the first one stays
        read_analysis(node, properties)
    return at


def read_analysis(node: dict[str, Any], properties: Properties) -> None:
    """Set a node's comment, win rate, score and visits from the properties of a file's node."""
    note, comment = read_note(properties), plain_text(next(iter(properties.get("C", ())), ""))
    known: dict[str, Any] = {"comment": without_generated(comment).strip() or None, "visits": note.visits}
    known |= {"win": note.win_rate, "score": note.score}
    node |= {name: value for name, value in known.items() if value is not None}
