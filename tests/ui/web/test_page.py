"""The page in a real browser: every game to its end, study, files, runs, reconnects, errors; an empty console."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alphago import GoEnv, OwareEnv, load_model, train
from alphago.env.games import GAMES
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.training.runs.config import read_config, write_config
from alphago.ui.web import page_actions
from alphago.ui.web.engines import Choice, Engines
from tests.ui.own_games import LeaningEnv, RingEnv
from tests.ui.web.browser import PATIENCE, Visitor
from tests.ui.web.desks import GO5, engines
from tests.ui.web.served import serving
from tests.ui.web.test_runs import SMALL

pytestmark = pytest.mark.browser


# Waits until the status line has changed, and the game is over or a person is to move; then its text, and the middle of
# what is to be clicked: the first legal point, or Pass where there is none.
NEXT = """([before, patience]) => new Promise((done, hangs) => {
    const status = document.querySelector(".ag-status");
    setTimeout(() => hangs(status.textContent), patience);
    const look = () => {
        const text = status.textContent;
        if (text === before || !/your move|wins|draw/i.test(text)) return requestAnimationFrame(look);
        const target = document.querySelector(".ag-target.ag-open") || document.querySelector("[data-name=pass]");
        const box = target.getBoundingClientRect();
        done([text, box.x + box.width / 2, box.y + box.height / 2]);
    };
    look();
})"""


# The numbers that reach over the rim of the disc that they are on: digits are 0.73 of their size high.
WIDE = """[...document.querySelectorAll(".ag-value, .ag-visits")].filter(number => {
    const [x, y, size] = ["x", "y", "font-size"].map(name => +number.getAttribute(name));
    const inColumn = [...document.querySelectorAll(`.ag-disc[cx="${x}"]`)];
    const far = inColumn.map(disc => [Math.abs(disc.getAttribute("cy") - y), +disc.getAttribute("r")]);
    const on = far.filter(([distance]) => distance < 9);
    return on.length !== 1 || Math.hypot(number.getBBox().width / 2, on[0][0] + 0.36 * size) > on[0][1];
}).map(number => number.textContent)"""


# Of the list of moves: its columns, how much of a row is cut at its top, and whether the move on the board is in view.
LISTED = """() => {
    const list = [...document.querySelectorAll(".ag-played")].find(one => one.getClientRects().length);
    const parts = [list, list.querySelector(".ag-here-row"), list.firstChild];
    const [inside, here, row] = parts.map(one => one.getBoundingClientRect());
    return [getComputedStyle(list).gridTemplateColumns.split(" ").length, Math.round(list.scrollTop % row.height),
        here.top >= inside.top - 1 && here.bottom <= inside.bottom + 1];
}"""
# Of each list of a study, of moves that were played and of moves to play: its whole rows, and whether one is cut.
WHOLE = """() => [".ag-study .ag-played", ".ag-study > .ag-fit > div"].map((name) => {
    const list = document.querySelector(name);
    const [inside, row] = [list, list.querySelector("li, tr")].map(one => one.getBoundingClientRect());
    const pane = document.querySelector(".ag-pane").getBoundingClientRect();
    const rows = inside.height / row.height;
    const cut = list.scrollHeight > list.clientHeight && Math.abs(rows - Math.round(rows)) > 0.04;
    return [Math.floor(rows + 0.04), cut || inside.bottom > pane.bottom];
})"""
FULL = "#game=go&board_size=5&komi=0.5&rules=Chinese&moves="
FULL += ".".join(f"{column}{1 + row}.{column}{5 - row}" for row in (0, 1) for column in "ABCDE")


@pytest.fixture
def visitor(chromium: Any) -> Iterator[Visitor]:
    """Of a board of 5x5 on which one person plays both sides."""
    with serving() as served, Visitor(chromium, served.address) as visitor:
        visitor.part("white").select_option("human")
        yield visitor


def finish(visitor: Visitor) -> None:
    """Click the first legal point until the game is over; an engine that is to move is waited for."""
    text = ""
    for _ in range(100):
        text, x, y = visitor.page.evaluate(NEXT, [text, PATIENCE])
        if "your move" not in text:
            return
        visitor.page.mouse.click(x, y)
    raise AssertionError(text)


def play_again_with_a_handicap(visitor: Visitor) -> None:
    visitor.begin("go", "both", board_size="7", handicap="2")
    visitor.part("resign").click()
    visitor.part("again").click()
    visitor.says("Move 1: White")


def test_a_game_of_go_against_the_engine_to_its_end(chromium: Any) -> None:
    small = {"go": GoEnv(3, komi=0.5, max_moves=24).match_variant()}
    with serving(small) as served, Visitor(chromium, served.address, still=True) as visitor:
        visitor.readouts(8)
        visitor.click("B2")
        visitor.says("Move 3: Black to play")
        assert visitor.stones()[0] == 1
        finish(visitor)
        visitor.part("undo").click()
        visitor.says("your move")
        visitor.part("resign").click()
        visitor.says("White wins by resignation.")
        visitor.menu()
        visitor.part("how").select_option("net")
        visitor.expect(visitor.part("readouts")).to_be_hidden()
        visitor.menu()
        visitor.begin("go", "neither", board_size="3")  # the network alone, against itself
        visitor.says("wins")


@pytest.mark.slow
@pytest.mark.parametrize("game", [name for name in GAMES if name != "go"])
def test_every_other_game_to_its_end(chromium: Any, game: str) -> None:
    sizes = {"gomoku": {"board_size": "5", "connect_row": "3"}, "reversi": {"board_size": "4"}}
    usual_games = {"go": GO5, "oware": OwareEnv(24)}
    offered = Engines([Choice(name, HashEvaluator(), name) for name in GAMES])
    with serving(usual_games, offered=offered) as served, Visitor(chromium, served.address, still=True) as visitor:
        visitor.begin(game, "black", **sizes.get(game, {}))
        visitor.readouts(2)
        finish(visitor)


@pytest.mark.slow
def test_levels_lessons_and_reasons(chromium: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slider, an engine that follows the person, a bad move that is taken back or stays, and why of any move."""
    monkeypatch.setattr(page_actions, "READOUTS", 16)  # enough for a first move on the edge
    net = load_model("7x7")
    go, offered = {"go": net.env.match_variant()}, engines(net.forecast_evaluator())
    with serving(go, offered=offered) as served, Visitor(chromium, served.address) as visitor:
        opponent, reasons = visitor.page.locator(".ag-opponent"), visitor.part("reasons")
        visitor.part("level").fill("2")
        visitor.expect(opponent).to_contain_text("not measured with this network")  # an evaluator has no digest
        visitor.part("teach").check()
        visitor.click("A1")
        visitor.expect(reasons).to_contain_text(re.compile(r"Move 1, Black A1: −\d+\.\d points; better: [A-G][1-7]"))
        better = visitor.page.locator(".ag-better.ag-black")  # what Black should have played looks like Black's stone
        visitor.expect(better).to_have_count(1)
        visitor.part("lesson-undo").click()
        visitor.expect(visitor.part("lesson-undo")).to_be_hidden()
        assert visitor.stones() == (0, 0)
        visitor.part("even").check()
        visitor.expect(visitor.part("level")).to_be_disabled()
        visitor.click("A1")  # whatever an engine of this strength would answer, the first move loses much
        visitor.expect(visitor.part("lesson-move")).to_be_visible()
        visitor.part("lesson-move").click()
        visitor.says("Move 3: Black to play")
        visitor.expect(visitor.page.locator(".ag-time").first).to_contain_text("used")
        visitor.expect(opponent).to_contain_text("You have made 1 of 5 moves")
        visitor.part("study").click()
        visitor.part("played").get_by_role("button", name="1 Black A1").click()
        visitor.says("Move 2: White to play")
        visitor.part("why").click()
        visitor.expect(reasons).to_contain_text("Move 1, Black A1")


