"""Games of Go as SGF with variations and analysis.  Files of other games have a link, and are the page's own."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
from alphago.ui.web.new_game import GameTree, field_of, start_from, usual_game
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
            added = tree.play(parent, node["move"], mover)
            if added != number:  # an earlier node has the same parent and move
                raise ValueError(f"the moves after a node must differ, got {shown(node['move'])} twice after {parent}")
        tree.nodes[number] |= node
    tree.view |= {"names": [str(name) for name in field_of(query, "names", list)], "file": str(query.get("file", ""))}
    end = check_int("end", query.get("end", 0), 0, len(nodes) - 1)
    tree.view |= {"end": end, "fileLoser": query.get("fileLoser", 0)}
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
    last = 0
    for number, node in enumerate(nodes):
        if node["parent"] == last:  # the first child of `last`, since children are in their order
            last = number
    return last


def sgf_text(tree: GameTree) -> str:
    """Return a game of Go with its variations as SGF; each node has the results of its analysis.

    If the game was opened from a file, what was not changed since is written as in this file.
    """
    env, file = tree.env, next(trees(tree.view["file"]), None)
    if file is None:  # the game was not opened from a file
        black, white = (tree.view["names"] + ["", ""])[:2]  # the page may send fewer names than two
        setup = {word: value for word, value in tree.start.setup.items() if word in env.setup_words}
        head = SgfGame.in_game(env, (), setup=setup, result=format_result(tree) or "", players=(black, white))
        document = to_document(head)
        document.nodes[0]["AP"] = ["alphago"]
    else:
        document = SgfDocument(file.nodes, file.parents)
        result = format_result(tree)
        if result is not None:
            document.nodes[0]["RE"] = [escape_text(result)] if result else []  # [] leaves the property out
    numbers: list[int] = []  # for each node of the game, the number of its node in the document
    for number, node in enumerate(tree.nodes):
        number_in_file, count = file_number(node), count_at(tree, number)
        if number == 0 or 0 <= number_in_file < len(document.nodes):  # the document has this node already
            numbers.append(number_in_file if number > 0 else 0)  # both begin with node 0, the start
        else:
            position = tree.positions[number]
            move: Properties = {PLAYER_NAMES[position.movers[-1]][0]: [point_text(env, position.moves[-1])]}
            numbers.append(document.add(numbers[node["parent"]], move))
        properties = document.nodes[numbers[-1]]
        if number_in_file < 0 or node.get("found"):  # else the analysis comes from the file, and stays as it is there
            properties |= analysis_properties(node)
        properties |= point_properties(env, {} if count is None else count.territory())
    return document.text().decode()


def format_result(tree: GameTree) -> str | None:
    """Return the result of a game, as SGF writes it, unless the result in its file still holds.

    It is the result at the end of the current line, or of the main line if the game was opened from a file.

    Returns:
        "" if the game is not over.  None if the file's result holds: the main line ends in a node of the file, in which
        the game was neither counted nor resigned since.
    """
    file, file_loser = tree.view["file"], tree.view["fileLoser"]
    last = main_line_end(tree.nodes) if file else tree.view["end"]
    node, position, count = tree.nodes[last], tree.positions[last], count_at(tree, last)
    loser = check_int("loser", node.get("loser", 0), -1, 1)
    if file and file_number(node) >= 0 and count is None and loser == file_loser:
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

    A variation with an illegal move ends before that move.

    Args:
        usual_games: games by name; options that the file does not give are taken from its game in `usual_games`.

    Raises:
        ValueError: for text that is no SGF game, or for a game that cannot be played.
    """
    if "(" not in text[:BEGIN_LETTERS]:
        raise ValueError(f"a file must be an SGF game, got {shown(text[:80])}")
    files = trees(text)
    file, second = next(files, None), next(files, None)
    if file is not None and (rectangular_game := read_rectangular(file, usual_games)) is not None:
        start, game = rectangular_game
        if second is not None:
            raise ValueError("the SGF file: it must hold one game, got several")
    else:
        game = parse_sgf(text, "the SGF file", allowed=HARMLESS)  # raises the errors of the file and its main line
        planes = usual_game("go", usual_games).config["planes"]
        start = game.position(game.env().replace(planes=planes).match_variant(), 0)
        file = next(trees(text))  # there is one, since `parse_sgf` has read it
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
    """Play the moves of all nodes of a file in a tree, and return remarks on what is not shown.

    A variation ends before its first illegal move, and before stones that are set up after the game's beginning.

    Raises:
        IllegalMove: for an illegal move before the first branching.
    """
    branchings = [parent for parent, children in Counter(file.parents).items() if children > 1]
    first_branching = min(branchings, default=len(file.nodes))
    read_analysis(tree.nodes[0], file.nodes[0])
    tree.nodes[0]["inFile"] = 0
    tree_nodes = {-1: 0}  # by node of the file, the node of the tree
    after_set_up: set[int] = set()  # nodes of the file that set up stones, and nodes after them
    remarks: dict[str, None] = {}  # each once, in their order
    for number, (properties, parent) in enumerate(zip(file.nodes, file.parents, strict=True)):
        if parent not in tree_nodes and parent not in after_set_up:  # the node comes after an illegal move
            continue
        if parent in after_set_up or (number > 0 and sets_up(tree, tree_nodes[parent], properties)):
            after_set_up.add(number)
            if any(properties.get(letter) for letter in SIGNS):
                remarks[f"variations end before stones that are set up after a move: {NOT_SHOWN}"] = None
            continue
        try:
            tree_nodes[number] = play_node(tree, tree_nodes[parent], properties, number)
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
    line = [file.nodes[number] for number in file.main_line()]
    reader = LineReader(line)
    try:
        columns, rows = read_sides(reader.text("SZ"))
    except ValueError:
        return None
    if columns == rows or reader.text("GM").lower() not in GO:
        return None
    komi = reader.komi()
    if RECTANGLES not in usual_games:
        raise ValueError(
            f"the SGF file: its board must be square, got {columns}x{rows}; a page that is opened by "
            "alphago web --game examples/go_variants.py:OutlineGoEnv shows it"
        )
    komi = USUAL_KOMI if komi is None else komi
    env = usual_games[RECTANGLES].replace(height=rows, width=columns, missing="", komi=komi, first_pass=0)
    assert isinstance(env, StonesEnv)
    setup: dict[str, str] = {}
    stones = setup_stones(env, file.nodes[0])
    if stones is not None:
        for side, sign in (("black", 1), ("white", -1)):
            setup[side] = " ".join(map(env.to_text, (stones == sign).nonzero()[0].tolist()))
    if any(name in node for node in line[1:] for name in STONES):
        raise ValueError("stones must be set up in the first node of a game on a board that is not square")
    # Who plays the first move; without a move, whose turn it is by the file's PL.
    colours = (SIGNS[name] for node in line for name in node if name in SIGNS and node[name])
    first = next(colours, reader.first_player())
    if first < 0:
        setup["to_play"] = "white"
    black, white, result, rules = map(reader.text, ("PB", "PW", "RE", "RU"))
    head = SgfGame(columns, (), result=result, rules=rules, players=(black, white), faults=tuple(reader.faults))
    return env.position(**setup), head


def play_node(tree: GameTree, at: int, properties: Properties, number: int) -> int:
    """Play the moves of a file's node (nearly always one) in the tree, and return the number of the last node.

    A move out of turn skips the other colour's turn.  Passes after the end of the game are left out.

    Args:
        at: the number of the tree's node after which the moves are played.
        properties: of the file's node; its analysis is added to the tree's nodes.
        number: the number of the file's node.

    Raises:
        IllegalMove: for an illegal move.
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
