"""Collections of games are fetched once, imported, and say where they come from."""

import io
import sys
import tarfile
import urllib.request
from pathlib import Path

import download_games
import pytest

from alphago.records.dataset import Dataset

DATA = Path(__file__).parents[1] / "data"


class Answer(io.BytesIO):
    """A server's answer, of which `length` bytes are still to come at the end."""

    length = 0


def test_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    archive, asked = io.BytesIO(), []
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        files.add(DATA / "9x9", "9x9")

    def urlopen(address: str, timeout: float) -> Answer:
        asked.append(address)
        if address.endswith("/b"):
            raise OSError("HTTP Error 404")
        is_cut = address.endswith("/cut")
        answer = Answer(b"(;SZ[9]" if is_cut else archive.getvalue())
        answer.length = 993 if is_cut else 0
        return answer

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
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
    monkeypatch.setattr(sys, "argv", ["download_games.py", "ours", "--mirror", "https://mirror"])
    download_games.main()
    printed = capsys.readouterr().out
    assert "https://mirror/b cannot be fetched: HTTP Error 404" in printed
    assert "https://mirror/cut cannot be fetched: the server sent only a part of it" in printed
    assert len(Dataset("data/ours.dataset")) > 5
    assert "MIT" in Path("data/ours/SOURCE.txt").read_text()
    download_games.main()  # what is there is not fetched again
    assert asked.count("https://mirror/a.tar.gz") == 1
