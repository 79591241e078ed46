"""Commands as Lizzie and LizzieYzy send them, and reports as they read them.

The rules are those of analysis/Leelaz.java and analysis/MoveData.java in Lizzie 0.7.4 (featurecat/lizzie, ebeb446) and
LizzieYzy 2.5.3 (yzyray/lizzieyzy, 741c301).
"""

import json

from alphago import GoEnv, NeuralNet
from alphago.ui.gtp.game_commands import GoEngine
from tests.ui.gtp.engine import Controller

LZ, KATA = int, float  # the numbers of `lz-analyze` are whole, those of `kata-analyze` are not


def forecasting(size: int, **options: str) -> GoEngine:
    """An engine whose network forecasts ownership."""
    return GoEngine(GoEnv(size), NeuralNet(GoEnv(size), tower_height=0, channels=4), 8, **options)


def read_report(line: str, kind: type) -> tuple[list[dict[str, object]], list[float]]:
    """Return the candidates and the ownership in a report, by the rules of both programs.

    A report is one line that begins with "info".  Candidates are divided by " info "; each has pairs of a key and a
    value, and after the key "pv" its line up to the end, or to "pvVisits" with as many numbers, or to "movesOwnership"
    with a number for each point.  The ownership follows the last candidate, at the end.
    """
    assert line.startswith("info ")
    moves, _, owners = line[5:].partition("ownership")
    found = []
    for text in moves.split(" info "):
        words, own = text.split(), dict[str, object]()
        at = words.index("pv")
        assert at % 2 == 0
        for key, value in zip(words[:at:2], words[1:at:2], strict=True):
            read = {"move": str, "visits": int, "order": int, "winrate": kind, "lcb": kind, "prior": kind}
            own[key] = read.get(key, float)(value)
        for key in ("movesOwnership", "pvVisits"):
            if key in words:
                own[key] = list(map(float, words[words.index(key) + 1 :]))
                del words[words.index(key) :]
        own["pv"] = words[at + 1 :]
        found.append(own)
    return found, list(map(float, owners.split()))


class Client:
    """Sends commands, Lizzie's with numbers and LizzieYzy's without, and reads replies as these programs do."""

    def __init__(self, engine: GoEngine, numbered: bool = True) -> None:
        self.controller = Controller(engine)
        self.numbered = numbered
        self.number = 0

    def ask(self, command: str) -> list[str]:
        """Return the words of the reply; a report of an analysis that this command ends comes before it."""
        self.number += 1
        self.controller.send(f"{self.number} {command}" if self.numbered else command)
        while not (line := self.controller.line()).startswith(("=", "?")):
            assert line == "" or line.startswith(("info ", "play "))
        words = line.split()
        assert words[0][1:] == (str(self.number) if self.numbered else "")
        assert line[0] == "=", line
        return words[1:]

    def analyse(self, command: str, kind: type) -> tuple[list[dict[str, object]], list[float]]:
        assert self.ask(command) == []
        return read_report(self.controller.line(), kind)


def test_lizzieyzys_start() -> None:
    """A version from 1.11 on makes it ask for the ownership of each move; its rules are KataGo's JSON in one line."""
    yzy = Client(forecasting(7, name="KataGo", version="1.16.4"), numbered=False)
    assert yzy.ask("name") == ["KataGo"]
    major, minor, *_ = map(int, yzy.ask("version")[0].split("."))
    assert (major, minor) >= (1, 11)
    assert "kata-analyze" in "\n".join([*yzy.ask("list_commands"), *yzy.controller.rest()])
    assert yzy.ask("komi 7.5") == yzy.ask("boardsize 7") == []
    assert float(yzy.ask("kata-get-param playoutDoublingAdvantage")[0]) == 0
    assert float(yzy.ask("kata-get-param analysisWideRootNoise")[0]) == 0
    rules = json.loads(" ".join(yzy.ask("kata-get-rules")))
    assert {"scoring", "ko", "suicide", "tax", "whiteHandicapBonus", "hasButton"} <= rules.keys()
    assert rules["scoring"] == "AREA"
    assert yzy.ask("clear_board") == yzy.ask("play B D4") == []
    moves, owners = yzy.analyse("kata-analyze W 10 ownership true pvVisits true movesOwnership true", KATA)
    assert len(owners) == 49
    for move in moves:
        assert len(move["movesOwnership"]) == 49
        assert len(move["pvVisits"]) == len(move["pv"])
    assert yzy.ask("stop") == yzy.ask("undo") == []
    assert yzy.ask("kata-genmove_analyze B 10 ownership true") == []
    while not (line := yzy.controller.line()).startswith("play "):
        assert len(read_report(line, KATA)[1]) == 49
    assert yzy.ask("quit") == []