AS_LISTED = """() => {
    const texts = (selector, text) => [...document.querySelectorAll(selector)].map(text).sort().join(" ");
    const listed = texts(".ag-moves b", (one) => one.textContent).replace(/ *pass/, "");
    return listed && listed === texts(".ag-disc", (one) => one.dataset.move);
}"""


def test_study_undo_and_variations(visitor: Visitor) -> None:
    visitor.part("study").click()
    visitor.expect(visitor.part("review")).to_be_disabled()  # there are no moves
    visitor.part("play").click()
    visitor.expect(visitor.part("tree")).to_be_hidden()  # off while playing
    visitor.click("C3", "C4", "D4")
    visitor.says("Move 4")
    visitor.press("u", "u")
    visitor.says("Move 2")
    visitor.expect(visitor.part("redo")).to_be_enabled()
    visitor.click("B2")
    visitor.part("study").dblclick()  # the second click comes before the answer to the first: it is no way back
    visitor.expect(visitor.page.locator(".ag-knot")).to_have_count(5)
    visitor.expect(visitor.part("redo")).to_be_disabled()
    visitor.expect(visitor.page.get_by_label("next mistake")).to_be_disabled()
    visitor.press("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowUp", "ArrowDown")  # faster than any answer
    visitor.expect(visitor.page.locator(".ag-current")).to_have_attribute("data-node", "4")
    visitor.press("a")
    visitor.expect(visitor.page.locator(".ag-best")).to_have_count(1)
    visitor.expect(visitor.page.locator(".ag-moves [data-action]")).to_have_count(6)
    visitor.press("Escape")
    visitor.expect(visitor.part("stop")).to_be_disabled()
    visitor.page.wait_for_function(AS_LISTED)  # states of the positions that were passed may still come
    visitor.expect(visitor.page.get_by_text("territory", exact=True)).to_be_hidden()  # the network forecasts none
    visitor.expect(visitor.page.get_by_role("columnheader", name="policy")).to_be_visible()
    for mode in ("visits", "prior", "q", "sum", "loss", "none"):
        visitor.part("mode").select_option(mode)
        numbers = visitor.expect(visitor.page.locator(".ag-value"))
        (numbers.to_have_count if mode == "none" else numbers.not_to_have_count)(0)
        assert visitor.page.evaluate(WIDE) == []
    visitor.page.locator(".ag-moves [data-action]").first.hover()
    visitor.expect(visitor.page.locator(".ag-ghost").first).to_be_visible()
    visitor.page.mouse.move(2, 2)
    visitor.expect(visitor.page.locator(".ag-ghost")).to_have_count(0)
    visitor.press("k")
    visitor.expect(visitor.page.locator(".ag-number").first).to_be_visible()
    visitor.menu()
    visitor.part("legend").locator("summary").click()
    visitor.expect(visitor.part("legend")).to_contain_text("Black's chance to win")
    visitor.expect(visitor.part("legend")).to_contain_text("more than 12 points")
    visitor.menu()
    visitor.part("review").click()
    visitor.page.locator(".ag-graph").click(position={"x": 40, "y": 40})
    visitor.says("Move 1:")


