"""Ctrl-C is neither lost nor told by a traceback."""

import signal
import time

import pytest

from alphago.system.interrupts import repeated_interrupts


class Dying:
    def __del__(self) -> None:
        raise KeyboardInterrupt


def lose_one() -> None:
    Dying()
    time.sleep(60)


def test_an_interrupt_that_a_destructor_loses_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    """At once: it ends the wait."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background processes ignore
    with pytest.raises(KeyboardInterrupt), repeated_interrupts():
        lose_one()
    assert capsys.readouterr().err == ""
