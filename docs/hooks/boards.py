"""Boards to play on: a click on a picture of a board opens the packaged network of its game, as a file of the site."""

import html
import re
from pathlib import Path
from typing import Any

from alphago.ui.onefile.page import export_page

BOARDS = {"board.svg": "9x9", "web.png": "9x9"}  # pictures of boards, and the networks that play on them
BOARDS |= {f"{name.replace('-', '_')}.svg": name for name in ("oware", "reversi", "connect-four", "gomoku")}
PICTURE = re.compile(r"^!\[([^]]*)\]\(((?:\.\./)*)(\S+)\)$", re.MULTILINE)
FIRST = "index.md"  # the page whose board is open


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Return the text of a page with a board behind each picture of one."""
    path = page.file.src_uri

    def board(found: re.Match[str]) -> str:
        alt, up, name = found.groups()
        net = BOARDS.get(Path(name).name)
        if net is None:
            return found[0]
        top = "../" * path.count("/")
        return (
            f'<details class="board"{" open" if path == FIRST else ""}><summary><img src="{up}{name}" '
            f'alt="{html.escape(alt)}"><span>Click to play</span></summary>'
            f'<iframe src="{top}boards/{net}.html" title="{html.escape(alt)}" loading="lazy"></iframe></details>'
        )

    return PICTURE.sub(board, markdown)


def on_post_build(config: Any) -> None:
    folder = Path(config.site_dir) / "boards"
    folder.mkdir(exist_ok=True)
    for net in {*BOARDS.values(), "7x7"}:  # 7x7: the board of the tutorial
        export_page(net, folder / f"{net}.html")
