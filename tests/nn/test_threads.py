"""How often threads take turns at Python."""

import sys

from alphago.nn.threads import SWITCH_SECONDS, quick_switches


def test_switches_are_quick_where_wanted_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()
    for enabled, interval in ((True, SWITCH_SECONDS), (False, before)):
        with quick_switches(enabled):
            assert abs(sys.getswitchinterval() - interval) < 1e-6
        assert sys.getswitchinterval() == before
