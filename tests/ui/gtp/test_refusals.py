"""What GTP's commands refuse on a board of 9x9: the reply is the failure, and the game is as it was."""

from dataclasses import replace

import pytest

from alphago import GoEnv
from alphago.mcts.evaluator import HashEvaluator
from alphago.ui.gtp.game_commands import GoEngine
from tests.ui.gtp.engine import ask

# The failure, and commands; a failure may go on.
REFUSED = """
unacceptable size <- boardsize 7; boardsize 0; boardsize -5; boardsize 9 7
syntax error <- boardsize; boardsize x; boardsize 9.0; genmove; play; play b; fixed_handicap; kgs-rules
syntax error <- komi; komi x; komi nan; komi inf; komi 1_0; komi 5,5; komi 0x1; kata-set-param maxVisits
syntax error <- time_settings 1 2; time_settings 1 2 x; time_settings -1 0 0; time_settings 1.5 0 0
syntax error <- time_left b 5; time_left b x 0; time_left b 1 x; kgs-time_settings byoyomi 1; kgs-time_settings later 1
komi must be a multiple of 0.5 from -1000 to 1000, got 6.25 <- komi 6.25
unknown command <- undo_; 1name
this is GTP, the Go Text Protocol; `alphago analysis` speaks JSON <- {"id":"a","action":"query_version"}
cannot undo <- undo
invalid color or coordinate <- play x c3; play b i3; play b z9; play b k1; play b a0; play b a10; play b 33; play b c33
invalid color or coordinate <- play b resign; time_left x 1 0; genmove x
unknown rules <- kgs-rules mine; kata-set-rules 7; kata-set-rules {"ko":"NONE"}; kata-set-rules {ko
rules must <- kata-set-rules japanese; kata-set-rules Korean; kata-set-rules koSIMPLEscoreTERRITORYtaxSEKIsui0
rules must <- kata-set-rules {"scoring": "TERRITORY"}; kata-set-rules {"hasButton": true}
invalid number of stones <- fixed_handicap 1; fixed_handicap 10; place_free_handicap 1
bad vertex list <- set_free_handicap A1; set_free_handicap A1 A1; set_free_handicap A1 pass; set_free_handicap A1 K9
the status must be one of alive, dead, seki, got lost <- final_status_list lost
cannot load file <- loadsgf no/where.sgf
cannot save file <- printsgf no/where.sgf
unknown key noResultValue <- kata-analyze 1 noResultValue true
unknown key nonsense <- kata-analyze nonsense
unknown key -1 <- kata-analyze -1
unknown key ownership <- lz-analyze 1 ownership true
ownership must be true or false, got maybe <- kata-analyze 1 ownership maybe
ownership needs a value <- kata-analyze 1 ownership
minmoves must be at least 0, got -1 <- kata-analyze 1 minmoves -1
interval must be at least 0, got -1 <- kata-analyze interval -1
avoid needs a player, vertices and a depth <- kata-analyze 1 avoid B D4
avoid needs vertices such as D4,Q16, got Z9 <- kata-analyze 1 avoid B Z9 1
avoid needs a depth >= 1, got 0 <- kata-analyze 1 avoid B D4 0
allow must be given once for a player, and without avoid <- kata-analyze 1 avoid B D4 1 allow B D4 1
allow must be given once for a player, and without avoid <- kata-analyze b 1 allow B C3,C3 1 allow B D4 1
the symmetry must be 0 to 7 or all, got 8 <- kata-raw-nn 8
unknown parameter nothing <- kata-get-param nothing
level must be a number from 1 to 10, or 'even', got '11' <- kata-set-param level 11
maxVisits must be an integer from 0 <- kata-set-param maxVisits -1
maxTime must be a number > 0 <- kata-set-param maxTime 0
the value must be true or false <- kata-set-param ponderingEnabled perhaps
reportAnalysisWinratesAs must be one of <- kata-set-param reportAnalysisWinratesAs RED
playoutDoublingAdvantage must be 0 <- kata-set-param playoutDoublingAdvantage 1
"""
ENGINE = GoEngine(GoEnv(9), HashEvaluator(), 8)


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_is_refused(line: str) -> None:
    failure, _, commands = line.partition(" <- ")
    game = ENGINE.game
    before = game.env, game.position, game.komi, replace(ENGINE.parameters)
    for command in commands.split("; "):
        assert ask(ENGINE, command)[0].startswith(f"? {failure}"), command
        assert (game.env, game.position, game.komi, ENGINE.parameters) == before
        assert ENGINE.game is game
