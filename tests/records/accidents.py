"""Accidents that happen to files of games."""

import random

INSERTS = (b"(", b")", b"[", b"]", b";", b"\\", b"(;", b"B[aa]", b"\xff\xfe", b"AB[aa:zz]", b";AE[aa]", b";AB[dd]W[ee]")


def with_accidents(data: bytes, generator: random.Random) -> bytes:
    """A file in which bytes are changed, cut out, doubled or put in, or which is in another encoding."""
    text = bytearray(data)
    for _ in range(generator.randint(1, 6)):
        at = generator.randrange(max(1, len(text)))
        accident = generator.randrange(6)
        if accident == 0:
            text[at : at + 1] = bytes([generator.randrange(256)])
        elif accident == 1:
            del text[at : at + generator.randint(1, 40)]
        elif accident == 2:
            text[at:at] = generator.choice(INSERTS)
        elif accident == 3:
            text = text[:at]
        elif accident == 4:
            text[at:at] = text[at : at + 200]
        else:
            encoding = generator.choice(["utf-16", "utf-8", "cp932"])
            text = bytearray(bytes(text).decode("latin-1").encode(encoding, "replace"))
    return bytes(text)