def test_the_keyboard_alone(chromium: Any) -> None:
    with serving() as served, Visitor(chromium, served.address) as visitor:
        visitor.press("n", "Enter")
        visitor.says("Move 1")
        visitor.part("white").select_option("human")
        visitor.page.locator("body").click(position={"x": 5, "y": 5})
        visitor.press("Shift+ArrowUp", "Enter")  # the cursor comes up in the middle
        visitor.says("Move 2")
        visitor.press("Shift+ArrowLeft", "Enter", "p", "p")
        visitor.says("wins")
        visitor.press("Home", "End", "ArrowLeft", "ArrowLeft")
        visitor.says("Move 3")
        typed = visitor.part("typed")
        visitor.press("/")
        visitor.expect(typed).to_be_focused()
        typed.fill("a1")
        typed.press("Enter")
        visitor.says("Move 4")
        assert visitor.stones() == (2, 1)
        for letters, move in (("uncheck", "Move 3"), ("check", "Move 2")):
            getattr(visitor.part("letters"), letters)()
            visitor.press("End")
            visitor.says("Move 4")
            visitor.press("u", "ArrowLeft")  # without letters only the arrow does something
            visitor.says(move)


@pytest.mark.slow
def test_lines_by_keyboard_cursor_and_mouse(visitor: Visitor) -> None:
    """A mouse that rests points at nothing, though the board is drawn anew below it: what a key shows stays."""
    ghosts, listed = visitor.page.locator(".ag-ghost"), visitor.page.locator(".ag-moves [data-action]")
    visitor.page.locator("body").click(position={"x": 5, "y": 5})
    visitor.press("a", "a", "a")  # faster than any answer: on, off, on
    visitor.expect(listed).to_have_count(6)
    visitor.expect(visitor.part("mode")).to_have_value("loss")  # until a move has five visits: "prior"
    visitor.press("Escape")
    visitor.expect(visitor.part("stop")).to_be_disabled()
    best = int(listed.first.get_attribute("data-action"))
    visitor.page.mouse.move(**visitor.middle(GO5.to_text(best)))
    visitor.expect(ghosts.first).to_be_visible()
    visitor.press("Escape", "k", "k")
    visitor.page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 100))")
    assert ghosts.count() == 0
    for key in ("1", "2"):
        visitor.press(key)
        visitor.expect(ghosts.first).to_be_visible()
        visitor.expect(visitor.page.locator(f".ag-moves tr:nth-child({key}).ag-chosen")).to_have_count(1)
    visitor.press("2")
    visitor.expect(ghosts).to_have_count(0)
    column, row = best % 5, best // 5
    visitor.press("Shift+ArrowLeft")  # the cursor comes up in the middle
    visitor.press(*["Shift+ArrowRight"] * ((column - 2) % 5), *["Shift+ArrowDown"] * ((row - 2) % 5))
    visitor.expect(visitor.page.locator(f".ag-moves tr[data-action='{best}'].ag-chosen")).to_have_count(1)
    visitor.expect(ghosts.first).to_be_visible()
    visitor.press("d")
    visitor.expect(visitor.part("mode")).to_have_value("visits")
    visitor.press("Escape", "Enter")
    visitor.says("Move 2")
    # A press counts though the board is drawn anew before its release, as by a key here, unless it ends elsewhere.
    visitor.page.mouse.move(**visitor.middle("B1" if GO5.to_text(best) == "A1" else "A1"))
    visitor.page.mouse.down()
    visitor.press("k")
    visitor.page.mouse.up()
    visitor.says("Move 3")
    visitor.page.mouse.down()
    visitor.page.mouse.move(2, 2)
    visitor.page.mouse.up()
    visitor.press("Escape")
    visitor.says("Move 3")


