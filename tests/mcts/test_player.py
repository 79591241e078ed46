"""`MCTSPlayer`: AlphaGo.jl's verbs, records and rules."""

import copy
import pickle

import numpy as np
import pytest

from alphago import GoEnv, Gumbel, IllegalMove, MCTSPlayer, NeuralNet, OwareEnv, Puct
from alphago.arena.players import SearchPlayer
from alphago.examples.tic_tac_toe import TicTacToeEnv
from alphago.mcts.evaluator import HashEvaluator, UniformEvaluator
from alphago.mcts.puct import PuctRule
from alphago.records.record import POLICY_SCALE
from tests import diagrams
from tests.mcts.trees import assert_same, improved
from tests.ui.own_games import OwnedByBlack

GO9, GO5, TIC_TAC_TOE = GoEnv(9), GoEnv(5), TicTacToeEnv()


def test_a_player_with_a_network_cannot_be_pickled() -> None:
    env = GoEnv(3)
    with pytest.raises(TypeError, match="cannot be pickled: pass the network itself, its name or its file"):
        pickle.dumps(MCTSPlayer(env, NeuralNet(env, tower_height=0, channels=4), device="cpu"))


def test_a_copy_searches_as_the_player() -> None:
    player = MCTSPlayer(GO5, HashEvaluator(), leaves=1)
    player.tree_search(20)
    for one in (twin := copy.deepcopy(player), player):
        one.tree_search(20)
    assert_same(player.search, twin.search)


def resigning_plies(player: MCTSPlayer, plies: int) -> list[int]:
    """Play the first legal moves, and return the plies before which the player would resign."""
    found = []
    for ply in range(plies):
        player.analysis()  # evaluates the root
        if player.should_resign():
            found.append(ply)
        player.play_move(int(player.position.legal_mask.argmax()))
    return found


