"""`alphago sgf`, `alphago data` and `alphago supervised`; collections come from a server on this machine."""

import http.server
import re
import shlex
import shutil
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from alphago.cli import main
from alphago.nn.net import load_model
from alphago.records import downloads
from alphago.records.dataset import Dataset
from alphago.records.downloads import COLLECTIONS, Collection, address_name, fetch, months
from alphago.training.history import read_history

DATA = Path(__file__).parents[1] / "data"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, with ranges; it breaks off after `most` bytes while that is set."""

    most: int | None = None
    asked: list[str] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        self.asked.append(f"{self.path} {self.headers.get('Range', '')}".strip())
        if not path.is_file():
            self.send_error(404, "Not Found")
            return
        data, begin = path.read_bytes(), 0
        if match := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            begin = int(match[1])
            if begin >= len(data):
                self.send_error(416, "Range Not Satisfiable")
                return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin : None if self.most is None else begin + self.most])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path, type[Handler]]]:
    """An address, the folder behind it, and how it behaves."""
    folder = tmp_path / "server"
    folder.mkdir()
    handler = type("OwnHandler", (Handler,), {"most": None, "asked": []})
    one = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{one.server_port}", folder, handler
    one.shutdown()
    one.server_close()
    thread.join()


class TestSgf:
    def test_into_a_dataset(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "games").mkdir()
        shutil.copytree(DATA / "9x9", tmp_path / "games" / "9x9")
        (tmp_path / "games" / "bad.sgf").write_text("(;SZ[9];B[aa];W[aa])")
        target = tmp_path / "games.dataset"
        words = ["sgf", str(tmp_path / "games"), "--to", str(target), "--workers", "1", "--min-moves", "10"]
        assert main([*words, "--any-result", "--validation", "0.2"]) == 0
        printed = capsys.readouterr().out
        dataset = Dataset(target)
        assert f"{len(dataset)} games are new, 1 were left out, {len(dataset)} in all" in printed
        assert "1  occupied point, such as" in printed
        assert dataset.index["split"]["validation"] == 0.2
        assert main(["sgf", str(target)]) == 0
        assert "left out: occupied point" in capsys.readouterr().out

    def test_what_is_wrong(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "bad.sgf").write_text("(;SZ[9];B[aa];W[aa])")
        assert main(["sgf", str(tmp_path / "bad.sgf"), "--workers", "1"]) == 0
        assert capsys.readouterr().out == (
            "0 games could be taken, 1 not\n"
            f"       1  occupied point, such as {tmp_path}/bad.sgf, node 2: move 2, White A9, is illegal: Black has a "
            "stone there\n"
        )

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            ("none.sgf", "games must be in a file"),
            ("{data} --validation 2", "--validation and --test must be shares"),
            ("{data} --workers 0", "--workers must be at least 1"),
            ("{data} --size 99", "--size must be"),
        ],
    )
    def test_errors(self, words: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        given = words.format(data=DATA / "9x9").split()
        assert main(["sgf", *given, "--to", str(tmp_path / "d")]) == 2
        assert sentence in capsys.readouterr().err


class TestData:
    def test_the_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["data"]) == 0
        printed = capsys.readouterr().out
        assert all(one.source in printed and f"licence: {one.licence}" in printed for one in COLLECTIONS.values())
        assert main(["data", "tygm"]) == 2
        assert "no collection 'tygm': did you mean tygem" in capsys.readouterr().err

    @pytest.mark.parametrize("workers", ["0", "-2"])
    def test_a_number_of_processes_below_1(self, workers: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["data", "tygem", "--workers", workers]) == 2
        assert capsys.readouterr() == ("", f"alphago data: --workers must be at least 1, got {workers}\n")

    def test_a_collection(
        self,
        server: tuple[str, Path, type[Handler]],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        address, folder, handler = server
        with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
            archive.add(DATA / "9x9", "9x9")
        ours = Collection(
            "games of tests", "https://example.org", (f"{address}/x/a.tar.gz", f"{address}/b"), licence="MIT"
        )
        monkeypatch.setitem(downloads.COLLECTIONS, "ours", ours)
        monkeypatch.chdir(tmp_path)
        words = ["data", "ours", "--mirror", address, "--workers", "1", "--min-moves", "5", "--any-result"]
        assert main(words) == 0
        printed = capsys.readouterr().out
        assert "from https://example.org, licence: MIT" in printed
        assert f"{address}/b cannot be fetched: the server answers 404 Not Found" in printed
        assert len(Dataset("data/ours.dataset")) > 5
        assert "MIT" in Path("data/ours/SOURCE.txt").read_text()
        asked = len(handler.asked)
        assert main(words) == 0  # what is there is not fetched again
        assert [line for line in handler.asked[asked:] if "a.tar.gz" in line] == []

    def test_what_has_come_is_kept(self, server: tuple[str, Path, type[Handler]], tmp_path: Path) -> None:
        address, folder, handler = server
        data = bytes(range(256)) * 4000
        (folder / "big.zip").write_bytes(data)
        handler.most = 300_000
        with pytest.raises(OSError, match=r"cannot be fetched|was fetched in part"):
            fetch(f"{address}/big.zip", tmp_path)
        assert not (tmp_path / "big.zip").exists()
        handler.most = None
        assert fetch(f"{address}/big.zip", tmp_path).read_bytes() == data
        assert handler.asked[-1].startswith("/big.zip bytes=")
        (tmp_path / "whole.zip.part").write_bytes(data)
        (folder / "whole.zip").write_bytes(data)
        assert fetch(f"{address}/whole.zip", tmp_path).read_bytes() == data

    def test_no_network(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ours = Collection("x", "y", ("http://127.0.0.1:9/a.zip",))
        monkeypatch.setitem(downloads.COLLECTIONS, "ours", ours)
        monkeypatch.chdir(tmp_path)
        assert main(["data", "ours"]) == 2

    def test_names(self) -> None:
        assert months((2005, 11), (2006, 2)) == ["2005-11", "2005-12", "2006-01", "2006-02"]
        assert address_name("https://x.org/a/b%20c.zip?x=1") == "b c.zip"
        assert address_name("https://codeload.github.com/m/alpha_zero/tar.gz/refs/heads/main").endswith(".tar.gz")
        assert address_name("https://x.org/../..") == "games"


def test_supervised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "d")
    options = "--workers 1 --min-moves 1 --any-result --validation 0.3 --test 0.2"
    assert main(["sgf", str(DATA / "9x9"), "--to", target, *options.split()]) == 0
    options = "--epochs 1 --tower-height 1 --channels 8 --checks 1 --device cpu --batch-size 32 --threads 1"
    assert main(["supervised", target, "--folder", str(tmp_path / "run"), *options.split()]) == 0
    assert re.search(r"on \d+ test positions: top-1 \d+\.\d%, top-5", capsys.readouterr().out)
    assert load_model(tmp_path / "run").env.N == 9
    assert main(["info", str(tmp_path / "run")]) == 0
    line = re.search(r"to go on +(alphago .*)", capsys.readouterr().out)
    assert line is not None
    words = shlex.split(line[1])
    games = read_history(tmp_path / "run").metrics[-1]["games"]
    assert words == ["alphago", "supervised", target, "--folder", str(tmp_path / "run"), "--games", str(2 * games)]
    assert main([*words[1:], "--device", "cpu"]) == 0
    assert read_history(tmp_path / "run").metrics[-1]["games"] == 2 * games
    capsys.readouterr()
    assert main(["supervised", target, "--model", str(tmp_path / "run"), "--test"]) == 0
    assert re.search(r"^on \d+ test positions: top-1 ", capsys.readouterr().out)
    assert main(["supervised", target, "--test"]) == 2
    assert "--test must have a network to test" in capsys.readouterr().err
    assert main(["supervised", str(tmp_path / "none")]) == 2
