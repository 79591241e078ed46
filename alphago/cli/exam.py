"""`alphago exam`: grade networks by positions with the loss of every move, or make such positions."""

import argparse
import json
from typing import TYPE_CHECKING

from alphago.cli.label import with_bar
from alphago.cli.models import add_device
from alphago.cli.options import Parser, given_options, integer, integers, option
from alphago.cli.settings_flags import add_flags, given_settings
from alphago.drawing.live_bar import LiveBar
from alphago.exams.drawn_positions import MakeSettings
from alphago.mcts.search_specs import SEARCHES
from alphago.system.files import write_named

if TYPE_CHECKING:
    from alphago.exams.exam_result import ExamResult

DTYPES = ("float32", "bfloat16", "int8", "fastest")


def add_options(parser: Parser) -> None:
    parser.why_no_option["--game"] = "exams are of Go"
    option(parser, "networks NET", "one or more; see below", nargs="*")
    option(parser, "--readouts N,…", "simulations per move; 0: the policy alone (0,64)", integers, default=(0, 64))
    option(parser, "--file FILE", "the exam (the package's for the networks' board)")
    option(parser, "--search", "the networks' search (puct)", choices=tuple(SEARCHES))
    text = "the networks' numbers; in float32, grades hardly depend on the machine (float32)"
    option(parser, "--dtype", text, choices=DTYPES, default=DTYPES[0])
    option(parser, "--threads N", "number of threads (one per core)", integer)
    option(parser, "--halves", "tell how much random halves of the exam differ", action="store_true")
    option(parser, "--sheet FILE", "draw the ten worst moves of the first network, as SVG")
    option(parser, "--json FILE", "write all grades as JSON lines")
    add_device(parser)
    group = parser.section("making an exam")
    option(group, "--make FILE", "the file to make, or to go on with")
    option(group, "--engine COMMAND", "a program that speaks KataGo's analysis protocol ('alphago analysis 9x9')")
    option(group, "--games PATH", "SGF files, folders of them or of a run's games, or datasets", nargs="+")
    option(group, "--board-size N", "size of the board (9)", integer, default=9)
    add_flags(parser, MakeSettings, "making an exam")


def run(options: argparse.Namespace) -> int:
    """Grade networks by positions of Go with the loss of every legal move, as a strong judge sees it: points and win
    rate lost a move, best moves, blunders, errors of win rate and lead, with 95 % intervals; several networks are
    compared on the same positions.  With --make, --engine and --games, make such positions from games.

    A NET is a network's file, a run's folder, the name of a packaged network (9x9), or katago:FILE, if wished with
    readouts and search after an @ (runs/a@64, 9x9@64,gumbel), or a level (9x9@level=7).
    """
    if options.make is not None:
        return make_positions(options)
    for_making = [f"--{name}" for name in ("engine", "games") if getattr(options, name) is not None]
    if for_making:
        raise ValueError(f"--make must name a file for {' and '.join(for_making)}, got none")
    if not options.networks:
        raise ValueError("there must be a network to grade, got none")
    return grade_networks(options)


def grade_networks(options: argparse.Namespace) -> int:
    """Grade networks, and print, draw and write what was asked for; return the exit code."""
    from alphago.exams.exam_call import exam  # imported late, since it loads torch

    with LiveBar(total=0, unit="position", leave=False) as bar:

        def tell(name: str, total: int, answered: int) -> None:
            """Show that the network `name` has answered `answered` more positions; total: those of all networks."""
            bar.total = total
            bar.set_description(name, refresh=False)
            bar.update(answered)

        dtype = None if options.dtype == "fastest" else options.dtype  # as `exam` takes it
        more = given_options(options, "file", "search", "device", "threads")
        result = exam(options.networks, options.readouts, dtype=dtype, tell=tell, **more)
    print(result)
    if options.halves:
        print(f"\n{halves_text(result)}")
    if options.sheet is not None:
        print(f"\nthe worst moves of {result.names[0]} are in {result.sheet().save(options.sheet)}")
    if options.json is not None:
        write_named(options.json, "".join(json.dumps(row) + "\n" for row in result.rows()).encode())
    return 0


def halves_text(result: "ExamResult") -> str:
    """Return sentences on how much random halves of an exam differ."""
    lines = ["Random halves of the exam differ, in points lost a move, by (root mean square):"]
    lines += [f"  {name} {result.halves(player).gap:.2f}" for player, name in enumerate(result.names)]
    for later, earlier in result.pairs:  # the halves of the difference between two players
        halves = result.halves(later, earlier)
        name = f"{result.names[later]} - {result.names[earlier]}"
        lines.append(f"  {name} {halves.gap:.2f}; both prefer the same player in {halves.agreement:.0%}")
    return "\n".join(lines)


def make_positions(options: argparse.Namespace) -> int:
    """Make the positions of an exam, with a progress bar; return the exit code."""
    from alphago.exams.exam_maker import make_exam  # imported late, since it loads the readers of games

    missing = [f"--{name}" for name in ("engine", "games") if getattr(options, name) is None]
    if missing or options.networks:
        got = f"no {' and no '.join(missing)}" if missing else f"the networks {' '.join(options.networks)}"
        raise ValueError(f"--make must come with --engine and --games and without networks, got {got}")
    settings = MakeSettings(**given_settings(options, MakeSettings))
    return with_bar(
        lambda tell: make_exam(options.make, options.engine, options.games, options.board_size, settings, tell=tell),
        settings.positions,
        # The end of a sentence, which begins with the number of positions that were made.
        ending=f"of {settings.positions} positions are in {options.make}",
        advice="the games have no more undecided positions: more games or a larger --per-game give more",
    )