class TestVerbs:
    def test_pick_move_early_and_late(self) -> None:
        """Drawn by visits in the first plies, the most visited later (AlphaGo.jl's `pick_moves`)."""
        player = MCTSPlayer(GO9, HashEvaluator(), seed=3)
        player.tree_search(200)
        assert player.temperature_plies == 6
        picks = [player.pick_move() for _ in range(300)]
        visits = player.visits()
        assert all(visits[action] for action in picks)
        shares = np.bincount(picks, minlength=82) / 300
        assert shares == pytest.approx(visits / visits.sum(), abs=0.1)
        assert len(set(picks)) > 5
        for _ in range(6):
            player.play_move(int(np.flatnonzero(player.position.legal_mask)[0]))
        for late in (player, MCTSPlayer(GO9, HashEvaluator(), two_player_mode=True)):
            late.tree_search(50)
            assert {late.pick_move() for _ in range(20)} <= set(np.flatnonzero(late.visits() == late.visits().max()))

    def test_suggest_move_adds_readouts_to_the_tree_it_kept(self) -> None:
        player = MCTSPlayer(GO5, HashEvaluator(), num_readouts=64, two_player_mode=True)
        move = player.suggest_move()
        assert player.root_visits == 65
        assert player.position.moves == ()  # it was not played
        kept = player.visits()[move]
        player.play_move(move)
        assert player.root_visits == kept > 1
        player.suggest_move()
        assert player.root_visits == kept + 64

    def test_nothing_is_searched_for_a_single_candidate(self) -> None:
        for settings, readouts in (("gumbel", 1), (Gumbel(considered=1), 32)):
            player = MCTSPlayer(GO5, HashEvaluator(), readouts, two_player_mode=True, settings=settings)
            assert player.suggest_move() == player.analysis().best()
            assert player.root_visits == 1

    def test_nothing_is_searched_after_the_end(self) -> None:
        player = MCTSPlayer(GO5, HashEvaluator())
        player.play_move(25)
        player.play_move(25)
        assert player.tree_search(50) == 0
        with pytest.raises(ValueError, match=r"no analysis: the game is over \(W\+7.5\)"):
            player.analysis()
        for pick in (player.pick_move, player.suggest_move):
            with pytest.raises(ValueError, match=r"no move to pick: the game is over \(W\+7.5\)"):
                pick()
        with pytest.raises(IllegalMove, match="the game is over"):
            player.play_move(3)

    def test_a_new_game_forgets_the_old_one(self) -> None:
        player = MCTSPlayer(GO5, HashEvaluator())
        player.tree_search(30)
        player.play_move(12)
        with pytest.raises(ValueError, match="winner must be"):
            player.set_result(7.5, False)  # type: ignore[arg-type]
        player.set_result(1, was_resign=True)
        with pytest.raises(ValueError, match=r"the game is over \(B\+R\)"):
            player.pick_move()
        player.initialize_game()
        assert (player.is_done(), player.root_visits, len(player.game_record())) == (False, 0, 0)

    def test_an_illegal_move_changes_nothing(self) -> None:
        player = MCTSPlayer(GO5, HashEvaluator())
        player.tree_search(30)
        player.play_move(12)
        visits = player.visits().tolist()
        with pytest.raises(IllegalMove, match=r"illegal move C3: Black has a stone there, in GoEnv\(5\) after B C3"):
            player.play_move(12)
        with pytest.raises(ValueError, match=r"position must be of GoEnv\(5\), got one of GoEnv\(9\)"):
            player.initialize_game(GO9.position())
        assert player.visits().tolist() == visits
        assert player.position.moves == (12,)
        assert len(player.game_record()) == 1

    @pytest.mark.parametrize(
        ("side", "value", "first"), [(5, 0.95, 11), (5, -0.85, None), (5, -0.95, 10), (7, -0.95, 20), (9, -0.95, 34)]
    )
    def test_should_resign_below_the_threshold(self, side: int, value: float, first: int | None) -> None:
        """In the third turn in a row, with two plies for five points; the values are those of the side that begins, and
        where they are good the other side resigns.
        """
        env = GoEnv(side)
        for colour, sign in (("black", 1), ("white", -1)):
            player = MCTSPlayer(env, lambda _, value=sign * value: (np.ones(env.action_space), value))
            player.initialize_game(env.position(to_play=colour))
            assert not player.should_resign()  # before any search
            assert resigning_plies(player, 36 if side == 9 else 22)[:1] == ([] if first is None else [first])

    def test_it_does_not_resign_soon_after_a_good_turn(self) -> None:
        """One in which the value is not below the threshold: two more have to follow it."""
        player = MCTSPlayer(GO5, lambda position: (np.ones(26) / 26, -0.5 if position.move_number == 12 else -1.0))
        assert resigning_plies(player, 24) == [10, 18, 20, 22]

    @pytest.mark.parametrize(("behind", "resigns"), [(2.4, False), (2.6, True)])
    def test_it_does_not_resign_where_it_is_hardly_behind(self, behind: float, resigns: bool) -> None:
        """By less than half a point for each line of the board, where the network forecasts the score."""
        network = OwnedByBlack()
        network.value, network.score = -1.0, -behind
        player = MCTSPlayer(GO5, network, device="cpu", level=10)
        assert bool(resigning_plies(player, 12)) == resigns

    @pytest.mark.parametrize(
        ("moves", "winner", "resigned", "text"),
        [
            ("", 1, True, "B+R"),
            ("", -1, True, "W+R"),
            ("B C3, W pass, B pass", None, None, "B+17.5"),
            ("", 0, False, "draw"),
            ("", -1, False, "W+7.5"),
            ("", 1, False, "B+1"),  # White is ahead on the board: by how much Black won is not known
        ],
    )
    def test_result_string(self, moves: str, winner: int | None, resigned: bool | None, text: str) -> None:
        player = MCTSPlayer(GO5, HashEvaluator())
        player.initialize_game(diagrams.play(GO5.position(), moves))
        if winner is not None:
            player.set_result(winner, resigned)
        assert (player.result_string, player.result) == (text, {"B": 1, "W": -1}.get(text[0], 0))
        assert player.is_done()

    def test_a_position_with_a_pass_that_came_early_for_the_player(self) -> None:
        player = MCTSPlayer(GO5.replace(first_pass=10), HashEvaluator())
        player.initialize_game(diagrams.play(GO5.position(komi=0.5), "B pass, W C3"))
        record = player.game_record()
        assert record.moves.tolist() == [25, 12]
        assert record.legal_counts.tolist() == [26, 26]
        assert record.setup == {"komi": 0.5}
        assert player.position.moves == (25, 12)

    def test_pick_move_searches_if_nobody_has(self) -> None:
        player = MCTSPlayer(GO5, HashEvaluator())
        assert player.position.legal_mask[player.pick_move()]
        assert player.root_visits == 1 + 8


