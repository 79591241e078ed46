"""Games as data: what is kept, how it is written to a file, and files that are none."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.records import record as module
from alphago.records.record import ARRAYS, POLICY_SCALE, GameRecord, RecordBuilder, load_records, quantise

GO = GoEnv(3)


def random_game(seed: int, setup: dict | None = None) -> GameRecord:
    """A game of random moves with random thoughts, on 3x3."""
    random = np.random.default_rng(seed)
    builder = RecordBuilder(setup or {}, seed=(9, seed))
    position = GO.position(**(setup or {}))
    while not position.is_over:
        policy = random.random(10).astype(np.float32) * position.legal_mask
        policy /= policy.sum()
        action = int(random.choice(np.flatnonzero(position.legal_mask)))
        builder.add(action, policy, random.uniform(-1, 1), position.legal_mask.sum(), position.to_play)
        position = position.play(action)
    return builder.finish(position.result, position.score(), False, 10)


def test_a_game_that_goes_on() -> None:
    """From its record, as if it had never been finished."""
    record = random_game(3, {"komi": 2.5})
    half = replace(record, **{name: getattr(record, name)[:5] for name in ARRAYS})
    builder = RecordBuilder.of(half)
    names = ("moves", "policies", "values", "legal_counts", "movers")
    for move, policy, value, count, mover in zip(*(getattr(record, name)[5:] for name in names), strict=True):
        builder.add(int(move), policy / POLICY_SCALE, float(value), int(count), int(mover))
    assert_same(builder.finish(record.outcome, record.score, record.resigned, 10), record)


def saved(path: Path, records: list[GameRecord]) -> Path:
    path.write_bytes(module.records_to_bytes(records))
    return path


def assert_same(one: GameRecord, other: GameRecord) -> None:
    for name in ARRAYS:
        mine, right = getattr(one, name), getattr(other, name)
        assert np.array_equal(mine, right), name
        assert mine.dtype == right.dtype, name
    for name in ("outcome", "score", "resigned", "setup", "seed"):
        assert getattr(one, name) == getattr(other, name), name


class TestFiles:
    def test_round_trip(self, tmp_path: Path) -> None:
        records = [
            random_game(1),
            random_game(2, {"komi": -3.5}),
            random_game(3, {"black": "A3 B2", "white": "C1", "to_play": "white"}),
            RecordBuilder().finish(-1, -1, True, 10),  # resigned before the first move
            random_game(4),
        ]
        assert load_records(saved(tmp_path / "games.npz", [])) == []
        loaded = load_records(saved(tmp_path / "games.npz", records))
        assert len(loaded) == 5
        for one, other in zip(loaded, records, strict=True):
            assert_same(one, other)
        assert loaded[3].seed is None
        assert loaded[1].position(GO).komi == -3.5

    @pytest.mark.parametrize("number", [0, 1])
    def test_seeds_to_the_greatest_that_is_kept(self, number: int, tmp_path: Path) -> None:
        seed = [5, 5]
        seed[number] = 2**63 - 1
        record = replace(random_game(1), seed=tuple(seed))
        assert_same(load_records(saved(tmp_path / "games.npz", [record]))[0], record)
        for wrong in (2**63, -1):
            seed[number] = wrong
            with pytest.raises(ValueError, match=r"seed must be two integers from 0 to 2\^63 - 1, got \("):
                replace(record, seed=tuple(seed))

    def test_dtypes(self) -> None:
        record = random_game(1)
        kinds = {name: str(getattr(record, name).dtype) for name in ARRAYS}
        integers = {"moves": "int16", "policies": "uint16", "legal_counts": "int16", "movers": "int8"}
        assert kinds == integers | dict.fromkeys(("values", "weights", "surprises"), "float32")

    def test_a_damaged_file(self, tmp_path: Path) -> None:
        """A byte changed anywhere is seen, or does no harm; it never ends in another kind of error."""
        path = saved(tmp_path / "games.npz", [random_game(seed) for seed in range(2)])
        data = path.read_bytes()
        noticed = 0
        for place in range(0, len(data), 37):
            path.write_bytes(data[:place] + bytes([data[place] ^ 0x5A]) + data[place + 1 :])
            try:
                load_records(path)
            except ValueError as error:
                assert "holds no game records" in str(error)  # noqa: PT017
                noticed += 1
        assert noticed > 20

    @pytest.mark.parametrize(
        "write",
        [
            lambda file: file.write(b"(;GM[1]SZ[9];B[ee];W[ec])"),
            lambda file: np.save(file, np.zeros(3)),
            lambda file: np.savez(file, moves=np.zeros(3), lengths=np.array([3])),
            lambda file: np.savez(file, lengths=np.array([{}], dtype=object)),  # a pickle
            lambda file: file.write(b""),
        ],
    )
    def test_a_foreign_file(self, tmp_path: Path, write: Callable[[BinaryIO], object]) -> None:
        path = tmp_path / "foreign.npz"
        with path.open("wb") as file:
            write(file)
        with pytest.raises(ValueError, match=r"foreign.npz holds no game records"):
            load_records(path)

    def test_a_bomb_is_refused_before_it_is_inflated(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Zeros, which deflate a thousand times."""
        monkeypatch.setattr("alphago.system.npz.ALWAYS_ALLOWED", 2**20)
        np.savez_compressed(tmp_path / "bomb.npz", moves=np.zeros(2**22, np.int8))
        with pytest.raises(ValueError, match=r"bomb.npz holds no game records .*would take 4,194,432 bytes"):
            load_records(tmp_path / "bomb.npz")

    def test_games_that_compress_well_are_read(self, tmp_path: Path) -> None:
        """Without searches their policies are zeros."""
        record = random_game(1)
        many = [replace(record, policies=np.zeros_like(record.policies))] * 2000
        assert len(load_records(saved(tmp_path / "games.npz", many))) == 2000


def test_quantisation_error() -> None:
    policies = np.random.default_rng(0).dirichlet(np.full(362, 0.05), 20).astype(np.float32)
    kept = quantise(policies)
    assert kept.dtype == np.uint16
    assert abs(kept / POLICY_SCALE - policies).max() <= 0.5 / POLICY_SCALE + 1e-7


def test_position_before_each_ply() -> None:
    record = random_game(5, {"komi": 0.5, "black": "B2"})
    position = GO.position(komi=0.5, black="B2")
    for ply, action in enumerate(record.moves):
        before = record.position(GO, ply)
        assert np.array_equal(before.board, position.board)
        assert before.to_play == position.to_play == record.movers[ply]
        assert before.legal_mask.sum() == record.legal_counts[ply]
        position = position.play(int(action))
    last = record.position(GO)
    assert (last.is_over, last.result, last.score()) == (True, record.outcome, record.score)
    assert record.position(GO, 0).moves == ()


def test_result_string() -> None:
    scored = {"B+2.5": (1, 2.5), "W+7.5": (-1, -7.5), "B+12": (1, 12.0), "draw": (-0.0, -0.0)}
    for resigned, results in ((False, scored), (True, {"W+R": (-1, -1), "B+R": (1, 1), "draw": (0, 0)})):
        for text, result in results.items():
            assert RecordBuilder().finish(*result, resigned, 10).result_string == text
