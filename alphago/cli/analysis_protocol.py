"""`alphago analysis`: answer queries of KataGo's analysis protocol."""

import argparse
import sys
from functools import partial
from typing import Any

from alphago.cli.models import add_device, add_model, load
from alphago.cli.options import Parser, given_options, integer, option
from alphago.env.games import require_go
from alphago.env.go import GoEnv

IGNORED = "ignored; accepted for clients that pass it to KataGo"


def add_options(parser: Parser) -> None:
    parser.why_no_option["--game"] = "the analysis protocol is for Go"
    add_model(parser)
    option(parser, "-model MODEL", "the same as MODEL, in KataGo's notation", dest="katago_model")
    option(parser, "-config FILE", IGNORED)
    text = "sets maxVisits and reportAnalysisWinratesAs; other keys are ignored"
    option(parser, "-override-config KEY=VALUE,…", text, dest="override", action="append", default=[])
    option(parser, "-quit-without-waiting", "end at once when the input ends", dest="quit", action="store_true")
    option(parser, "-analysis-threads N", IGNORED)
    option(parser, "--visits N", "visits for queries without maxVisits (500)", integer)
    sides = ("BLACK", "WHITE", "SIDETOMOVE")
    option(parser, "--report-as", "the player whose view replies take (BLACK)", choices=sides, dest="side")
    option(parser, "--threads N", "number of search threads (one per core)", integer)
    option(parser, "--version TEXT", "reply to query_version (alphago's version)")
    add_device(parser)


def run(options: argparse.Namespace) -> int:
    """Answer queries of KataGo's analysis protocol: one JSON query per line on standard input, replies on standard
    output.
    """
    from alphago.ui.analysis_engine import AnalysisEngine, Networks
    from alphago.ui.analysis_query import Limits
    from alphago.ui.gtp.protocol import byte_lines, reserved_stdout

    with reserved_stdout() as output:
        if options.model is not None and options.katago_model is not None:
            raise ValueError("the model must be given once, got MODEL and -model")
        settings = engine_settings(options)
        env, network = load(options.model or options.katago_model, game=GoEnv.name)
        networks = Networks(require_go(env, "the analysis protocol"), network, options.device)
        engine = AnalysisEngine(networks, partial(print, file=output, flush=True), **settings)
        print("alphago analysis: ready to begin handling requests", file=sys.stderr, flush=True)
        try:
            for line in byte_lines(Limits().characters):
                engine.receive(line.decode("utf-8", "replace"))
        except BrokenPipeError:  # the client has exited
            engine.close()
            return 1
        engine.close(wait=not options.quit)
    return 0


def engine_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of AnalysisEngine that the command line sets, by `-override-config` or by their own options.

    Raises:
        ValueError: for a maxVisits that is no integer.
    """
    settings: dict[str, Any] = {}
    for pair in ",".join(options.override).split(","):  # the option may be given several times
        key, _, value = (word.strip() for word in pair.partition("="))
        if key == "maxVisits":
            try:
                settings["visits"] = integer(value)
            except argparse.ArgumentTypeError as error:
                raise ValueError(f"maxVisits {error}") from None
        elif key == "reportAnalysisWinratesAs":
            settings["side"] = value.upper()
    return settings | given_options(options, "visits", "side", "threads", "version")
