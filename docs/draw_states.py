"""Pictures of every state of the page and of every game, to be looked at: windows of five sizes, light and dark.

    python docs/draw_states.py [FOLDER] [--only NAME ...] [--runs RUN RUN]    # build/states
    python docs/draw_states.py --each 2    # of each state two pictures, every time of other sizes
    python docs/draw_states.py --axe axe.min.js    # no pictures: what axe-core (npm) finds that is serious

A state is a row of STATES, a game one of GAME_LINKS; the runs are shown one by one and together.  The file that plays
alone is among them.  It needs Chromium and playwright.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from draw_page import LINK, PATIENCE, launched, served
from playwright.sync_api import Browser, Page, expect

from alphago.cli.own_games import named_game
from alphago.env.connect_four import ConnectFourEnv
from alphago.env.game import GameEnv
from alphago.env.games import GAMES
from alphago.env.go import GoEnv
from alphago.env.gomoku import GomokuEnv
from alphago.env.oware import OwareEnv
from alphago.env.packaged_nets import packaged_net
from alphago.env.reversi import ReversiEnv
from alphago.mcts.evaluator import PlayoutEvaluator
from alphago.mcts.player import MCTSPlayer
from alphago.ui.onefile.page import export_page
from alphago.ui.web.new_game import link_head

ROOT = Path(__file__).parents[1]
SIZES = [(1440, 900), (1280, 800), (820, 1180), (390, 844), (844, 390)]
LOOKS = [(SIZES[at % 5], ("light", "dark")[at % 2]) for at in range(0, 30, 3)]  # all ten, neighbours unlike
BOARD = re.compile("/board")  # the address of the page's connection
ENDED = "game=go&board_size=9&komi=7.5&rules=Chinese&moves=E5.F5.E4.F4.E6.F6.D7.E7.F3.G3.D8.E8.F2.G2.H7.B3.C3.H6.C7.G7"
ENDED += ".F1.G1.D9.E9.pass.pass"  # with a dead stone on either side
HEX, TORUS, OUTLINE = (
    GAMES[named_game(f"{ROOT}/examples/{name}")]
    for name in ("hex.py:HexEnv", "go_variants.py:TorusGoEnv", "go_variants.py:OutlineGoEnv")
)
OWN = [HEX(7), TORUS(9), OUTLINE(5, 9, "A1 J1")]
PLIES: dict[GameEnv, int] = {
    **{GoEnv(size).match_variant(): plies for size, plies in ((7, 18), (13, 60), (19, 120))},
    OwareEnv(): 14,
    ReversiEnv(): 24,
    ConnectFourEnv(): 14,
    GomokuEnv(): 10,
    **dict.fromkeys(OWN, 16),
}

REVIEWED = """document.querySelector(".ag-win-line")?.getAttribute("d").split("L").length
    > document.querySelectorAll("[data-name=played] li").length"""  # every position has its chance to win

SERIOUS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, help, nodes }) => `${id}, ${help}: ${nodes.map(({ target }) => target).slice(0, 3).join("; ")}`)"""

Visit = Callable[[Page], Any]


class State(NamedTuple):
    """A state: the link, what a visitor does there, and what is done to the page before it is opened."""

    link: str = ""
    visit: Visit = lambda page: None
    before: Visit = lambda page: None
    begins: bool = True  # whether a position is shown


def waits(page: Page, text: str = "to play|wins|draw") -> None:
    expect(page.locator(".ag-status")).to_contain_text(re.compile(text, re.IGNORECASE))


def click(page: Page, name: str) -> None:
    page.locator(f"[data-name={name}]:visible").first.click()


def idle(page: Page) -> None:
    expect(page.locator(".ag-busy")).to_have_count(0)


def think(page: Page) -> None:
    """Let the engine search at full strength for long."""
    page.locator("[data-name=level]").fill("10")
    click(page, "menu")
    page.locator("[data-name=readouts]").fill("90000")
    page.locator("[data-name=readouts]").press("Tab")
    click(page, "menu")
    page.locator('[data-point="E5"]').click()
    waits(page, "/90k")