@pytest.mark.slow
def test_a_finger(chromium: Any) -> None:
    """A tap plays; a finger that stays on a move shows its line until it goes, and does not play."""
    with serving() as served, Visitor(chromium, served.address, 390, 780, touch=True) as visitor:
        visitor.part("white").select_option("human")
        visitor.part("study").tap()
        visitor.part("analyse").tap()
        visitor.expect(visitor.page.locator(".ag-moves [data-action]")).to_have_count(6)
        visitor.part("stop").tap()
        visitor.expect(visitor.part("stop")).to_be_disabled()
        actions = "rows => rows.map(row => +row.dataset.action)"
        listed = visitor.page.locator(".ag-moves [data-action]").evaluate_all(actions)
        spot = visitor.middle(next(GO5.to_text(action) for action in listed if action < 25))
        fingers = visitor.context.new_cdp_session(visitor.page)
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [spot]})
        visitor.expect(visitor.page.locator(".ag-ghost").first).to_be_visible()
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        visitor.expect(visitor.page.locator(".ag-ghost")).to_have_count(0)
        visitor.says("Move 1")
        visitor.page.touchscreen.tap(spot["x"], spot["y"])
        visitor.says("Move 2")


@pytest.mark.slow
def test_a_game_of_ones_own_on_kernels_looks_as_it_says(chromium: Any) -> None:
    """A leaning frame, red and yellow stones, names of the sides; stones fall, also those of an expected line."""
    with serving({"leaning": LeaningEnv()}) as served, Visitor(chromium, served.address) as visitor:
        visitor.says("Red to play")
        visitor.part("white").select_option("human")
        visitor.click("D", "D", "D")
        visitor.says("Move 4: Yellow to play")
        drawn = "all => all.map(one => [+one.getAttribute('cx'), +one.getAttribute('cy'), getComputedStyle(one).fill])"
        red, yellow = "rgb(160, 24, 24)", "rgb(244, 208, 63)"
        pieces = visitor.page.locator(".ag-piece").evaluate_all(drawn)
        assert pieces == [[140, 220, red], [160, 180, yellow], [180, 140, red]]  # as they came
        visitor.press("a")
        visitor.expect(visitor.page.locator(".ag-moves [data-action]").first).to_be_visible()
        visitor.expect(visitor.page.get_by_role("columnheader", name="visits")).to_be_visible()
        visitor.expect(visitor.page.get_by_role("columnheader", name="policy")).to_be_hidden()  # all are equal
        visitor.press("Escape", "1")
        visitor.expect(visitor.page.locator(".ag-ghost").first).to_be_visible()
        visitor.press("Escape")
        visitor.menu()
        visitor.part("legend").locator("summary").click()
        visitor.expect(visitor.part("legend")).to_contain_text("more than 25 %")
        visitor.part("play").click()
        visitor.part("resign").click()
        visitor.says("Red wins by resignation.")


