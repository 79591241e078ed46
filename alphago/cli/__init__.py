"""The command `alphago`: one verb per thing to do.  A verb's code is loaded when it is called."""

import importlib
import sys
from collections.abc import Sequence

import alphago
from alphago.cli.options import Parser
from alphago.system.validation import near_misses

USAGE_ERROR = 2  # exit code for what the user can put right: a missing file, a wrong model, a bad option
INTERRUPTED = 130

# Verb: where its `add_VERB(parser)` is, and what it does.
VERBS = {
    "train": ("alphago.cli.runs", "train a network from games against itself"),
    "selfplay": ("alphago.cli.runs", "play games of a network against itself and keep them"),
    "play": ("alphago.cli.games", "play against a network in this terminal"),
    "gtp": ("alphago.cli.games", "play Go with any program that speaks the Go Text Protocol"),
    "evaluate": ("alphago.cli.matches", "play matches, and rate the players"),
    "plot": ("alphago.cli.runs", "draw the curves of training runs"),
    "bench": ("alphago.cli.machine", "search fixed positions: one number that says whether the search is the same"),
    "info": ("alphago.cli.machine", "versions, devices, and how fast this machine is"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verb = words[0] if words else "--help"
    if verb in ("-h", "--help"):
        print(overview(), file=sys.stdout if words else sys.stderr)
        return 0 if words else USAGE_ERROR
    if verb == "--version":
        print(f"alphago {alphago.__version__}")
        return 0
    if verb not in VERBS:
        print(f"alphago: no command {verb!r}: {near_misses(verb, list(VERBS))}", file=sys.stderr)
        return USAGE_ERROR
    options = parser_of(verb).parse_args(words[1:])
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ValueError, OSError, ImportError, MemoryError) as error:  # ImportError: an extra that is not installed
        print(f"alphago {verb}: {error}", file=sys.stderr)
        return USAGE_ERROR


def parser_of(verb: str) -> Parser:
    """The parser of one verb of VERBS; what it parses has the function to call as `run`."""
    home, purpose = VERBS[verb]
    parser = Parser(prog=f"alphago {verb}", description=f"{purpose[0].upper()}{purpose[1:]}.")
    getattr(importlib.import_module(home), f"add_{verb}")(parser)
    return parser


def overview() -> str:
    """What `alphago --help` says."""
    width = max(map(len, VERBS))
    verbs = [f"  {verb:{width}}  {purpose}" for verb, (_, purpose) in VERBS.items()]
    return "\n".join(
        [
            "usage: alphago COMMAND [OPTIONS]",
            "",
            "AlphaZero on one machine.",
            "",
            *verbs,
            "",
            "alphago COMMAND --help lists what a command takes; alphago --version says which version this is.",
        ]
    )