def study(page: Page) -> None:
    """Review the line, and analyse its last position."""
    page.keyboard.press("Space")
    expect(page.locator(".ag-study")).to_be_visible()
    page.keyboard.press("r")
    page.wait_for_function(REVIEWED)
    idle(page)
    page.keyboard.press("a")
    expect(page.locator("[data-name=known]")).to_contain_text(re.compile(r"\d{3}|\dk visits"))
    page.keyboard.press("Escape")
    idle(page)


def begin_study(page: Page) -> None:
    page.keyboard.press("Space")
    expect(page.locator(".ag-moves [data-action]")).not_to_have_count(0)


def look(page: Page) -> None:
    """Analyse the position on the board a little: games in plain Python take seconds for a readout."""
    begin_study(page)
    page.keyboard.press("a")
    expect(page.locator("[data-name=known]")).to_contain_text("visits")
    page.keyboard.press("Escape")
    idle(page)


def why(page: Page) -> None:
    study(page)
    mistakes = [("]", f"Move {number}:") for number in (4, 6, 12, 13)]
    for key, told in (("Home", "Move 1:"), *mistakes, ("ArrowRight", "Move 14:")):
        page.keyboard.press(key)
        waits(page, told)
    page.keyboard.press("w")
    page.locator("[data-name=reasons]").wait_for()


def end(page: Page) -> None:
    idle(page)
    expect(page.locator(".ag-ending")).not_to_contain_text("Looking for")


def cut(page: Page) -> None:
    """End the connection, and let no other one come."""
    page.evaluate("window.dispatchEvent(new Event('cut'))")
    waits(page, "is lost")


def one_line(page: Page) -> None:
    """Let `cut` end the page's only connection."""
    page.add_init_script("""(() => {
        const Socket = window.WebSocket;
        window.addEventListener("cut", () => { last.close(); window.WebSocket = function () {}; });
        let last;
        window.WebSocket = class extends Socket { constructor(...given) { super(...given); last = this; } };
    })()""")


def begin(page: Page) -> None:
    page.locator('[data-point="E5"]').click()
    waits(page, "Move 3")


def keep_notices(page: Page) -> None:
    """Let nothing end that is shown for seconds only."""
    page.add_init_script("""(() => {
        const later = window.setTimeout;
        window.setTimeout = (call, pause, ...rest) => later(call, pause < 9000 ? pause : 1e9, ...rest);
    })()""")


