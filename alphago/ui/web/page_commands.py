"""What a page may ask for: one function for each type of message."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from alphago.env.game import PLAYER_NAMES
from alphago.env.go_count import GoCount
from alphago.env.position import Position
from alphago.system.validation import check_bool, check_choice, check_int, check_positive, shown
from alphago.ui.thinker import MoveLimit, position_in
from alphago.ui.web.desk import ENGINE, HUMAN, PLAYERS, Desk, DeskJob
from alphago.ui.web.game_tree import MOST_NODES, GameTree
from alphago.ui.web.limits import MOST_MESSAGE, most_readouts
from alphago.ui.web.new_game import game_of, open_link, start_of
from alphago.ui.web.saved import open_file, save_file
from alphago.ui.web.wire import Message, NoticeMessage, why_message
from alphago.ui.why.explain import explain


def hello(desk: Desk, message: Message) -> None:
    """Send a page that was just opened the game that its link describes; without a link, the game on the board."""
    if message.get("link"):
        tree = open_link(message["link"], desk.bases)
        desk.players = {1: HUMAN, -1: HUMAN}
        desk.set_game(tree)
        desk.wake()
    else:
        desk.tell_game()
        desk.tell_state()


def new_game(desk: Desk, message: Message) -> None:
    """Begin a game; the message has its name, options and set-up (see `start_of`), and who plays Black and White."""
    env = game_of(message.get("game", desk.tree.env.name), message.get("options", {}), desk.bases, message.get("setup"))
    start = start_of(env, message.get("setup", {}))
    players = read_players(message)
    desk.set_game(GameTree(env, start))
    desk.players |= players
    if ENGINE in desk.players.values():  # numbers on the board are for studying, not for playing
        desk.study = desk.analysing = False
    desk.wake()


def read_players(message: Message) -> dict[int, str]:
    """Return the players ("human" or "engine") that a message names, by side (+1 Black, -1 White).

    A side that the message does not name is left out. Raises ValueError for any other word.
    """
    players = {}
    for side, name in PLAYER_NAMES.items():
        value = message.get(name.lower())
        if value is not None:
            if value not in PLAYERS:
                raise ValueError(f"{name.lower()} must be {' or '.join(PLAYERS)}, got {shown(value)}")
            players[side] = str(value)
    return players


def set_players(desk: Desk, message: Message) -> None:
    """Change who plays Black and White; the engine then moves if it is its turn."""
    desk.players |= read_players(message)
    desk.wake()


def play(desk: Desk, message: Message) -> None:
    """Play the message's move for the side to move; raise ValueError if the engine is choosing a move."""
    tree = desk.tree
    if tree.loser():
        raise ValueError("the game is over by resignation: take it back with Undo, or begin a new one")
    if desk.job is not None and desk.job.purpose == "move":
        raise ValueError("it is the engine's turn")
    action = action_of(tree.position, message.get("move"))
    if not desk.teach_about(action):
        tree.play(action)
        desk.after_move(action)


def action_of(position: Position, move: object) -> int:
    """Return a page's move as an action; raise ValueError if it is no move, or illegal."""
    if not isinstance(move, (int, str)) or isinstance(move, bool):
        raise ValueError(f"move must be an action or a written move, got {shown(move)}")
    return position.check_action(move)


def resign(desk: Desk, message: Message) -> None:
    """Resign for the person who plays; if persons play both sides, or neither, for the side to move."""
    if desk.tree.is_over():
        raise ValueError("the game is over already")
    mover = desk.tree.position.to_play
    humans = [side for side in (mover, -mover) if desk.players[side] == HUMAN]
    desk.resign(humans[0] if humans else mover)


def dead(desk: Desk, message: Message) -> None:
    """Turn the group at the message's `point` dead if it counts as alive, or alive if it counts as dead."""
    point = check_int("point", message.get("point"), 0)
    recount(desk, counted(desk).toggled(point))


def all_alive(desk: Desk, message: Message) -> None:
    """Count all stones on the board as alive."""
    recount(desk, replace(counted(desk), dead=frozenset()))


def counted(desk: Desk) -> GoCount:
    """Return the count of the position on the board; raise ValueError if its stones are not counted."""
    count = desk.tree.counts.get(desk.tree.current)
    if count is None or desk.tree.loser():
        raise ValueError("stones are counted after a game of Go that ended by two passes")
    return count


