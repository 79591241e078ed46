"""`warn_user`: warnings that name the line of the user's program."""

import sys
import warnings
from types import FrameType

PACKAGE = __name__.partition(".")[0]


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn as `warnings.warn` does, with the line that called the package as the place.

    The line is that of the frame around the outermost one of the package, so that other libraries, which call functions
    of the package in between, are not named.
    """
    frame: FrameType | None = sys._getframe(1)
    level = level_of_user = 2  # as `stacklevel` counts: 2 is `frame`, the caller of this function
    while frame is not None:
        level += 1  # of the frame around `frame`
        if frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
            level_of_user = level
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=level_of_user)
