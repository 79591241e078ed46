"""The source distribution and the wheel: what is in them, what is not, and that the wheel works alone."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.campaign.tally import Area

pytestmark = pytest.mark.campaign
ROOT = Path(__file__).parents[2]
DOCUMENTS = ["LICENSE", "README.md", "CHANGELOG.md", "constraints.txt", "pyproject.toml", "Makefile", "mkdocs.yml"]
LEFT_OUT = ("__pycache__", ".pyc", ".git/", ".venv", ".egg-info")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both archives, made from a copy: building leaves files beside the source."""
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "source"
    for path in ROOT.iterdir():
        if path.is_file():
            copy.mkdir(exist_ok=True)
            shutil.copy(path, copy / path.name)
        elif path.name in (".ci", "alphago", "benchmarks", "docs", "examples", "tests"):
            shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns("__pycache__"))
    code = "import setuptools.build_meta as b; b.build_sdist('../out'); b.build_wheel('../out')"
    (folder / "out").mkdir()
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True, timeout=600)
    return folder / "out"


def test_what_is_in_them(built: Path) -> None:
    with Area("archives") as area:
        (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
        names = zipfile.ZipFile(wheel).namelist()
        package = [p for p in (ROOT / "alphago").rglob("*") if p.is_file() and not any(o in str(p) for o in LEFT_OUT)]
        for path in package:
            name = path.relative_to(ROOT).as_posix()
            area.check(f"the wheel lacks {name}", name in names)
        for name in names:
            area.check(f"the wheel has {name}", name.startswith("alphago") and not any(o in name for o in LEFT_OUT))
        with tarfile.open(sdist) as archive:
            inside = {name.partition("/")[2] for name in archive.getnames()}
        beside = [
            path for folder in ("tests", "docs", "examples", "benchmarks") for path in ROOT.glob(f"{folder}/**/*.py")
        ]
        for name in (*DOCUMENTS, *(path.relative_to(ROOT).as_posix() for path in beside)):
            area.check(f"the source lacks {name}", name in inside)
        text = next(name for name in names if name.endswith("METADATA"))
        metadata = Parser().parsestr(zipfile.ZipFile(wheel).read(text).decode())
        area.check("no licence", metadata["License-Expression"] == "MIT")
        area.check("no provenance of networks", "alphago/nets/README.md" in names)


def test_the_wheel_works_alone(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, 'site'); import alphago, pathlib;"
        "assert str(pathlib.Path(alphago.__file__).resolve()).startswith(str(pathlib.Path('site').resolve()));"
        "from alphago import GoEnv, load_model; print(load_model('7x7', GoEnv(7))(GoEnv(7).position())[1])"
    )
    with Area("archives") as area:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
        area.check(f"the wheel alone: {done.stderr[-400:]}", done.returncode == 0)
