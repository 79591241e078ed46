"""Pages of the site whose text lives elsewhere in the repository: examples, contributing, changes.

Links of other pages to these files, right where the repository is read, are turned to the pages.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
TEXTS = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
EXAMPLES = ("examples", "examples/rules", "alphago/examples")
LINK = re.compile(r"\]\(((?:\.\./)+)([^)#.][^)#]*)(#[^)]*)?\)")  # a way up, a path, an anchor


def on_files(files: Files, config: Any) -> Files:
    for name, page in TEXTS.items():
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "examples.md", content=examples_page()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    return LINK.sub(lambda link: f"]({page_of(link[1], link[2], link[3] or '')})", markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Let pages in folders find the script that the theme names as if all pages were in one."""
    return output.replace('src="iframe-worker.js"', f'src="{"../" * page.url.count("/")}iframe-worker.js"')


def page_of(up: str, path: str, anchor: str) -> str:
    """Return the link to the page that has a file of the repository; other links stay as they are.

    A strict build says where one of these leads nowhere.
    """
    inside = up.removeprefix("../")  # from a page to the folder docs
    if path.startswith(EXAMPLES):
        return f"{inside}examples.md" + (f"#{Path(path).stem}" if path.endswith(".py") else "")
    return f"{inside}{TEXTS[path]}{anchor}" if path in TEXTS else f"{up}{path}{anchor}"


def examples_page() -> str:
    """All examples, each under its name."""
    parts = [
        "# Examples",
        "Programs to copy, in the folder `examples`; run them from the repository's root, as in"
        " `python examples/custom_tower.py`. Notebooks lie beside them: `a_run_watched`,"
        " `position_taken_apart`, `your_own_game` and `tower_height_and_readouts`."
        " Two games are in the package: `from alphago.examples.tic_tac_toe import TicTacToeEnv`.",
    ]
    paths = [path for folder in EXAMPLES for path in (ROOT / folder).glob("[!_]*.py")]
    for path in sorted(paths, key=lambda path: path.stem):
        parts += [f"## {path.stem}", f"```python\n{path.read_text('utf-8')}```"]
    return "\n\n".join(parts) + "\n"
