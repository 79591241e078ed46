"""Collections of games come from a server on this machine."""

import http.server
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import download_games
import pytest

from alphago.records.dataset import Dataset

DATA = Path(__file__).parents[1] / "data"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder; of those called "cut" only a part."""

    asked: list[str] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if not self.path.endswith("cut"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"(;SZ[9]")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """An address that has a.tar.gz with games, and what was asked for there."""
    folder = tmp_path / "server"
    folder.mkdir()
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        archive.add(DATA / "9x9", "9x9")
    handler = type("OwnHandler", (Handler,), {"asked": []})
    one = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{one.server_port}", handler.asked
    one.shutdown()
    one.server_close()
    thread.join()


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["download_games.py", *words])
    download_games.main()


def test_a_collection(
    server: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address, asked = server
    ours = download_games.Collection(
        "games of tests",
        "https://example.org",
        ["x/a.tar.gz", "x/b", "x/cut"],
        licence="MIT",
        filter={"min_moves": 5, "any_result": True},
    )
    monkeypatch.setitem(download_games.COLLECTIONS, "ours", ours)
    monkeypatch.setattr(download_games, "available_cores", lambda: 1)
    monkeypatch.chdir(tmp_path)
    run(monkeypatch, "ours", "--mirror", address)
    printed = capsys.readouterr().out
    assert f"{address}/b cannot be fetched: HTTP Error 404" in printed
    assert f"{address}/cut cannot be fetched: the server sent only a part of it" in printed
    assert len(Dataset("data/ours.dataset")) > 5
    assert "MIT" in Path("data/ours/SOURCE.txt").read_text()
    run(monkeypatch, "ours", "--mirror", address)  # what is there is not fetched again
    assert asked.count("/a.tar.gz") == 1
