"""Datasets: what goes in comes out, by numpy alone too; damage, duplicates and interruptions."""

import gzip
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alphago.env.go import GoEnv
from alphago.records import dataset_import, dataset_writer
from alphago.records.collection import read_collection
from alphago.records.dataset import Dataset, rules_code
from alphago.records.dataset_import import ImportReport, import_games
from alphago.records.dataset_writer import DatasetWriter, Split, game_hash
from alphago.records.game_conversion import GameFilter
from alphago.records.sgf import SgfGame, format_sgf, read_sgf
from alphago.records.sgf.values import point_text
from alphago.records.sources import find_indexes, read_indexes
from tests.random_games import random_game as random_moves

DATA = Path(__file__).parents[1] / "data"
GAMES = sorted(DATA.glob("**/*.sgf"))
ANY = GameFilter(min_moves=0, any_result=True)


def imported(folder: Path, *paths: Path, **options: object) -> tuple[Dataset, ImportReport]:
    given = list(paths) if len(paths) > 1 else str(paths[0])  # a string is a path, not a sequence of letters
    report = import_games(given, folder, **{"filter": ANY, **options})  # type: ignore[arg-type]
    return Dataset(folder), report


def text_of(game: SgfGame) -> str:
    """A game as a line's moves."""
    points = [point_text(game.env(), action) or "tt" for action in game.moves]
    return "".join(f";{'BW'[ply % 2]}[{point}]" for ply, point in enumerate(points))


def random_game(seed: int, size: int = 19, length: int = 60) -> SgfGame:
    moves = random_moves(GoEnv(size), seed, length)[-1].moves
    return SgfGame(size, moves, 6.5, result="B+R" if seed % 2 else "W+3.5")


def test_nothing_to_import(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="games must be in one file, folder or archive or more, got none"):
        import_games([], tmp_path / "d")
    with pytest.raises(FileNotFoundError, match="games must be in a file"):
        imported(tmp_path / "d", tmp_path / "none")
    assert not (tmp_path / "d").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_pipes_are_not_read(tmp_path: Path) -> None:
    for name in ("a.sgf", "a.zip", "a", "a.index"):
        os.mkfifo(tmp_path / name)
    files = [tmp_path / name for name in ("a.sgf", "a.zip", "a")]
    report = import_games([*files, *GAMES[:1]], tmp_path / "d", filter=ANY)
    assert (report.kept, report.rejected) == (1, {"damaged file": 3})
    with pytest.raises(OSError, match=r"a\.index is a pipe, no regular file"):
        import_games(GAMES[:1], tmp_path / "e", index=tmp_path / "a.index")


