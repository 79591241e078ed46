"""The progress bar in a file: its lines are as few as a reader of a log wants."""

import time

import pytest

from alphago.drawing.live_bar import LiveBar


def test_a_file_gets_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveBar(total=400, unit="position") as bar:
        for _ in range(400):
            time.sleep(0.001)
            bar.update()
    assert capsys.readouterr().err.count("position") <= 3