def type_nonsense(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("Z9\n")
    page.locator(".ag-notice:visible").wait_for()
    click(page, "menu")


def resign(page: Page) -> None:
    click(page, "resign")
    waits(page, "wins")
    end(page)


STATES = {
    "first_visit": State(),
    "playing": State(visit=begin),
    "thinking": State(visit=think),
    "study_empty": State(visit=begin_study),
    "study": State(LINK, study),
    "why": State(LINK, why),
    "menu": State(LINK, lambda page: click(page, "menu")),
    "new_game": State(LINK, lambda page: page.keyboard.press("n")),
    "end_counted": State(ENDED, end),
    "end_resigned": State(LINK, resign),
    "error": State(visit=type_nonsense, before=keep_notices),
    "reconnecting": State(visit=cut, before=one_line),
    "connecting": State(before=lambda page: page.route_web_socket(BOARD, lambda line: None), begins=False),
}


FILES: dict[str, tuple[str, Visit]] = {
    "file": ("9x9", begin),
    "file_study": ("9x9", lambda page: (begin(page), study(page))),
    "file_oware": ("oware", waits),
}


def game_link(env: GameEnv, plies: int) -> str:
    """Return the link of a game that the packaged network, or playouts, play against themselves."""
    name = packaged_net(env.name, env.N)
    player = MCTSPlayer(env, name or PlayoutEvaluator(env, playouts=1), 8 if name else 20, seed=1)
    while len(player.position.moves) < plies and not player.is_done():
        move = player.suggest_move()
        player.play_move(move)
    moves = map(env.to_text, player.position.moves)
    return f"{link_head(player.position)}&moves={'.'.join(moves)}"


class Studio:
    """Takes pictures into a folder, or runs axe-core, and keeps what it and the console say."""

    def __init__(self, browser: Browser, options: argparse.Namespace) -> None:
        self.browser, self.folder, self.names, self.axe = browser, options.folder, options.only, options.axe
        self.each, self.drawn = options.each, 0
        self.said: list[str] = []

    def looks(self) -> list[tuple[tuple[int, int], str]]:
        """Return the next sizes and themes."""
        first, self.drawn = self.drawn, self.drawn + self.each
        return [LOOKS[at % len(LOOKS)] for at in range(first, self.drawn)]

    def draw(self, name: str, address: str, state: State) -> None:
        """Take the pictures of a state, unless others are asked for."""
        if self.names and name not in self.names:
            return
        page = self.browser.new_page(viewport={"width": 1280, "height": 800}, bypass_csp=True)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda message: self.said.append(f"{name}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"{name}: {error}"))
        if self.axe:
            page.add_init_script(path=self.axe)
        state.before(page)
        page.goto(f"{address}#{state.link}" if state.link else address)
        if state.begins:
            waits(page)
        state.visit(page)
        page.mouse.move(1, 1)
        for (width, height), scheme in self.looks():
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(300)  # what moves comes to rest
            if self.axe:
                self.said += [f"{name} {width} {scheme}: {fault}" for fault in page.evaluate(SERIOUS)]
            else:
                page.screenshot(path=self.folder / f"{name}-{width}-{scheme}.png")
        page.close()
        print(name, flush=True)


def unfold(page: Page) -> None:
    page.locator(".w-run details").last.wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def watch(page: Page) -> None:
    page.locator(".w-games li, .w-run .ag-notice").first.wait_for()


def watched(runs: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the runs that are shown together, by name: each alone, and all."""
    return {**{f"watch_{i}": [run] for i, run in enumerate(runs)}, **({"watch_all": runs} if runs else {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "states", help="build/states")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="the pictures to take (all)")
    parser.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="folders of runs to watch (none)")
    parser.add_argument("--each", type=int, default=len(LOOKS), help="sizes and themes of each state (all ten)")
    parser.add_argument("--axe", type=Path, metavar="FILE", help="the script of axe-core, to be run on each state")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=1000 * PATIENCE)
    GAMES.update({env.name: type(env) for env in OWN})
    with launched() as browser:
        studio = Studio(browser, options)
        server, port = served([], 3)
        for name, state in STATES.items():
            studio.draw(name, f"http://127.0.0.1:{port}/", state)
        for env, plies in PLIES.items():
            name = f"{env.name}_{env.N}" if env.name == "go" else env.name
            if not options.only or {name, f"{name}_study"} & {*options.only}:
                link = game_link(env, plies)
                studio.draw(name, f"http://127.0.0.1:{port}/", State(link))
                studio.draw(f"{name}_study", f"http://127.0.0.1:{port}/", State(link, look if env in OWN else study))
        server.should_exit = True
        for name, runs in watched(options.runs).items():
            server, port = served(runs)
            studio.draw(name, f"http://127.0.0.1:{port}/", State(visit=watch, begins=False))
            studio.draw(f"{name}_unfolded", f"http://127.0.0.1:{port}/", State(visit=unfold, begins=False))
            server.should_exit = True
        for name, (net, visit) in FILES.items():
            if not options.only or name in options.only:
                path = export_page(net, options.folder / f"{net}.html").path
                studio.draw(name, path.resolve().as_uri(), State(visit=visit))
    for text in studio.said:
        print("it said:", text)


if __name__ == "__main__":
    main()