def recount(desk: Desk, count: GoCount) -> None:
    """Set the count of the position on the board, and end a search for its dead stones."""
    desk.stop()
    desk.tree.counts[desk.tree.current] = count
    desk.tell_state()


def undo(desk: Desk, message: Message) -> None:
    """Go back to the last position in which a person chose a move; a resignation is taken back first."""
    tree = desk.tree
    was_resigned = tree.resigned.pop(tree.current, 0) != 0
    is_engines_turn = desk.players[tree.position.to_play] == ENGINE
    if was_resigned and not is_engines_turn:  # in its own turn the engine would only resign again
        desk.look_at(tree.current)
        return
    before = tree.path()[:-1]
    if not before:
        raise ValueError("there is no move to take back")
    in_persons_turn = [number for number in before if desk.players[tree.position_at(number).to_play] == HUMAN]
    desk.look_at(in_persons_turn[-1] if in_persons_turn else before[-1])


def redo(desk: Desk, message: Message) -> None:
    """Go forward on the current line to the next position in which a person is to move, or to the line's end."""
    tree = desk.tree
    number = tree.current
    while (after := tree.next_of(number)) is not None:
        number = after
        if desk.players[tree.position_at(number).to_play] == HUMAN:
            break
    if number == tree.current:
        raise ValueError("there is no move to play again")
    desk.look_at(number)


def go_to(desk: Desk, message: Message) -> None:
    """Put the node that the message names on the board; the engine's job ends even if the node is there already."""
    desk.look_at(check_int("node", message.get("node"), 0, len(desk.tree.nodes) - 1))


def step(desk: Desk, message: Message) -> None:
    """Go `count` moves forward on the current line, or back if `count` is negative, at most to an end of the line.

    Several steps add up, also those that the page sends before it has the answer to the first one.
    """
    line = desk.tree.line()
    at = line.index(desk.tree.current) + check_int("count", message.get("count"), -MOST_NODES, MOST_NODES)
    move_to(desk, line[min(max(at, 0), len(line) - 1)])


def variation(desk: Desk, message: Message) -> None:
    """Show the next variation (`direction` 1) or the previous one (-1): another child of the current node's parent."""
    direction = check_int("direction", message.get("direction"), -1, 1)
    nodes, current = desk.tree.nodes, desk.tree.current
    siblings = nodes[nodes[current].parent].children if current else [0]
    at = siblings.index(current) + direction
    if 0 <= at < len(siblings):
        move_to(desk, siblings[at])


def move_to(desk: Desk, number: int) -> None:
    """Put a node on the board; if it is there already, do nothing, so that the engine's job goes on."""
    if number != desk.tree.current:
        desk.look_at(number)


def set_strength(desk: Desk, message: Message) -> None:
    """Change the settings of the engine's strength that the message names (see `Strength`)."""
    strength = desk.strength.with_wishes(message, desk.tree.env)
    desk.engines.check(strength.network, desk.tree.env)
    is_moving = desk.job is not None and desk.job.purpose == "move"
    has_other_network = strength.network != desk.strength.network
    desk.strength = strength
    if is_moving:  # begin the move again
        desk.wake()
        return
    if has_other_network:  # other settings concern only the engine's moves, not what the board shows
        desk.stop()
        desk.look()  # analyses the position with the new network, if the analysis or the hints are on
    desk.tell_state()


def teach(desk: Desk, message: Message) -> None:
    """Explain from now on each move of a person against the engine that loses more than `points`; None for no move."""
    points = message.get("points")
    desk.teach = None if points is None else check_positive("points", points)
    desk.tell_state()


def move_now(desk: Desk, message: Message) -> None:
    """Let the engine move, also in a person's turn.

    If it is thinking about a move already, it moves at once.
    """
    if desk.tree.is_over():
        raise ValueError("the game is over")
    if desk.job is not None and desk.job.purpose == "move":
        desk.job.limit = MoveLimit(max(desk.job.done, 1))  # the readouts done so far, but at least one
        return
    desk.job = desk.move_job()
    desk.tell_state()