class TestGumbel:
    """What sequential halving ends with is played, from the first simulation of each move on."""

    SETTINGS = Gumbel(considered=4)

    @pytest.mark.parametrize("readouts", [8, 12, 16])
    def test_it_plays_as_in_a_match(self, readouts: int) -> None:
        evaluator, games = HashEvaluator(), np.zeros(1, np.int64)
        match = SearchPlayer(TIC_TAC_TOE, evaluator, 1, readouts, self.SETTINGS)
        for seed in range(6):
            player = MCTSPlayer(TIC_TAC_TOE, evaluator, readouts, True, settings=self.SETTINGS, seed=seed)
            match.search.batch.reset(games)
            match.search.forget(games)
            while not player.is_done():
                wanted = match.choose(games, np.zeros(1, np.bool_), np.zeros(1))
                assert player.suggest_move() == player.suggest_move() == wanted[0]
                assert player.visits().sum() == readouts
                player.play_move(wanted[0])
                match.follow(games, wanted)

    def test_the_improved_policy_is_recorded_and_drawn_from_at_first(self) -> None:
        player = MCTSPlayer(GO5, UniformEvaluator(), 16, settings=self.SETTINGS, seed=0)
        drawn = {player.suggest_move() for _ in range(30)}
        policy = improved(player.search, np.zeros(1, np.int64))[0][0]
        assert len(drawn) > 3
        assert (policy > 0).sum() > 20  # more than the four considered
        player.play_move(player.pick_move())
        np.testing.assert_allclose(player.game_record().policies[0] / POLICY_SCALE, policy, atol=1e-3)
        assert player.root_visits == 0


class TestRecords:
    def test_policies_values_and_weights(self) -> None:
        """A move that no search preceded counts nothing; its policy is even over the legal moves."""
        player = MCTSPlayer(GO5, HashEvaluator(), num_readouts=40, seed=1)
        moves, values, policies = [], [], []
        for ply in range(4):
            if ply != 2:
                player.suggest_move()
            moves.append(player.pick_move() if ply != 2 else int(np.flatnonzero(player.position.legal_mask)[5]))
            values.append(player.root_value)
            policies.append(player.visits())
            if ply == 2:
                player.search.forget(np.zeros(1, np.int64))
                policies[2], values[2] = player.position.legal_mask.astype(int), 0.0
            player.play_move(moves[-1])
        record = player.game_record()
        assert record.moves.tolist() == moves
        assert record.weights.tolist() == [1, 1, 0, 1]
        assert record.movers.tolist() == [1, -1, 1, -1]
        assert record.values == pytest.approx(values)
        for kept, policy in zip(record.policies, policies, strict=True):
            assert kept / 65535 == pytest.approx(policy / policy.sum(), abs=1e-5)
        player.set_result(-1, True)
        positions, shares, outcomes = player.extract_data()  # as in AlphaGo.jl
        assert [position.moves for position in positions] == [tuple(moves[:ply]) for ply in (0, 1, 3)]
        assert [share.sum() for share in shares] == pytest.approx([1, 1, 1], abs=1e-6)
        assert [share.argmax() for share in shares] == [policies[ply].argmax() for ply in (0, 1, 3)]
        assert (outcomes, shares[0].dtype) == ([-1.0] * 3, np.float32)

    def test_from_a_set_up_and_advanced_position(self) -> None:
        """Stones, komi, side to move and the moves since are all in the record."""
        drawing = """
            . X . . .
            X . . O .
            . . . . .
            . O . X .
            . . . . .
        """
        start = diagrams.position(drawing, "W C3, B E5, W pass", komi=-3.5, to_play="white")
        player = MCTSPlayer(GO5, HashEvaluator(), num_readouts=16, seed=5)
        player.initialize_game(start)
        for _ in range(5):
            player.suggest_move()
            player.play_move(int(player.visits()[:-1].argmax()))  # no pass: the game is to go on
        record = player.game_record()
        assert record.weights.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
        assert record.movers.tolist() == [-1, 1] * 4
        at_start, end = record.position(GO5, 3), record.position(GO5)
        assert np.array_equal(at_start.board, start.board)
        assert at_start.to_play == start.to_play == 1
        assert at_start.moves == start.moves
        assert np.array_equal(end.board, player.position.board)
        assert end.komi == -3.5
        assert end.score() == player.position.score() == record.score
        assert record.legal_counts.tolist() == [record.position(GO5, ply).legal_mask.sum() for ply in range(8)]


def test_the_same_seed_gives_the_same_game() -> None:
    games = []
    for seed in (1, 1, 2):
        player = MCTSPlayer(GO9, HashEvaluator(), num_readouts=20, seed=seed)
        for _ in range(8):
            player.play_move(player.suggest_move())
        games.append(player.position.moves)
    assert games[0] == games[1] != games[2]


@pytest.mark.parametrize(("setup", "plies"), [({}, 0), ({"move_number": 90}, 90)])
def test_the_search_is_told_the_plies_before_a_set_up_too(
    setup: dict[str, int], plies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(PuctRule, "begin_move", lambda rule, games, plies: told.extend(plies.tolist()))
    env = OwareEnv()
    player = MCTSPlayer(env, UniformEvaluator(), 2, settings=Puct())
    player.initialize_game(env.position(**setup))
    for _ in range(3):
        player.play_move(player.suggest_move())
    assert told == [plies, plies + 1, plies + 2]
