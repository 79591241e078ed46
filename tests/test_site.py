"""The documentation as a site: it builds without a warning, and its API page has every public name."""

import inspect
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import pytest

import alphago

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    path = tmp_path_factory.mktemp("site")
    # As `make docs` does: --quiet would make --strict void.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert built.returncode == 0, built.stdout + built.stderr
    return path


def identifiers(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page.read_text("utf-8")))


def public_members(thing: type) -> list[str]:
    """Methods and properties that the class itself defines for its users."""
    kinds = (property, cached_property, classmethod)
    return [
        name
        for name, member in vars(thing).items()
        if not name.startswith("_") and (isinstance(member, kinds) or inspect.isfunction(member))
    ]


@pytest.mark.docs
def test_every_public_name_is_on_the_api_page(site: Path) -> None:
    page = identifiers(site / "api.html")
    for name in alphago.__all__:
        thing = getattr(alphago, name)
        members = public_members(thing) if inspect.isclass(thing) else []
        own = {f"alphago.{name}.{member}" for member in members if vars(thing)[member].__doc__}
        assert {f"alphago.{name}", *own} <= page


@pytest.mark.docs
def test_links_within_the_site_lead_somewhere(site: Path) -> None:
    pages = {page: identifiers(page) for page in site.rglob("*.html") if page.name != "404.html"}
    reference = r'(href|src)="(?!\w+:|//)([^"#?$]*)[^"#$]*(?:#([^"]*))?"'  # $: of a script that writes it
    links = [
        (page, target, anchor if kind == "href" else "")  # what is behind the # of a frame is the board's
        for page in pages
        for kind, target, anchor in re.findall(reference, page.read_text("utf-8"))
    ]
    assert {"boards/7x7.html", "tutorial/game.svg"} <= {target for _, target, _ in links}
    assert len(links) > 100
    assert len({page.parent for page in pages}) > 1
    for page, target, anchor in links:
        there = (page.parent / target).resolve() if target else page
        there = there / "index.html" if there.is_dir() else there
        assert there.exists(), f"{page} links to {target}"
        assert not anchor or there not in pages or anchor in pages[there], f"{page} links to {target}#{anchor}"


@pytest.mark.docs
def test_the_site_can_be_searched(site: Path) -> None:
    """By a script, since pages are opened from the disk, too."""
    assert 'data-md-component="search-query"' in (site / "index.html").read_text("utf-8")
    index = (site / "search" / "search_index.js").read_text("utf-8")
    locations = set(re.findall(r'"location":\s*"([^"#]*)', index))
    assert {"try_an_idea.html", "api.html", "games/oware.html"} <= locations


@pytest.mark.docs
def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = r'<(?:script|img|iframe)[^>]* src="https?:|<link[^>]* rel="(?:stylesheet|preconnect)"[^>]* href="https?:'
    assert [page.name for page in site.rglob("*.html") if re.search(loaded, page.read_text("utf-8"))] == []


@pytest.mark.docs
def test_pictures_of_boards_play(site: Path) -> None:
    boards = [
        (page.parent / target).resolve()
        for page in [site / "index.html", site / "web.html", *(site / "games").glob("*.html")]
        for target in re.findall(r'<iframe src="([^"]+)"', page.read_text("utf-8"))
    ]
    assert {path.stem for path in boards} == {"9x9", "oware", "reversi", "connect-four", "gomoku"}
    assert all(path.is_file() for path in boards)


@pytest.mark.docs
def test_pages_from_the_repository(site: Path) -> None:
    examples = (site / "examples.html").read_text("utf-8")
    for path in [*(ROOT / "examples").glob("*.py"), *(ROOT / "alphago" / "examples").glob("[!_]*.py")]:
        assert f'id="{path.stem}"' in examples
    assert "Kernels" in (site / "contributing.html").read_text("utf-8")
    assert "0.1.0" in (site / "changelog.html").read_text("utf-8")


@pytest.mark.parametrize("name", alphago.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    thing = getattr(alphago, name)
    assert thing.__doc__
    if inspect.isclass(thing):
        # What overrides a documented method does what that one says.
        without = [
            member
            for member in public_members(thing)
            if not any(getattr(base, member).__doc__ for base in thing.__mro__ if hasattr(base, member))
        ]
        assert without == []
