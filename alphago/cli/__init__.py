"""The command `alphago`: each verb has a module, which is imported when the verb is called."""

import _thread
import argparse
import contextlib
import gc
import importlib
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

import alphago
from alphago.cli.errors import error_text, memory_warning
from alphago.cli.options import Parser, format_usage
from alphago.system.files import user_path
from alphago.system.interrupts import INTERRUPTED, ended_by_interrupt
from alphago.system.validation import near_misses, printable, shortened

# A ~ for the home folder: at the beginning of a word or after =, and at the word's end or before a /.
HOME = re.compile(r"(?:^|(?<==))~(?=/|$)")
OWN_CLASS = re.compile(r":[A-Za-z_]\w*$")  # the end of MODULE:CLASS
USAGE_ERROR = 2  # exit code for errors that the user can correct: a missing file, a wrong model, a wrong option
LONGEST_ERROR = 1000  # letters
DELAY = 0.05  # seconds after which a lost Ctrl-C is repeated

# For each verb, its module and its purpose.  The module has `run(options)`, whose docstring is the verb's help (see
# Parser), and `add_options(parser)`.
VERBS = {
    "train": ("train", "train a network from games against itself"),
    "selfplay": ("selfplay_games", "play games of a network against itself and save them"),
    "play": ("play", "play against a network in this terminal"),
    "web": ("web", "play, study and watch training in a browser"),
    "gtp": ("gtp", "play Go in any program that supports the Go Text Protocol (GTP)"),
    "analysis": ("analysis_protocol", "answer queries of KataGo's analysis protocol, in JSON"),
    "mcp": ("mcp", "give assistants that speak the Model Context Protocol tools for Go"),
    "review": ("game_review", "comment games: win rates, best lines, mistakes, and a graph"),
    "evaluate": ("evaluate", "play matches, and rate the players"),
    "exam": ("exam", "grade networks by positions with the loss of every move, or make such positions"),
    "label": ("label", "label positions of games by a teacher, for supervised training"),
    "worker": ("worker", "play games for a run on another machine"),
    "supervised": ("supervised", "train a network on given games"),
    "sgf": ("sgf", "import games of Go from files into a dataset"),
    "plot": ("plot", "draw the curves of training runs"),
    "export": ("network_export", "write a network for other programs: ONNX, or raw weights"),
    "info": ("info", "describe a run or a network; or versions, devices and speed of this machine"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; arguments: the command line, by default this process's."""
    # A shell replaces the ~ of ~/net, but not that of --out=~/net.
    given = sys.argv[1:] if arguments is None else arguments
    words = [HOME.sub(lambda match: str(user_path(match[0])), word) for word in given]
    if words[:1] == ["help"]:  # "help train" means "train --help", and "help" alone "--help"
        words = [*words[1:2], "--help"]
    if not words or words[0] not in VERBS:
        return run_without_verb(words)
    verb = words[0]
    owns_process = arguments is None  # the process ends with this call
    if owns_process and (warning := memory_warning()):
        print(f"alphago: {warning}", file=sys.stderr)
    with quick_imports() if owns_process else contextlib.nullcontext(), ended_by_interrupt():
        try:
            if any(OWN_CLASS.search(word) for word in words):
                from alphago.cli.own_games import import_own_classes  # imported late: most commands do not need it

                words = import_own_classes(words)
        except ValueError as error:
            print(f"alphago {verb}: {error}", file=sys.stderr)
            return USAGE_ERROR
        parser = make_parser(verb, in_full="--help-all" in words)
        options = parser.parse_args(words[1:])
    try:
        return run(verb, parser, options)
    finally:
        if owns_process:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # in an exit handler, an interrupt would print a traceback


def run_without_verb(words: Sequence[str]) -> int:
    """Print the overview, the version or an error, for a command line without a verb, and return the exit code."""
    word = words[0] if words else "--help"
    if word in ("-h", "--help"):  # without any word the overview is printed too, but as an error
        print(overview(), file=sys.stdout if words else sys.stderr)
        return 0 if words else USAGE_ERROR
    if word == "--version":
        print(f"alphago {alphago.__version__}")
        return 0
    print(f"alphago: no command {word!r}: {near_misses(word, list(VERBS))}", file=sys.stderr)
    return USAGE_ERROR


@contextlib.contextmanager
def quick_imports() -> Iterator[None]:
    """Within the `with` block, switch the garbage collector off, which would take a fifth of the imports' time.

    Imports make hardly any garbage.  Collections after the block leave out what the imports have made.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def run(verb: str, parser: Parser, options: argparse.Namespace) -> int:
    """Run a verb with its parsed options, and return the exit code; errors that a user can correct are printed."""
    try:
        with repeated_interrupts():
            code = int(options.run(options))
        sys.stdout.flush()  # raises if the disk is full; later, at the exit of Python, a failure would not be caught
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if (sentence := error_text(error, parser)) is None:
            raise
        print(f"alphago {verb}: {printable(shortened(sentence, LONGEST_ERROR))}", file=sys.stderr)
        return USAGE_ERROR


@contextlib.contextmanager
def repeated_interrupts() -> Iterator[None]:
    """Within the `with` block, send Ctrl-C again whenever Python has ignored it.

    A KeyboardInterrupt in a destructor, or in a callback of an import or a garbage collection, does not end the
    program: Python prints the error and goes on.  Here the error is not printed, and Ctrl-C is sent again after DELAY.
    """
    before = sys.unraisablehook

    def hook(lost: "sys.UnraisableHookArgs", /) -> None:
        """Repeat a KeyboardInterrupt that Python has ignored; print any other error as before."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            timer = threading.Timer(DELAY, interrupt_again)
            timer.daemon = True  # it does not delay the end of the program
            timer.start()
        else:
            before(lost)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def interrupt_again() -> None:
    """Send Ctrl-C to the main thread; on systems with `pthread_kill` this also ends a call that waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # `or 0` for the type checker only
    else:
        _thread.interrupt_main()


def make_parser(verb: str, *, in_full: bool = False) -> Parser:
    """Return the parser of a verb, with the options of all games in GAMES.

    The parsed options have an attribute `run`, the function that runs the command.

    Args:
        in_full: whether the help is that of --help-all.
    """
    module_name, _ = VERBS[verb]
    module = importlib.import_module(f"alphago.cli.{module_name}")
    parser = Parser(f"alphago {verb}", module.run, in_full=in_full)
    module.add_options(parser)
    parser.usage = format_usage(parser)
    return parser


def overview() -> str:
    """Return the text of `alphago --help`."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:{width}}  {purpose}" for verb, (_, purpose) in VERBS.items())
    more = "alphago help COMMAND lists the options of a command; alphago --version prints the version."
    return f"usage: alphago COMMAND [OPTIONS]\n\nAlphaZero on one machine.\n\n{verbs}\n\n{more}"
