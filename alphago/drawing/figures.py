"""Figures of matplotlib: texts as they are, whatever the caller's settings and the letters of a name."""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from alphago.system.optional import optional_import

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEED = "curves are drawn with matplotlib, which is missing: pip install 'alphago[plot]' brings it"
# Fonts with the letters that matplotlib's own lacks; those that are installed are used.
MORE_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Source Han Sans", "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei", "IPAexGothic", "IPAGothic", "Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo",
    "Yu Gothic", "MS Gothic", "Microsoft YaHei", "SimHei", "Malgun Gothic", "Arial Unicode MS",
)  # fmt: skip


@contextlib.contextmanager
def plain_texts() -> Iterator[None]:
    """Draw the texts of the block as they are.

    Names of runs, players and files are no mathematics between dollar signs, nor TeX; a letter that no font has becomes
    a box, without a warning for each.  Raises ImportError without matplotlib.
    """
    matplotlib = optional_import("matplotlib", NEED)
    manager = optional_import("matplotlib.font_manager", NEED).fontManager
    known = {font.name for font in manager.ttflist}
    families = [*matplotlib.rcParams["font.family"], *(name for name in MORE_FONTS if name in known)]
    own = {"text.parse_math": False, "text.usetex": False, "font.family": families}
    quiet = logging.getLogger("matplotlib.font_manager")
    with matplotlib.rc_context(own), warnings.catch_warnings(), silent(quiet):
        warnings.simplefilter("ignore")  # of missing letters, and of a layout that does not fit
        yield


@contextlib.contextmanager
def silent(logger: logging.Logger) -> Iterator[None]:
    """Let a logger say nothing in the block but errors."""
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def new_figure(**settings: Any) -> "Figure":
    """Return an empty figure that needs no display, and that a notebook shows as a PNG.

    settings: matplotlib's, such as figsize.  Raises ImportError without matplotlib.
    """
    base: Any = optional_import("matplotlib.figure", NEED).Figure

    class NotebookFigure(base):
        def _repr_png_(self) -> bytes:
            return figure_bytes(self, "png")

    figure: Figure = NotebookFigure(layout="constrained", **settings)
    return figure


def figure_bytes(figure: "Figure", kind: str, dpi: float | None = None) -> bytes:
    """Return a figure as a file's contents; kind: the format, such as "png"."""
    data = io.BytesIO()
    with plain_texts():
        figure.savefig(data, format=kind, dpi="figure" if dpi is None else dpi)
    return data.getvalue()
