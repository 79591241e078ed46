"""Analysis engines as a client sees them: good ones, and the ways in which they fail."""

import json
import sys
from pathlib import Path

import pytest

from alphago.arena.line_process import EngineError
from alphago.exams.analysis_client import AnalysisClient, program_name

pytestmark = pytest.mark.usefixtures("no_engine_is_left")


def scripted(folder: Path, body: str) -> str:
    """The command of an engine that runs a line of Python for each query."""
    path = folder / "scripted.py"
    path.write_text(f"import json, sys, time\nfor line in sys.stdin:\n    query = json.loads(line)\n    {body}\n")
    return f"{sys.executable} {path}"


class TestAnswers:
    def test_warnings_and_intermediate_results_are_passed_over(self, tmp_path: Path) -> None:
        body = (
            'print("", json.dumps({"warning": "old", "id": "a"}), json.dumps({"isDuringSearch": True}), '
            'json.dumps({"id": query["id"], "rootInfo": {}, "warning": "x"}), sep="\\n", flush=True)'
        )
        with AnalysisClient(scripted(tmp_path, body)) as client:
            client.send({"id": "b"})
            assert client.receive() == {"id": "b", "rootInfo": {}, "warning": "x"}

    def test_long_replies(self, tmp_path: Path) -> None:
        """A reply with all moves and their lines may be longer than a line of GTP ever is."""
        with AnalysisClient(scripted(tmp_path, 'print(json.dumps({"moves": "x" * 200_000}), flush=True)')) as client:
            client.send({})
            assert len(client.receive()["moves"]) == 200_000


class TestFailures:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("sys.exit(3)", "the process has ended \\(exit status 3\\)"),
            ('print("GTP ready", flush=True)', "the reply 'GTP ready' is not JSON"),
            ('print("[1]", flush=True)', "the reply \\[1\\] is not a JSON object"),
            ('print(json.dumps({"error": "no such rules"}), flush=True)', "it was refused: 'no such rules'"),
        ],
    )
    def test_they_are_told(self, tmp_path: Path, body: str, message: str) -> None:
        with AnalysisClient(scripted(tmp_path, body)) as client:
            client.send({"id": "a"})
            with pytest.raises(EngineError, match=f"^scripted.py: .*'{json.dumps({'id': 'a'})}' was sent, {message}"):
                client.receive()
            assert client.process.returncode is not None

    def test_models_that_are_no_list(self, tmp_path: Path) -> None:
        client = AnalysisClient(scripted(tmp_path, 'print(json.dumps({"models": 3}), flush=True)'))
        with client, pytest.raises(EngineError, match="the reply has no list of models: 3"):
            client.describe()

    @pytest.mark.parametrize("command", ["", "  ", "katago 'analysis"])
    def test_no_command(self, command: str) -> None:
        with pytest.raises(ValueError, match="engine must be a command such as 'katago analysis -model …', got"):
            AnalysisClient(command)


def test_program_name() -> None:
    names = {"katago analysis": "katago", "nice -n 19 /opt/katago analysis": "katago", "python3.12": "python3.12"}
    names |= {"/usr/bin/python3 -m alphago analysis 9x9": "alphago"}
    assert {command: program_name(command.split()) for command in names} == names
