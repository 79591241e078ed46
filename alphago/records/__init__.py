"""Games as data: records of self-play, and SGF files."""
