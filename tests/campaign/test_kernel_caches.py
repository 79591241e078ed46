"""The cache of compiled kernels: eight processes at once, a full disk, a read-only folder, damage."""

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.tally import Area, rounds, times

pytestmark = pytest.mark.campaign
# Few kernels, on which every line of what is printed depends.
PLAYED = """
from alphago import ConnectFourEnv
position = ConnectFourEnv().position()
for action in (3, 3, 2, 4, 1, 0, 3, 5):
    position = position.play(action)
    print(position.legal_mask.sum(), position.to_play)
print(position, "played")
"""


def begun(cache: Path, size: int = -1) -> "subprocess.Popen[str]":
    """A process that plays with its kernels in a folder, with files of at most `size` bytes; -1 for any."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-W", "ignore", "-c", PLAYED]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit
    )


def told(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=1200)
    return out if process.returncode == 0 and "Traceback" not in err else f"{process.returncode}: {err[-400:]}"


def test_caches() -> None:
    chance, cache = random.Random(1), Path("cache").absolute()
    with Area("kernel caches") as area:
        expected = told(begun(cache / "first"))
        area.check(expected, "played" in expected)
        for _ in range(times(3)):
            several = [begun(cache / "common") for _ in range(8 if times(8) > 2 else 3)]
            for process in several:
                said = told(process)
                area.check(f"at once: {said}", said == expected)
        for size in (0, 3000, 60_000)[: times(3)]:
            said = told(begun(cache / f"full-{size}", size))
            area.check(f"full at {size}: {said}", said == expected)
        locked = cache / "locked"
        locked.mkdir(mode=0o555)
        area.check("unwritable", told(begun(locked)) == expected)
        for number in rounds(8):
            for path in (cache / "first").rglob("*.kernel"):
                data = bytearray(path.read_bytes())
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                path.write_bytes(chance.choice([bytes(data), bytes(data[: len(data) // 2]), b""]))
            said = told(begun(cache / "first"))
            area.check(f"damage {number}: {said}", said == expected)
