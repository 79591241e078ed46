"""The files of the page without a browser: sizes, types, what they load, colours that the colour-blind tell apart."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphago import ConnectFourEnv, OwareEnv
from alphago.env.games import GAMES
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.ui.web.guard import MOST_MESSAGE
from alphago.ui.web.page_files import STATIC, bundle, list_imports, module_text, without_comments
from tests.ui.clients.installed import node
from tests.ui.web.desks import Guest

# The colours of moves, from the best move to a blunder.
LOSSES = json.loads(re.findall(r"const LOSSES = (\[.*\]);", module_text("candidates"))[0])
# Vienot, Brettel and Mollon 1999: linear RGB as people without long-wave, or without middle-wave cones see it.
BLINDNESS = {
    "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def shares(colour: str) -> np.ndarray:
    """The red, green and blue of `#rrggbb` or `#rgb`, 0 to 1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return np.array([int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)])


def linear(colours: np.ndarray) -> np.ndarray:
    """Shares of light."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("blindness", [None, *BLINDNESS])
def test_the_colours_of_moves_stay_apart_for_the_colour_blind(blindness: str | None) -> None:
    """By the CIE's distance in Lab, of which 2 to 3 are just noticed; beside them every number says the same."""
    light = linear(np.array([shares(colour) for colour in LOSSES]))
    if blindness:
        light = np.clip(light @ np.array(BLINDNESS[blindness]).T, 0, 1)
    xyz = light @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    root = np.cbrt(xyz / [0.9505, 1, 1.089])
    lab = np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)
    distances = np.linalg.norm(lab[:, None] - lab[None], axis=2)
    assert distances[~np.eye(len(lab), dtype=bool)].min() > 12