class TestFormat:
    def test_what_goes_in_comes_out(self, tmp_path: Path) -> None:
        dataset, report = imported(tmp_path / "d", DATA)
        assert report.kept == len(dataset) == len(GAMES)
        stored = {tuple(one.moves.tolist()): one for one in dataset.games()}
        for game in map(read_sgf, GAMES):
            one, env = stored[game.moves], game.env()
            assert (one.row["size"], one.komi) == (game.board_size, game.komi)
            assert one.setup(env) == {**game.setup, **({} if game.komi == env.komi else {"komi": game.komi})}
            assert one.row["rules"] == rules_code(game.played_rules)
            record = one.to_record(env)
            assert record.position(env).moves == game.moves
            assert one.row["outcome"] == record.outcome == (game.outcome or 0)
            assert one.movers.tolist() == record.movers.tolist() == list(game.movers)
        dataset.verify()

    def test_splits(self, tmp_path: Path) -> None:
        split = Split(0.25, 0.25)
        for seed in range(60):
            (tmp_path / f"{seed}.sgf").write_bytes(format_sgf(random_game(seed, 9, 20)))
        dataset, _ = imported(tmp_path / "d", tmp_path, split=split)
        parts = [dataset.select(name) for name in ("train", "validation", "test")]
        assert sorted(np.concatenate(parts).tolist()) == list(range(60))
        assert all(len(part) > 3 for part in parts)
        hashes = np.random.default_rng(0).integers(2**64, size=100_000, dtype=np.uint64)
        assert np.bincount(split.assign(hashes)) / 100_000 == pytest.approx([0.5, 0.25, 0.25], abs=0.01)

    def test_set_up_handicap_and_white_first(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text(
            "(;SZ[9]HA[2]KM[0.5]RE[W+R]BR[3d]WR[9p]DT[1999-01-02]AB[gc][cg]AW[aa];W[ee];B[ff])"
        )
        dataset, _ = imported(tmp_path / "d", tmp_path / "a.sgf")
        game = dataset.game(0)
        assert game.setup(GoEnv(9)) == {"black": "G7 C3", "white": "A9", "to_play": "white", "komi": 0.5}
        names = ("handicap", "black_rank", "white_rank", "year", "outcome")
        assert [int(game.row[name]) for name in names] == [2, 3, 109, 1999, -1]
        assert game.movers.tolist() == [-1, 1]

    def test_when_the_score_is_known(self, tmp_path: Path) -> None:
        """Where the last board, counted as it stands, gives the result."""
        wall = "AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de]"
        for result, is_known in (("B+4.5", True), ("B+14.5", False), ("W+4.5", False), ("B+R", False)):
            (tmp_path / "a.sgf").write_text(f"(;SZ[5]KM[0.5]RE[{result}]{wall};B[];W[])")
            dataset, _ = imported(tmp_path / result, tmp_path / "a.sgf")
            assert dataset.game(0).has_score == is_known


class TestDamage:
    def test_a_changed_byte(self, tmp_path: Path) -> None:
        imported(tmp_path / "d", DATA / "9x9")
        path = tmp_path / "d" / "moves-000000.npy"
        data = bytearray(path.read_bytes())
        data[-3] ^= 1
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"moves-000000\.npy is damaged \(its digest differs\)"):
            Dataset(tmp_path / "d").verify()

    @pytest.mark.parametrize(
        ("name", "data", "why"),
        [
            ("moves-000000.npy", None, "is missing"),
            ("games-000000.npy", b"", "is damaged"),
            ("games-000000.npy", b"\x93NUMPY\x01", "is damaged"),
            ("games-000000.npy", b"\x93NUMPY\x01\x00\x10\x00(((((((((((((((\n", "is damaged"),
            ("index.json", b"{", "is damaged"),
            ("index.json", b'{"format":"alphago-dataset","version":1,"parts":[{"games":{},"moves":{}}]}', "is damaged"),
            ("index.json", b'{"format":"alphago-dataset","version":9,"parts":[]}', "must be of format"),
        ],
    )
    def test_what_opening_says(self, tmp_path: Path, name: str, data: bytes | None, why: str) -> None:
        imported(tmp_path / "d", DATA / "9x9")
        if data is None:
            (tmp_path / "d" / name).unlink()
        else:
            (tmp_path / "d" / name).write_bytes(data)
        with pytest.raises(ValueError, match=why):
            Dataset(tmp_path / "d")

    def test_no_dataset(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="must be a dataset"):
            Dataset(tmp_path)
        (tmp_path / "other").write_text("x")
        with pytest.raises(FileExistsError, match="must be a new or empty folder"):
            imported(tmp_path, GAMES[0])


class TestDuplicates:
    def test_turned_and_reflected(self, tmp_path: Path) -> None:
        game = random_game(3, 9, 30)
        for number, order in enumerate(GoEnv(9).symmetries.actions):
            turned = SgfGame(9, tuple(order[list(game.moves)].tolist()), 6.5, result="B+R")
            (tmp_path / f"{number}.sgf").write_bytes(format_sgf(turned))
        (tmp_path / "other.sgf").write_bytes(format_sgf(random_game(4, 9, 30)))
        dataset, report = imported(tmp_path / "d", tmp_path)
        assert len(dataset) == 2
        assert report.rejected == {"duplicate": 7}

    def test_hashes_differ(self) -> None:
        words = np.array([3, 4, 5], np.uint16)
        heads = [(GoEnv(9), 1, 0), (GoEnv(9), -1, 0), (GoEnv(9), 1, 1), (GoEnv(19), 1, 0)]
        assert len({game_hash(GoEnv(9), 1, 0, words[:2]), *(game_hash(*head, words) for head in heads)}) == 5
        assert game_hash(*heads[0][:2], 2, words) == game_hash(*heads[0][:2], 2, words[[1, 0, 2]])  # in any order