@pytest.mark.slow
def test_a_game_of_ones_own_on_no_grid(chromium: Any) -> None:
    """Cells on a ring; the action without a cell is a button; options are those that the game offers."""
    with serving({"ring": RingEnv()}) as served, Visitor(chromium, served.address) as visitor:
        visitor.part("white").select_option("human")
        visitor.click("r1")
        visitor.page.get_by_role("button", name="bell").click()
        visitor.says("Move 3: First to play")
        assert visitor.stones() == (1, 0)
        visitor.press("Shift+ArrowDown", "Shift+ArrowDown", "Enter")  # from the middle row to the next and the last
        visitor.says("Move 4: Second to play")
        assert visitor.stones() == (2, 0)
        visitor.menu()
        visitor.expect(visitor.part("save")).to_have_text("Save file")  # of Go: SGF
        visitor.part("new").click()
        assert visitor.page.locator("dialog div label").all_text_contents() == ["Cells", "bells"]
        visitor.page.locator('dialog [data-option="cells"]').fill("4")
        visitor.page.locator('dialog [data-option="bells"]').fill("1")
        visitor.part("new-colour").select_option("both")
        visitor.part("begin").click()
        visitor.says("Move 1")
        visitor.click("r1", "r2", "r3")
        visitor.says("Move 4: Second to play")
        visitor.click("r4")
        visitor.says("First wins.")


def test_files_there_and_back(visitor: Visitor, tmp_path: Path) -> None:
    visitor.click("C3", "C4")
    visitor.says("Move 3")
    with visitor.page.expect_download() as caught:
        visitor.press("s")
    path = tmp_path / caught.value.suggested_filename
    caught.value.save_as(path)
    assert "B[cc];W[cb]" in path.read_text().replace("\n", "")
    path.write_bytes(path.read_text().replace("UTF-8", "GB18030").replace("[Black]", "[古力]").encode("gb18030"))
    visitor.begin("go", "both", board_size="9")
    visitor.says("Move 1")
    visitor.part("file").set_input_files(path)
    visitor.expect(visitor.page.locator(".ag-game").first).to_have_text("Go 5x5")
    visitor.expect(visitor.page.locator(".ag-name").first).to_have_text("古力")
    visitor.press("End")
    visitor.says("Move 3")
    drop = "text => { const data = new DataTransfer(); data.items.add(new File([text], 'x.sgf'));"
    drop += "document.querySelector('.ag-board').dispatchEvent(new DragEvent('drop', {dataTransfer: data})); }"
    visitor.page.evaluate(drop, "(;SZ[7];B[aa](;W[bb])(;W[cc]))")
    visitor.expect(visitor.page.locator(".ag-game").first).to_have_text("Go 7x7")
    visitor.page.evaluate(drop, "no game")
    visitor.complains("A file must be an SGF game")
    visitor.menu()
    visitor.part("new").click()
    size = visitor.page.locator('dialog [data-option="board_size"]')
    visitor.page.locator("dialog").get_by_role("button", name="13").click()
    visitor.expect(size).to_have_value("13")
    for handicap, komi in (("4", "0.5"), ("0", "7.5")):
        visitor.page.locator('dialog [data-option="handicap"]').fill(handicap)
        visitor.page.locator('dialog [data-option="handicap"]').blur()
        visitor.expect(visitor.page.locator('dialog [data-option="komi"]')).to_have_value(komi)
    for text, stays in (("30", 1), ("9", 0)):  # an impossible size leaves all that was typed where it is
        size.fill(text)
        visitor.part("begin").click()
        assert visitor.page.locator("dialog[open]").count() == stays
    visitor.expect(visitor.page.locator(".ag-notice").first).to_be_hidden()