def test_mistakes_do_not_have_the_colours_of_good_moves() -> None:
    """Good moves are blue, mistakes yellow to orange; what is a mistake follows from the same classes."""
    (first,) = re.findall(r"const MISTAKE = (\d);", module_text("candidates"))
    is_blue = [shares(colour)[2] > shares(colour)[0] for colour in LOSSES]
    assert is_blue == [at < int(first) for at in range(len(is_blue))]
    assert ">= MISTAKE" in module_text("losses")


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast of two colours, as WCAG 2.2 defines it: 1 for equal ones, 21 for black on white."""
    darker, lighter = sorted(linear(np.stack([one, other])) @ [0.2126, 0.7152, 0.0722] + 0.05)
    return float(lighter / darker)


def test_marks_and_numbers_stand_out_from_the_board() -> None:
    """Marks by 3 (WCAG 1.4.11), in the light and in the dark theme; names and numbers by 4.5 (1.4.3)."""
    style = (STATIC / "board.css").read_text()
    wood, lines, labels = (
        [shares(colour) for colour in re.findall(rf"--{name}: (#\w{{6}})", style)]
        for name in ("wood", "wood-line", "label")
    )
    assert len(wood) == len(lines) == len(labels) == 2
    for mark in ("disc", "best", "better", "ko", "cursor"):
        colour = shares(re.findall(rf"\.ag-{mark} {{[^}}]*stroke: (#\w+)", style)[0])
        assert min(contrast(colour, one) for one in wood) >= 3, mark
    assert all(contrast(*both) >= 3 for both in zip(lines, wood, strict=True))
    assert all(contrast(*both) >= 4.5 for both in zip(labels, wood, strict=True))
    first, *others = map(shares, LOSSES)
    assert contrast(first, np.ones(3)) >= 4.5
    assert all(contrast(colour, np.zeros(3)) >= 4.5 for colour in others)


def test_the_files_of_the_page_are_small_and_load_nothing_from_elsewhere() -> None:
    files = {path.name: path.read_text() for path in STATIC.iterdir()}
    sent = [without_comments(bundle("page")), *(files[name] for name in files if name.endswith(".css"))]
    assert sum(len(text.encode()) for text in sent) < 150_000
    for name, text in files.items():
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), name


def test_the_board_alone_knows_no_server() -> None:
    """Another page may draw with it: what it imports carries no messages and is not the column beside it."""
    assert {"desk", "queries", "column", "app"}.isdisjoint(list_imports("board", []))


def computed(folder: Path, module: str, call: str) -> Any:
    """What a call of a module's exports returns in Node.js, which has no page."""
    (folder / "module.mjs").write_text(f"globalThis.matchMedia = () => ({{}});\n{bundle(module)}")
    (folder / "call.mjs").write_text(f'import * as page from "./module.mjs";console.log(JSON.stringify(await {call}));')
    told = subprocess.run([node(), folder / "call.mjs"], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


# What the status line says: a long search says how long it will take; chance and lead that name different sides are
# unclear.
LINE_SAYS = """(({ win, score, busy, analysis = null, waited = 0, ready = false, ...thought }) => {
    const node = { win, score, analysis, visits: 9 };
    const view = { sides: ["Black", "White"] };
    const tree = { node, result: null, nodes: [node], position: { moves: 0, toPlay: 1 }, side: () => "Black", view };
    const known = { limit: thought.limit, thought: thought.readouts ? thought : null };
    const job = busy ? { nodes: [0], began: performance.now() - waited, ...known } : null;
    const desk = { jobs: { busy, job, found: ready }, result: null, status: "", study: !busy, tree };
    const { rest, share = 0 } = page.wordsOf({ desk, isHumansTurn: () => false });
    return [rest, share];
})"""
# Of how many visits moves are shown: at most six, none with less than a thirtieth of the best one's or with one,
# unless that has hardly any.
SHOWN = "((moves) => page.shownMoves({ moves: moves.map((visits) => ({ visits })) }).map(({ visits }) => visits))"
# The numbers on the discs: a move that looks no worse than the best, by fewer visits, has the best one's number; no
# value, no number.
VALUES = [(90, 0.6, 2.0), (60, 0.6, 2.0), (50, 0.6, 2.0), (40, 0.58, 1.6), (0, None, None)]
MOVES = [{"move": i, "visits": n, "prior": 0.1, "win": win, "score": score} for i, (n, win, score) in enumerate(VALUES)]
NUMBERS = f"""(([mode, small]) => ({json.dumps(MOVES)}).map((one, _, [best]) =>
    page.numbersOf(one, best, mode, small).join(" ")))"""
# The values of all moves in a list, after a move was played after which the search has these means.
PLAYED = f"""(([move, mean]) => {{
    const moves = {json.dumps(MOVES)}, after = {{ mover: 1, move, win: null, analysis: mean && {{ mean }} }};
    const nodes = [{{ node: 0, win: 0.6, score: 2, children: [1] }}, after];
    const {{ moves: shown }} = page.asPlayed({{ mover: 1, moves }}, nodes[0], nodes);
    return shown.map(({{ win, score }}) => [win, score].map((one) => one && +one.toFixed(6)));
}})"""
WORTH = [[win, score] for _, win, score in VALUES]  # of each move in the list
PRIORS = "((priors) => priors.map((prior) => page.priorText(prior)))"
# The discs of two moves of which little is known: how many have a ring, and the numbers.
DISCS = """(([prior, visits, win, mode]) => {
    globalThis.document = { createElementNS: () => ({ dataset: {}, append(...all) { this.all = all; },
        setAttribute(name, value) { this[name] = value; } }) };
    const moves = [0.2, prior].map((one, move) => ({ move, visits, win, score: null, prior: one }));
    const cells = moves.map((_, i) => [i, 0]), places = cells.map((_, i) => [i]);
    const game = { cells, places: [places, places], names: cells.map(String), stone: 0.5 };
    const scene = { view: { stones: "...", legal: [] }, mode, analysis: { mover: 1, moves } };
    const shown = page.overlays(game, scene, { hovered: null, line: null, chosen: null, walks: false, small: false });
    const rings = shown.filter(one => one.class === "ag-best").length;
    return [rings, ...shown.filter(one => one.all.length).map(one => one.all.join(""))];
})"""
LOSS = "((loss) => [page.lossText(loss), page.lossText(loss, true)])"
# How many moves without visits are shown: none is left out that is like one that is shown.
LIKELY = "((priors) => page.likely(priors, new Set()).length)"
# What a reply to random games tells of a position's value and the best move's: nothing below 50 visits, then first
# the mean of all, then the best one's.  A network knows without a search.
REPLY = """(([priors, found]) => {
    const infos = found.map(([move, visits, winrate]) => ({ move: String(move), visits, winrate, prior: 0.1, pv: [] }));
    const visits = 1 + found.reduce((sum, [, count]) => sum + count, 0);
    const root = { visits, winrate: 0.5, currentPlayer: "W" };
    const names = priors.map((_, i) => String(i));
    const { mean, moves, win } = page.analysisOf({ moveInfos: infos, rootInfo: root, policy: priors }, names);
    return [win, mean, moves.map((move) => move.win)];
})"""
# Black's chance and lead after D4, and whether few visits say so, by the list of moves before it, and its own visits.
JUDGED = """(([listed, visits]) => {
    const moves = listed.map(([name, visits, win, score]) => ({ move: Number(name === "D4"), visits, win, score }));
    const before = 1 + moves.reduce((sum, one) => sum + one.visits, 0);
    const node = { move: 1, mover: 1, visits, win: 0.4, score: -1, analysis: { mean: [0.4, -1] } };
    return page.worthOf({ visits: before, analysis: { mover: 1, moves } }, node);
})"""
# The faults that are told of a server that is lost, and once it answers again, with nothing new.
WATCHED = """(async (watch) => {
    Object.assign(Object.setPrototypeOf(watch, page.Watch.prototype), { draw() {} });
    await watch.update(); // Node.js cannot fetch it
    const lost = watch.fault;
    globalThis.fetch = async () => ({ json: () => ({}) });
    return watch.update().then(() => [lost.split(";")[0], watch.fault]);
})"""
# What a page hears, and how long it waits, that is one too many, and then asks more than the server takes.
CARRIED = """((letters) => {
    const [sockets, told] = [[], []];
    const setTimeout = (open, pause) => told.push(pause) < 4 && open();
    Object.assign(globalThis, { location: {}, setTimeout, WebSocket: class { constructor() { sockets.push(this); } } });
    const carrier = page.socketCarrier(({ status, error }) => told.push(status || error.slice(0, 6)), () => {});
    for (const socket of sockets) socket.onclose(socket.onmessage({ data: '{"error": "full"}' }));
    carrier.send({ id: 1, text: "x".repeat(letters) });
    return told;
})"""
# The time that each side has thought, by states of the desk: when, whether one studies or it is over, the moves.
THOUGHT = """((states) => states.reduce((clock, [now, study, over, moves, steps]) => {
    Date.now = () => now;
    clock.look({ study, tree: { over, position: { moves, toPlay: moves % 2 ? -1 : 1 } } }, steps, !now);
    return clock;
}, new page.Clock()).spent)"""
STATES = [[0, 0, 0, 0, 1], [5, 0, 0, 1, 1], [7, 1, 0, 1, 0], [9, 0, 0, 1, 0], [10, 0, 1, 1, 0]]


MOVING = {"busy": "move"}
LONG = "750/90k visits · 21 min left"
BEGINS = "getting ready; the first time takes some seconds …"


@pytest.mark.parametrize(
    ("module", "function", "given", "told"),
    [
        ("status_line", LINE_SAYS, {"win": 0.525, "score": -0.8}, ["Unclear: Black 52.5 %, W+0.8", 0]),
        ("status_line", LINE_SAYS, {"win": 0.475, "score": 0.8}, ["Unclear: Black 47.5 %, B+0.8", 0]),
        ("status_line", LINE_SAYS, {"win": 0.525, "score": 0.8}, ["Black 52.5 %, B+0.8", 0]),
        ("status_line", LINE_SAYS, {"win": 0.525, "score": None}, ["Black 52.5 %", 0]),
        ("status_line", LINE_SAYS, {"win": None}, ["This position was not evaluated yet.", 0]),
        ("status_line", LINE_SAYS, {"win": None, "analysis": {"visits": 33}}, ["33 visits: too few to judge", 0]),
        ("status_line", LINE_SAYS, {**MOVING, "readouts": 750, "limit": 90_000, "rate": 70}, [LONG, 1 / 120]),
        ("status_line", LINE_SAYS, {**MOVING, "readouts": 64, "limit": 200, "rate": 400}, ["64/200 visits", 0]),
        ("status_line", LINE_SAYS, {**MOVING, "readouts": 64, "limit": None, "rate": 1}, ["64 visits", 0]),
        ("status_line", LINE_SAYS, {**MOVING, "waited": 100}, ["thinking …", 0]),
        ("status_line", LINE_SAYS, {**MOVING, "waited": 60_000}, [BEGINS, 0]),
        ("status_line", LINE_SAYS, {**MOVING, "waited": 60_000, "ready": True}, ["thinking …", 0]),
        ("candidates", SHOWN, [256, 58, 35, 18, 15, 9, 8, 6], [256, 58, 35, 18, 15, 9]),
        ("candidates", SHOWN, [256, 58, 6, 9], [256, 58, 9]),
        ("candidates", SHOWN, [24, 3, 1, 2], [24, 3, 2]),
        ("candidates", SHOWN, [2, 1, 0, 0], [2, 1, 0, 0]),
        ("candidates", NUMBERS, ["loss", False], ["0 90", "≈0 60", "≈0 50", "−0.4 40", " "]),
        ("candidates", NUMBERS, ["loss", True], ["0 ", "≈0 ", "≈0 ", "0 ", " "]),
        ("candidates", NUMBERS, ["q", False], [".20 ", "≈.20 ", "≈.20 ", ".16 ", " "]),
        ("candidates", NUMBERS, ["visits", False], ["90 ", "60 ", "50 ", "40 ", " "]),
        ("candidates", PRIORS, [0.0004, 0.0005, 0.0049], ["<0.1", "0.1", "0.5"]),
        ("overlays", DISCS, [0.2, 6, None, "loss"], [0]),  # too few random games tell neither a loss nor which is best
        ("overlays", DISCS, [0.2, 6, None, "visits"], [0, "6", "6"]),
        ("overlays", DISCS, [0.2, 60, 0.5, "loss"], [1, "≈0", "60", "0", "60"]),
        ("overlays", DISCS, [0.1, 6, 0.5, "loss"], [1, "≈0", "6", "0", "6"]),
        ("overlays", DISCS, [0.1, 0, None, "loss"], [1, "10%", "20%"]),
        ("losses", LOSS, {"win": 0.1, "points": 2.84}, ["−2.8", "−2.8 points"]),
        ("losses", LOSS, {"win": 0.1, "points": 2.84, "rough": True}, ["≈−3", "about −3 points"]),
        ("losses", LOSS, {"win": 0.1, "points": None, "rough": True}, ["≈−10\u00a0%", "about −10\u00a0%"]),
        ("losses", LOSS, {"win": 0.001, "points": None}, ["0", "0"]),
        # More visits after the move, more before it, and the best move, which loses nothing.
        ("losses", JUDGED, [[["C3", 90, 0.6, 2], ["D4", 9, 0.5, 0]], 60], {"mean": [0.4, -1], "rough": False}),
        ("losses", JUDGED, [[["C3", 90, 0.6, 2], ["D4", 70, 0.5, 0]], 60], {"mean": [0.5, 0], "rough": False}),
        ("losses", JUDGED, [[["D4", 55, 0.6, 2], ["C3", 40, 0.6, 2]], 60], {"mean": [0.6, 2], "rough": False}),
        ("losses", JUDGED, [[["C3", 90, 0.6, 2]], 1], {"mean": [0.4, -1], "rough": True}),
        ("losses", JUDGED, [[["C3", 9, 0.6, 2]], 60], {"mean": [0.4, -1], "rough": True}),
        ("losses", JUDGED, [[], 60], {"mean": [0.4, -1], "rough": True}),
        ("losses", PLAYED, [1, [0.45, -0.8]], [WORTH[0], [0.45, -0.8], *WORTH[2:]]),
        ("losses", PLAYED, [1, [0.7, 3.5]], WORTH),  # none reads better than the best
        ("losses", PLAYED, [0, [0.45, -0.8]], WORTH),  # which loses nothing
        ("losses", PLAYED, [1, None], WORTH),
        ("replies", LIKELY, [0.98, 0.0053, 0.005, 0.0036, 0.0001], 4),  # four alike, one of them below the limit
        ("replies", LIKELY, [0.0001, 0.0036, 0.98, 0.0053, 0.005], 4),
        ("replies", LIKELY, [0.9, 0.09, 0.002], 2),
        ("replies", LIKELY, [0.004, 0.004], 0),
        ("replies", REPLY, [[0.5, 0.5], [[1, 48, 0.75]]], [None, None, [None, None]]),
        ("replies", REPLY, [[0.5, 0.5], [[1, 49, 0.75]]], [0.5, [0.5, None], [None, None]]),
        ("replies", REPLY, [[0.5, 0.5], [[1, 400, 0.75]]], [0.75, [0.5, None], [0.25, None]]),
        ("replies", REPLY, [[0.6, 0.4], []], [0.5, [0.5, None], [None, None]]),
        ("watch", WATCHED, {}, ["The server does not answer", ""]),
        ("socket_carrier", CARRIED, MOST_MESSAGE, ["full", "full", 250, "full", "full", 500, "A file"]),
        ("players", THOUGHT, STATES, [5, 3]),
    ],
)
def test_what_is_told(tmp_path: Path, module: str, function: str, given: Any, told: Any) -> None:
    found = computed(tmp_path, module, f"{function}({json.dumps(given)})")
    assert found == ([told[0], pytest.approx(told[1])] if function == LINE_SAYS else told)


# Of each position: what its search says of it and of its best move.
LINE = [(0.5, 1, [0.4, 0]), (0.93, 9, [0.79, 4]), (0.33, None, [0.95, 9.5]), (None, None, [0.91, None]), (0.6, 2, None)]


def test_the_graph_falls_by_what_each_move_loses(tmp_path: Path) -> None:
    """Another line goes on to what the search of each position finds, and on where no search has been."""
    said = [{"win": win, "score": score, "analysis": {"mean": mean}} for win, score, mean in LINE]
    line = json.dumps([{"node": i, "move": i, "mover": 1 - 2 * (i % 2), **one} for i, one in enumerate(said)])
    curves, losses = computed(tmp_path, "losses", f"[page.curvesOf({line}), page.lossesOf({line})]")
    falls = [(end[0], (1 - 2 * (end[0] % 2)) * (begin[1] - end[1])) for begin, end in curves["moves"]]
    assert falls == [(loss["number"], pytest.approx(loss["win"])) for loss in losses]
    assert [loss["win"] for loss in losses] == pytest.approx([0.29, 0, 0.58])  # no move gains
    wins = [[0, 0.5], [1, 0.79], [1, 0.93], [2, 0.93], [2, 0.33], [3, 0.91], [4, 0.6]]
    assert np.array(curves["wins"]) == pytest.approx(np.array(wins))
    assert np.array(curves["leads"]) == pytest.approx(np.array([[0, 1], [1, 4], [1, 9], [2, 9], [4, 2]]))


def typedefs() -> dict[str, tuple[set[str], set[str]]]:
    """The properties of each object in wire.js: all, and those that may be missing."""
    found = {}
    for block in re.findall(r"/\*\*.*?\*/", (STATIC.parent / "wire.js").read_text(), re.DOTALL):
        if told := re.search(r"@typedef \{\{(.*)\}\} (\w+)", block, re.DOTALL):
            properties = re.findall(r"(\w+)(\??):\s", told[1])
            found[told[2]] = {one for one, _ in properties}, {one for one, optional in properties if optional}
    return found


@pytest.mark.parametrize("env", [None, ConnectFourEnv(), OwareEnv(60), TicTacToeEnv()])
def test_what_is_told_has_the_names_that_the_script_knows(env: Any) -> None:
    known = typedefs()

    def fits(view: dict[str, Any], name: str) -> bool:
        every, optional = known[name]
        return every - optional <= view.keys() <= every

    with Guest(**({} if env is None else {"env": env})) as guest:
        guest.post("new")
        game = guest.until("game")["game"]
        assert fits(game, "GameView")
        assert all(fits(option, "OptionView") for option in game["options"])
        assert fits(guest.until("state")["view"], "PositionView")


def test_the_page_knows_no_game() -> None:
    """What it draws, and what it asks for a new game, comes from `GameEnv.board_view` and `GameEnv.options`."""
    for path in STATIC.glob("*.js"):
        text = path.read_text()
        for name, game in GAMES.items():
            assert not re.search(rf"[=!]==?\s*[\"']{name}[\"']", text), (path.name, name)
            assert name == "go" or (name not in text and str(game.title) not in text), (path.name, name)
        assert not re.search("komi|handicap|Chinese", text, re.IGNORECASE), path.name