def study(desk: Desk, message: Message) -> None:
    """Turn `study` and `analysing` on or off; a setting that the message does not name stays as it is.

    study: whether the board shows numbers. analysing: whether the engine analyses each position on the board.
    """
    desk.study = check_bool("study", message.get("study", desk.study))
    desk.analysing = check_bool("analysing", message.get("analysing", desk.analysing))
    if desk.job is None or desk.job.purpose == "analyse":  # a job of another purpose goes on
        desk.stop()
        desk.look()
    desk.tell_state()


def toggle(desk: Desk, message: Message) -> None:
    """Switch the setting that `what` names, "study" or "analysing" (see `study`), on or off.

    Switching "analysing" on also switches "study" on.
    """
    name = check_choice("what", message.get("what"), ("study", "analysing"))
    wishes = {name: not getattr(desk, name)}
    if wishes.get("analysing"):
        wishes["study"] = True
    study(desk, wishes)


def why(desk: Desk, message: Message) -> None:
    """Explain the message's move in the position on the board; without a move, the move that led to this position."""
    tree, node, move = desk.tree, desk.tree.current, message.get("move")
    if move is None:
        node, move = tree.nodes[node].parent, tree.nodes[node].action
    if node < 0:  # the root is on the board: no move led to it
        raise ValueError("there is no move to explain")
    engine = desk.engine()
    position = position_in(engine.env, tree.position_at(node))
    action = action_of(position, move)
    with engine.turns:
        explanation = explain(position, action, engine.evaluator, threads=1)
    desk.send(why_message(node, explanation))


def review(desk: Desk, message: Message) -> None:
    """Search every position of the current line that has fewer than `readouts` visits, for the page's graph."""
    readouts = check_int("readouts", message.get("readouts", 1), 1, most_readouts(desk.tree.env))
    nodes = [number for number in desk.tree.line() if desk.tree.nodes[number].visits < readouts]
    desk.job = DeskJob("review", nodes, MoveLimit(readouts)) if nodes else None
    desk.tell_state()


def stop(desk: Desk, message: Message) -> None:
    """Stop whatever the engine is doing."""
    desk.stop()
    desk.analysing = False
    desk.tell_state()


def save(desk: Desk, message: Message) -> None:
    """Send the game as a file: SGF for Go, with variations and analysis; JSON for other games."""
    name, text = save_file(desk.tree, {side: desk.name_of(side) for side in (1, -1)})
    desk.send({"type": "file", "name": name, "text": text})


def open_game(desk: Desk, message: Message) -> None:
    """Open a saved game; the message has the text of its file."""
    text = message.get("text")
    if not isinstance(text, str) or len(text) > MOST_MESSAGE:
        raise ValueError(f"a file must be a text of at most {MOST_MESSAGE} letters, got {shown(text)}")
    tree, names = open_file(text, desk.bases)
    show(desk, tree, names)


def open_run_game(desk: Desk, message: Message) -> None:
    """Open a game of self-play or of a match, from one of the runs that the server shows."""
    if desk.runs is None:
        raise ValueError("no run was given to this server: alphago web runs/a shows one")
    tree, names = desk.runs.open_game(message.get("run"), message.get("game"))
    show(desk, tree, names)


def show(desk: Desk, tree: GameTree, names: Mapping[int, str]) -> None:
    """Put an opened game on the board, with persons on both sides; names: the players' names by side."""
    desk.players = {1: HUMAN, -1: HUMAN}
    desk.set_game(tree, names)
    desk.look()
    desk.tell_state()
    if tree.remarks:
        text = " ".join(f"{remark[0].upper()}{remark[1:]}." for remark in tree.remarks)
        desk.send(NoticeMessage(type="notice", kind="hint", text=text))


COMMANDS: dict[str, Callable[[Desk, Message], None]] = {
    "hello": hello,
    "new": new_game,
    "players": set_players,
    "play": play,
    "resign": resign,
    "dead": dead,
    "all-alive": all_alive,
    "undo": undo,
    "redo": redo,
    "go": go_to,
    "step": step,
    "variation": variation,
    "strength": set_strength,
    "move": move_now,
    "teach": teach,
    "study": study,
    "toggle": toggle,
    "why": why,
    "review": review,
    "stop": stop,
    "save": save,
    "open": open_game,
    "run-game": open_run_game,
}
