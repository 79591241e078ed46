"""The command that continues a run."""

from alphago.cli.options import Parser
from alphago.cli.train import add_options
from alphago.training.runs.going_on import call_options


def test_options_that_no_folder_holds() -> None:
    """What was not given is left out, and the command line reads the others as they were."""
    given = {"workers": "folder:a b", "max_lag": 0, "stop_after": None, "device": "cpu", "tensorboard": True}
    text = call_options({**given, "verbose": False})
    assert text == "--workers 'folder:a b' --max-lag 0 --device cpu --tensorboard"
    parser = Parser(prog="alphago train")
    add_options(parser)
    read = vars(parser.parse_args(["--workers", "folder:a b", "--max-lag", "0", "--device", "cpu", "--tensorboard"]))
    assert {name: read[name] for name in given} == given
