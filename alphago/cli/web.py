"""`alphago web`: serve a page to play, study and watch training."""

import argparse
import contextlib
import gc
import threading
from typing import Any

from alphago.cli.models import add_device, add_game, add_game_settings, add_level, given_game_settings
from alphago.cli.options import Parser, integer, option
from alphago.env.game import GameEnv
from alphago.env.games import USUAL_GAME

PORT = 8270
FIRST_READOUTS = 8  # readouts of the first search, which compiles what is not compiled yet
FIRST_LEVEL = 3  # of a page for which no network and no run was named
LOADING_SECONDS = 20.0  # longest wait at the end for what is still loading


def add_options(parser: Parser) -> None:
    text = "networks to play against, and folders of runs to watch (the package's networks)"
    option(parser, "what MODEL|RUN", text, nargs="*")
    add_game(parser, game="the first model's own, or go", size="the model's own, or 9")
    option(parser, "--port N", f"the server's port; 0 for any free one ({PORT})", integer, default=PORT)
    option(parser, "--no-browser", "print the page's address, and open no browser", action="store_true")
    text = "address to listen on (127.0.0.1, this machine only); other addresses need --token"
    option(parser, "--host ADDRESS", text, default="127.0.0.1")
    option(parser, "--token TEXT", "a password for browsers on other machines (none)")
    add_level(parser, f"{FIRST_LEVEL}; 10 if a network or a run is named")
    add_device(parser)
    add_game_settings(parser)


def run(options: argparse.Namespace) -> int:
    """Serve a page on this machine and open it in a browser.  On the page you play any game against a network, study
    positions, open and save SGF files, and watch runs train.
    """
    from alphago.system.validation import check_int
    from alphago.ui.web.guard import Guard

    guard = Guard(options.host, options.token)  # before anything is loaded
    check_int("--port", options.port, 0, 65535)
    from alphago.mcts.warm_up import warm_up

    # A second process compiles kernels, beside all that follows, unless they are compiled already.
    is_compiling = warm_up(options.game or USUAL_GAME) is not None
    from alphago.ui.web import server
    from alphago.ui.web.engines import Engines
    from alphago.ui.web.server_options import make_offer

    offer = make_offer(options.what, options.game, options.board_size, given_game_settings(options))
    level = options.level or (None if options.what else FIRST_LEVEL)  # None: a named network plays at full strength
    engines = Engines(offer.choices, options.device, level)
    runs: Any = None
    if offer.runs:
        from alphago.ui.web.runs import Runs  # imported late, since it loads torch

        runs = Runs(offer.runs)
    app = server.make_app(engines, offer.usual_games, guard, runs, export_page_text)
    first_game = next(iter(offer.usual_games.values()))  # the page begins with it
    ready = threading.Thread(target=get_ready, args=(engines, first_game, is_compiling), daemon=True)
    ready.start()
    try:
        server.serve(app, guard, options.host, options.port, browser=not options.no_browser)
    finally:
        ready.join(LOADING_SECONDS)  # a process may crash if it ends while a library is loading
    return 0


def export_page_text(source: Any, env: GameEnv) -> str:
    """Return the text of an HTML file that plays a network without a server.

    Args:
        source: the network, or its name.
        env: the network's game.
    """
    from alphago.ui.onefile.page import render_page  # imported late, since it loads torch

    return render_page(source, env)


def get_ready(engines: Any, env: GameEnv, is_compiling: bool) -> None:
    """Load the first game's network and the search while the page is opening.

    Errors are ignored here, since the page reports them when it asks for the network.

    Args:
        env: the first game.
        is_compiling: whether `warm_up` has started a second process, which compiles kernels; this process then compiles
            some of them itself.
    """
    from alphago.mcts.questions import Limit
    from alphago.mcts.warm_up import compile_player

    gc.disable()  # until all is loaded: collecting a compiler's garbage takes an eighth of its time
    with contextlib.suppress(Exception):  # the page is told of it when it asks for the engine
        if is_compiling:
            compile_player(analysis=False)  # meanwhile the second process compiles what the network needs
        engine = engines.engine(engines.usual_network(env), env)
        # A short search, whose answer is not used.
        engine.analyst.ask(env.position().again_in(engine.env), limit=Limit(FIRST_READOUTS), reuse=False).last()
    gc.enable()
