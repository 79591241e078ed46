"""A board to play on, for the pages that show one: the packaged 7x7 network as one file, `board.html` of the site."""

from pathlib import Path
from typing import Any

from alphago.ui.onefile.page import export_page


def on_post_build(config: Any) -> None:
    export_page("7x7", Path(config.site_dir) / "board.html")