class TestSources:
    def make(self, folder: Path) -> None:
        """The same 18 games in every form."""
        for path in GAMES:
            target = folder / "plain" / path.name.upper()
            target.parent.mkdir(exist_ok=True, parents=True)
            shutil.copy(path, target)
        with tarfile.open(folder / "all.tar.gz", "w:gz") as archive:
            archive.add(folder / "plain", "games")
        with zipfile.ZipFile(folder / "all.zip", "w") as packed:
            packed.write(folder / "all.tar.gz", "inner/all.tar.gz")
            packed.writestr("readme.md", "no games")

    def test_folders_and_archives(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        for name in ("plain", "all.tar.gz", "all.zip"):
            dataset, report = imported(tmp_path / f"d-{name}", tmp_path / name)
            assert (len(dataset), sum(report.rejected.values())) == (len(GAMES), 0)
        dataset, report = imported(tmp_path / "d", *(tmp_path / name for name in ("plain", "all.tar.gz", "all.zip")))
        assert (len(dataset), report.rejected) == (len(GAMES), {"duplicate": 2 * len(GAMES)})

    def test_one_game_a_line(self, tmp_path: Path) -> None:
        games = [random_game(seed) for seed in range(30)]
        (tmp_path / "kifu").mkdir()
        lines = [f"{100 + i}\t{text_of(game)}\n" for i, game in enumerate(games)]
        (tmp_path / "kifu" / "2005-11").write_text("".join(lines) + "999\t;B[zz]\n998\t;B[aa];W[aa]\n")
        head = "2005.11.02 10:48\t忧郁\tb\t6.5"
        index = [f"{100 + i}\t{head}\t{game.result}\t60\t30/3 5m\n" for i, game in enumerate(games)]
        (tmp_path / "Kifu.index").write_text("".join(index[:29]))
        dataset, report = imported(tmp_path / "d", tmp_path / "kifu", filter=GameFilter(min_moves=10))
        assert len(dataset) == 29
        assert report.rejected == {"no result": 1, "bad point": 1, "occupied point": 1}
        for number, game in enumerate(games[:29]):
            one = dataset.game(number)
            assert tuple(one.moves.tolist()) == game.moves
            assert (one.komi, int(one.row["outcome"])) == (6.5, game.outcome)

    def test_packed_lines(self, tmp_path: Path) -> None:
        text = "".join(f"{i}\t{text_of(random_game(i))}\n" for i in range(5)).encode()
        with zipfile.ZipFile(tmp_path / "2005-11.zip", "w") as packed:
            packed.writestr("2005-11", text)
        (tmp_path / "more.gz").write_bytes(gzip.compress(text))
        dataset, report = imported(tmp_path / "d", tmp_path)
        assert (len(dataset), report.rejected) == (5, {"duplicate": 5})

    def test_indexes(self, tmp_path: Path) -> None:
        """Tygem's columns, in a zip: no komi there."""
        line = "75803708\tC2005.11.02 10:48\t드뎌\tkikwk\t0\tkaaka46\tkaaka46\t1\tW+Resign\t220\t30/3 5m\r\n"
        with zipfile.ZipFile(tmp_path / "Kifu2005.index.zip", "w") as packed:
            packed.writestr("Kifu2005.index", line + "junk\n\n12\t12.05\tDraw\n")
        assert find_indexes([tmp_path]) == [tmp_path / "Kifu2005.index.zip"]
        entries = read_indexes([tmp_path / "Kifu2005.index.zip"])
        assert entries[["id", "result"]].tolist() == [(12, b"Draw"), (75803708, b"W+Resign")]
        assert np.isnan(entries["komi"]).all()

    def test_damaged_archives(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        for name in ("all.tar.gz", "all.zip"):
            data = (tmp_path / name).read_bytes()
            (tmp_path / f"cut-{name}").write_bytes(data[: len(data) // 2])
        (tmp_path / "noise.tar.gz").write_bytes(b"\x1f\x8b" + bytes(range(256)))
        (tmp_path / "text.zip").write_text("no zip")
        damaged = [*sorted(tmp_path.glob("cut-*")), tmp_path / "noise.tar.gz", tmp_path / "text.zip"]
        _, report = imported(tmp_path / "d", *damaged)
        assert report.rejected["damaged file"] >= 4  # an archive in a damaged one counts too


class TestFilters:
    def test_reasons(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text("(;SZ[9]HA[2]RE[Void]BR[3d]WR[9d]AB[gc][cg];W[ee];B[ff];W[aa])")
        wrong = {"size": {"size": 19}, "too short": {"min_moves": 99}, "too long": {"max_moves": 2}}
        wrong |= {"handicap": {"max_handicap": 0}, "rank": {"min_rank": 4}, "no result": {"any_result": False}}
        wrong |= {"another player": {"player": "bob"}}
        for reason, options in [*wrong.items(), ("rank", {"max_rank": 8})]:
            chosen = replace(ANY, **options)
            dataset, report = imported(tmp_path / f"d-{options}", tmp_path / "a.sgf", filter=chosen)
            assert (len(dataset), report.rejected) == (0, {reason: 1})

    def test_ranks_of_games_without(self, tmp_path: Path) -> None:
        """yenw's lines have none; that all players are 9 dan is said on its page.  Limits belong to the band.

        An unknown rank is no rank between kyu and dan.
        """
        (tmp_path / "lines").write_text(f"1\t{text_of(random_game(1))}\n")
        (tmp_path / "a.sgf").write_text("(;SZ[9]RE[B+R]PB[Ann B.]BR[5k];B[ee];W[ff])")
        counts = [({}, 2), ({"min_rank": 5}, 0), ({"min_rank": 5, "rank": 9}, 1), ({"player": "ann"}, 1)]
        counts += [({"min_rank": -8, "max_rank": -5, "rank": -8}, 2), ({"min_rank": -30}, 0), ({"max_rank": 9}, 0)]
        counts += [({"rank": 9}, 2)]
        for options, count in counts:
            files = (tmp_path / "lines", tmp_path / "a.sgf")
            dataset, _ = imported(tmp_path / f"d{options}", *files, filter=replace(ANY, **options))
            assert len(dataset) == count
        ranks = [(int(game.row["black_rank"]), int(game.row["white_rank"])) for game in dataset.games()]
        assert ranks == [(9, 9), (-5, 9)]

    def test_games_that_are_cut(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text("(;SZ[9]RE[B+R];B[aa];W[bb];B[aa])")
        _, report = imported(tmp_path / "d", tmp_path / "a.sgf")
        assert report.rejected == {"occupied point": 1}
        assert "a.sgf, node 3: move 3, Black A9, is illegal" in report.rejected.examples["occupied point"][0]
        dataset, _ = imported(tmp_path / "cut", tmp_path / "a.sgf", filter=GameFilter(min_moves=0, cut=True))
        assert dataset.game(0).moves.tolist() == [0, 10]

    def test_komi_for_files_without(self, tmp_path: Path) -> None:
        (tmp_path / "a.sgf").write_text("(;SZ[9]RE[B+R];B[aa])")
        assert imported(tmp_path / "a", tmp_path / "a.sgf")[0].game(0).komi is None
        chosen = GameFilter(min_moves=0, komi=6.5)
        assert imported(tmp_path / "b", tmp_path / "a.sgf", filter=chosen)[0].game(0).komi == 6.5
        with pytest.raises(ValueError, match=r"komi must be a multiple of 0.5, got 6.3"):
            GameFilter(komi=6.3)


class TestResuming:
    def files(self, folder: Path, count: int) -> Path:
        (folder / "sgf").mkdir(exist_ok=True)
        for seed in range(count):
            (folder / "sgf" / f"{seed:03d}.sgf").write_bytes(format_sgf(random_game(seed, 9, 25)))
        return folder / "sgf"

    @pytest.fixture
    def small_jobs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dataset_import, "PIECES_PER_JOB", 4)
        monkeypatch.setattr(dataset_writer, "GAMES_PER_PART", 6)

    def stop_at(self, limit: int) -> Callable[[int, int], None]:
        """A progress that stops an import after so many games."""

        def progress(read: int, kept: int) -> None:
            if read >= limit:
                raise KeyboardInterrupt

        return progress

    @pytest.mark.usefixtures("small_jobs")
    def test_an_interrupted_import_goes_on(self, tmp_path: Path) -> None:
        """Killed after some jobs, at any place: the same call ends with the same dataset."""
        source = self.files(tmp_path, 30)
        whole, _ = imported(tmp_path / "whole", source)
        for limit in (5, 13, 22):
            with pytest.raises(KeyboardInterrupt):
                imported(tmp_path / "part", source, on_progress=self.stop_at(limit))
        (tmp_path / "part" / "games-000099.npy").write_bytes(b"of a killed process")
        with pytest.raises(ValueError, match="has an interrupted import of"):
            imported(tmp_path / "part", GAMES[0])
        again, report = imported(tmp_path / "part", source)
        assert (again.digest, len(again)) == (whole.digest, 30)
        assert report.total == 30
        assert not (tmp_path / "part" / "games-000099.npy").exists()
        _, report = imported(tmp_path / "part", source)
        assert (report.kept, report.total) == (0, 30)

    @pytest.mark.usefixtures("small_jobs")
    def test_killed_between_a_part_and_the_index(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The left-out file has a name that is no text."""
        source = self.files(tmp_path, 9)
        (source / os.fsdecode(b"\xff.sgf")).write_text("no game")
        monkeypatch.setattr(dataset_writer, "bytes_digest", lambda data: 1 / 0)  # after the part's file is written
        with pytest.raises(ZeroDivisionError):
            imported(tmp_path / "d", source)
        monkeypatch.undo()
        assert len(imported(tmp_path / "d", source)[0]) == 9

    def test_a_folder_that_has_changed(self, tmp_path: Path) -> None:
        """Files added, or changed at equal size, in a subfolder and with an old date: the same call reads it again."""
        source = self.files(tmp_path, 3)
        (source / "deep").mkdir()
        (source / "deep" / "a.sgf").write_text("(;SZ[9]RE[B+R];B[ee];W[gc];B[cc])")
        imported(tmp_path / "d", source)
        self.files(tmp_path, 5)
        _, report = imported(tmp_path / "d", source)
        assert (report.kept, report.rejected) == (2, {"duplicate": 4})
        (source / "deep" / "a.sgf").write_text("(;SZ[9]RE[B+R];B[ee];W[gc];B[dc])")
        os.utime(source / "deep" / "a.sgf", (1, 1))
        dataset, report = imported(tmp_path / "d", source)
        assert (len(dataset), report.kept) == (7, 1)
        _, report = imported(tmp_path / "d", source)
        assert (report.kept, report.total, report.rejected) == (0, 7, {})

    def test_the_dataset_in_the_folder_itself(self, tmp_path: Path) -> None:
        """`alphago sgf . --to games.dataset`: what the import writes is no change of its source."""
        source = self.files(tmp_path, 3)
        imported(source / "games.dataset", source)
        (source / "games.dataset" / "left").write_text("(;SZ[9];B[aa])")
        _, report = imported(source / "games.dataset", source)
        assert (report.kept, report.total, report.rejected) == (0, 3, {})

    @pytest.mark.usefixtures("small_jobs")
    def test_an_interrupted_import_of_a_folder_that_changes(self, tmp_path: Path) -> None:
        """Files before those already read would shift the jobs, and games would be skipped."""
        source = self.files(tmp_path, 20)
        with pytest.raises(KeyboardInterrupt):
            imported(tmp_path / "d", source, on_progress=self.stop_at(12))
        for seed in range(5):
            (source / f"{seed:03d}.sgf").unlink()
        (source / "zzz.sgf").write_bytes(format_sgf(random_game(99, 9, 25)))
        dataset, report = imported(tmp_path / "d", source)
        assert (len(dataset), report.kept + report.rejected["duplicate"]) == (21, 16)
        assert imported(tmp_path / "d", source)[1].kept == 0

    def test_adding_more(self, tmp_path: Path) -> None:
        source = self.files(tmp_path, 5)
        imported(tmp_path / "d", source)
        dataset, report = imported(tmp_path / "d", DATA / "9x9", source / "000.sgf")
        assert report.rejected == {"duplicate": 1}
        assert len(dataset) == 5 + len(list((DATA / "9x9").glob("*.sgf")))
        assert len(dataset.parts) == 2
        with pytest.raises(ValueError, match="split must be the dataset's own"):
            imported(tmp_path / "d", source, split=Split(0.5))

    def test_two_at_once(self, tmp_path: Path) -> None:
        with DatasetWriter(tmp_path / "d"), pytest.raises(BlockingIOError):
            DatasetWriter(tmp_path / "d")

    @pytest.mark.slow
    @pytest.mark.usefixtures("small_jobs")
    def test_processes(self, tmp_path: Path) -> None:
        """Two workers make the same dataset as none."""
        source = self.files(tmp_path, 30)
        one, _ = imported(tmp_path / "one", source)
        two, _ = imported(tmp_path / "two", source, workers=2)
        assert one.digest == two.digest

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
    def test_ctrl_c_while_its_processes_start(self, tmp_path: Path) -> None:
        """Twice, and as a terminal sends it, to all of them: they end at once, without a word."""
        command = [sys.executable, "-u", "-m", "alphago", "sgf", self.files(tmp_path, 8), "--to", tmp_path / "out"]
        process = subprocess.Popen(
            [*command, "--workers", "2"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
        )
        assert process.stderr is not None
        text = process.stderr.read(len("\nreading: "))
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.1)
            if process.poll() is not None:
                break
        text += process.communicate(timeout=300)[1]
        assert text.strip().startswith("reading:")
        assert "Traceback" not in text
        assert process.returncode == 130


def test_a_dataset_is_a_collection(tmp_path: Path) -> None:
    """What `watch` takes as records:PATH."""
    imported(tmp_path / "d", DATA, filter=GameFilter(min_moves=1))
    records = read_collection(tmp_path / "d", GoEnv(9), 100)
    assert {record.policies.shape[1] for record in records} == {82}