def test_a_link_restores_the_position_and_a_reload_the_board(visitor: Visitor, chromium: Any) -> None:
    visitor.click("C3", "C4")
    visitor.says("Move 3")
    link = visitor.page.url
    assert link.endswith("#game=go&board_size=5&komi=0.5&rules=Chinese&moves=C3.C4")
    visitor.press("u")
    visitor.says("Move 2")
    visitor.page.reload()
    visitor.says("Move 2")
    visitor.press("Space")
    visitor.expect(visitor.page.locator(".ag-knot")).to_have_count(3)  # variations too
    with Visitor(chromium, link) as other:
        other.says("Move 3")
        assert other.stones() == (1, 1)
        other.click("D4")  # a game of its own
        other.says("Move 4")
        visitor.says("Move 2")
    visitor.page.evaluate("location.hash = 'game=go&board_size=5&moves=A1.A2.A3'")
    visitor.says("Move 4")
    visitor.page.evaluate("location.hash = 'game=chess'")
    visitor.complains("There is no game 'chess'")


def test_the_connection_comes_back(chromium: Any) -> None:
    """The game is the page's; a field keeps its focus, else what is typed on would be keys of the page."""
    with serving() as served, Visitor(chromium, served.address, lines=True) as visitor:
        visitor.part("white").select_option("human")
        visitor.click("C3", "C4")
        visitor.says("Move 3")
        visitor.press("u")
        visitor.says("Move 2")
        typed = visitor.part("typed")
        visitor.lines[-1][0].send('{"status": "Loading hash for go …"}')
        visitor.says("Loading hash")
        visitor.press("/")
        visitor.expect(typed).to_be_focused()
        visitor.part("readouts").fill("77")
        visitor.lines[-1][0].send('{"status": ""}')
        visitor.says("Move 2")
        visitor.expect(visitor.part("readouts")).to_have_value("77")
        typed.focus()
        visitor.cut()
        visitor.expect(typed).to_be_focused()
        visitor.press("Escape", "y")  # what was taken back is there again
        visitor.says("Move 3")
        visitor.click("D4")
        visitor.says("Move 4")


VARIATIONS = "(;SZ[5]KM[0.5]PB[Ann]C[the root];B[aa]C[a corner](;W[bb];B[cc])(;W[dd]C[another]))"


@pytest.mark.slow
def test_a_server_that_ends_and_begins_again(chromium: Any, tmp_path: Path) -> None:
    """The page says so, keeps a file with all that is in it, and goes on, also with what it was thinking about.

    Its browser keeps nothing for a reload, which has the link.
    """
    with serving() as served:
        visitor = Visitor(chromium, served.address, forgets=True)
        visitor.says("to play")
        (tmp_path / "a.sgf").write_text(VARIATIONS)
        visitor.part("file").set_input_files(tmp_path / "a.sgf")
        visitor.expect(visitor.page.locator(".ag-comment")).to_have_text("the root")
        visitor.press("ArrowRight", "ArrowRight")
        visitor.says("Move 3: Black")
        visitor.press("a")
        visitor.expect(visitor.page.locator(".ag-best")).to_have_count(1)
    visitor.says("The connection is lost")
    before = visitor.part("known").text_content()
    with serving(port=served.port):
        visitor.says("Move 3: Black")
        visitor.expect(visitor.part("known")).not_to_have_text(before or "")  # it thinks again
        visitor.press("Escape", "ArrowRight")
        visitor.says("Move 4: White")
        with visitor.page.expect_download() as caught:
            visitor.press("s")
        caught.value.save_as(tmp_path / "b.sgf")
        text = (tmp_path / "b.sgf").read_text().replace("\n", "")
        assert all(part in text for part in ("C[the root]", "PB[Ann]", "KM[0.5]", "C[a corner]", "B[cc]"))
        assert "C[another]W[dd]" in text
        visitor.page.reload()
        visitor.says("Move 4: White")
        visitor.context.close()


