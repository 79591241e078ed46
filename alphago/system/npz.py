"""Arrays of .npz files, which several threads may read."""

import io
import threading
import zipfile
from collections.abc import Mapping

import numpy as np

# NumPy reads the header of an array with Python's parser, which before Python 3.11.8 may fail if two threads use it.
READING_LOCK = threading.Lock()
# A file is refused if its arrays take more than ALWAYS_ALLOWED bytes, and more than MOST_INFLATION times the file's.
# Arrays of games of 19x19 take 10 to 50 times the file's bytes, of games without searches 250 times; zeros 1000 times.
ALWAYS_ALLOWED, MOST_INFLATION = 2**28, 256
COMPRESSION_LEVEL = 2  # a third of the time of NumPy's level 6, for files of games that are a tenth larger


def npz_bytes(arrays: Mapping[str, np.ndarray], *, compressed: bool = True) -> bytes:
    """Return named arrays as the contents of a .npz file, as `numpy.savez_compressed` or `numpy.savez` writes it."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, so that equal arrays make equal files
            archive.writestr(entry, member.getbuffer(), method, COMPRESSION_LEVEL)
    return file.getvalue()


def read_npz(data: bytes | memoryview) -> dict[str, np.ndarray]:
    """Return the named arrays of a .npz file.

    Raises:
        ValueError: before anything is inflated, for arrays that are too large for the file (MOST_INFLATION).  For
            damaged data the errors of zipfile and NumPy are raised.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > (most := max(ALWAYS_ALLOWED, MOST_INFLATION * len(data))):
        raise ValueError(f"its arrays would take {size:,} bytes, and a file of {len(data):,} may have {most:,}")
    with READING_LOCK, np.load(io.BytesIO(data), allow_pickle=False) as file:
        return dict(file)