@pytest.mark.slow
def test_a_run_is_watched_and_its_games_replayed(chromium: Any, games_as_before: None, tmp_path: Path) -> None:
    GAMES["tic-tac-toe"] = TicTacToeEnv  # the fastest to train
    folder = tmp_path / "a"
    train(TicTacToeEnv(), folder=folder, reports=[], seed=1, **SMALL)
    going_on = tmp_path / "b"
    shutil.copytree(folder, going_on)
    shutil.rmtree(going_on / "games")
    config = read_config(going_on)
    config["settings"]["num_games"] = 80
    write_config(going_on, config)
    with serving({"go": GO5}, runs=[folder, going_on]) as served:
        visitor = Visitor(chromium, served.address)
        runs = visitor.page.locator(".w-run")
        visitor.expect(runs.locator("h2")).to_have_text(["a", "b"])
        visitor.expect(runs.locator(".w-strength")).to_have_text(["No match was played.", "No match yet."])
        visitor.expect(runs.nth(1).locator(".w-games")).to_have_text("none yet")
        visitor.expect(visitor.page.locator("figure").first).to_be_visible()
        visitor.part("axis").select_option("games")
        visitor.expect(visitor.page.locator("figure").first).to_contain_text("games of self-play")
        visitor.page.locator(".w-games button").first.click()
        visitor.expect(visitor.page.locator(".ag-game").first).to_have_text(TicTacToeEnv().title)
        with visitor:
            visitor.press("ArrowRight")
            visitor.says("Move 2")
            visitor.press("End")
            visitor.expect(visitor.page.locator(".ag-comment")).to_contain_text("self-play")


@pytest.mark.slow
def test_the_end_of_a_game_is_counted_and_another_begins(visitor: Visitor) -> None:
    visitor.click("C3")
    visitor.says("Move 2")
    visitor.press("p")
    visitor.says("Move 3")
    visitor.press("p")
    visitor.says("wins")
    visitor.part("stop").wait_for(state="hidden")
    if visitor.page.locator(".ag-dead").count():  # what the network holds dead is as it is
        visitor.part("all-alive").click()
    visitor.expect(visitor.page.locator(".ag-owner-black")).to_have_count(24)
    visitor.expect(visitor.part("count")).to_contain_text("Black 25")
    visitor.click("C3")
    visitor.expect(visitor.page.locator(".ag-dead")).to_have_count(1)
    visitor.expect(visitor.part("count")).to_contain_text("Black 0")
    visitor.expect(visitor.part("exchanged")).to_be_hidden()  # one person plays both sides
    visitor.part("again").click()
    visitor.says("Move 1")
    assert visitor.stones() == (0, 0)
    play_again_with_a_handicap(visitor)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 740), (844, 390)])
def test_all_fits_on_the_screen(chromium: Any, width: int, height: int) -> None:
    with serving() as served, Visitor(chromium, served.address + FULL, width, height) as visitor:
        playing = visitor.page.locator(".ag-svg").bounding_box()
        columns, cut, in_view = visitor.page.evaluate(LISTED)
        assert (columns % 2, cut, in_view) == (0, 0, True)  # moves of one side stand in one column
        visitor.press("a")
        visitor.expect(visitor.page.locator(".ag-best")).to_have_count(1)
        visitor.press("Escape")
        visitor.expect(visitor.part("stop")).to_be_disabled()
        assert visitor.page.locator(".ag-svg").bounding_box() == playing  # a study does not move the board
        for part in (".ag-facts > :first-child", ".ag-moves [data-action]"):  # captures, and all rows of the table
            assert visitor.page.locator(part).evaluate_all("all => all.every(one => one.getClientRects().length)")
        assert visitor.page.evaluate(LISTED) == [2, 0, True]
        visitor.expect(visitor.page.locator(".ag-graph")).to_be_hidden()  # of one value
        listed = visitor.page.locator(".ag-played:visible").bounding_box()
        (played, played_cut), (table, table_cut) = visitor.page.evaluate(WHOLE)
        assert (played >= 2, played_cut, table >= 3, table_cut) == (True, False, True, False)
        assert listed["y"] + listed["height"] <= height  # whatever the height of the table
        shows = visitor.page.locator("[data-name=shows]")
        assert shows.is_visible() == (min(width, height) < 520)
        if shows.is_visible():  # what the board shows is behind it
            visitor.expect(visitor.part("mode")).to_be_hidden()
            shows.click()
        box = visitor.part("mode").bounding_box()
        assert box["y"] + box["height"] <= height
        pane = visitor.page.locator(".ag-pane")
        assert pane.evaluate("pane => pane.scrollHeight <= pane.clientHeight")
        room = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert visitor.page.evaluate(room) == [width, height]
        box = visitor.page.locator(".ag-svg").bounding_box()
        assert box["width"] >= min(width, height) * 0.5
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
