"""`PageSearch`: the search for one query of a page, and its replies in the fields of KataGo's analysis protocol.

Win rates and leads are Black's.  Beyond KataGo's fields a query has `game`, `network`, `level` and `play`, which says
whether a move is to be chosen.  A reply has `searched`, the simulations of this query.  The last reply has `play`, the
chosen move or "resign", and `opponent`, a sentence on how strong the other side seems to the level "even".
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from alphago.env.game import PLAYER_NAMES
from alphago.mcts.analysis_result import Analysis
from alphago.mcts.levels import FULL_STRENGTH, check_level
from alphago.mcts.questions import Answer, Limit
from alphago.system.validation import check_bool, check_int, check_positive
from alphago.ui.katago import move_infos, root_fields
from alphago.ui.web.guard import MOST_SECONDS, most_readouts
from alphago.ui.web.page_actions import Query, QueryReader

LINE_PLIES = 12  # most plies of an expected line


class PageSearch:
    """The search for a query; it begins at once.

    Args:
        page: reads the game, position and network of the page's queries.

    Raises:
        ValueError: for an impossible query.
    """

    def __init__(self, page: QueryReader, query: Query) -> None:
        self.id = query.get("id")
        self.position = page.position(query)
        if self.position.is_over:
            raise ValueError("the game is over")
        most = most_readouts(self.position.env)
        visits, seconds, level = query.get("maxVisits"), query.get("maxTime"), query.get("level")
        readouts = most if visits is None else check_int("maxVisits", visits, 1, most + 1) - 1
        seconds = None if seconds is None else check_positive("maxTime", seconds, MOST_SECONDS)
        level = FULL_STRENGTH if level is None else check_level(level)
        self.plays = check_bool("play", query.get("play", False))
        self.searches = readouts > 0
        self.lost_turns = page.lost_turns
        self.engine = page.engine(query, self.position.env)
        self.question = self.engine.analyst.ask(
            self.engine.position(self.position),
            limit=Limit(readouts, seconds, added=self.plays),
            level=level if self.plays else None,
            every=query.get("reportDuringSearchEvery"),
            plies=LINE_PLIES,
            # A move without a search is the network's own choice, not that of an earlier search's tree.
            reuse=self.searches or not self.plays,
        )

    def reply(self, answer: Answer) -> dict[str, Any]:
        """Return the reply for an answer of the analyst."""
        reply = {"id": self.id, "isDuringSearch": not answer.is_last, "turnNumber": len(self.position.moves)}
        reply |= {"searched": answer.readouts, **analysis_fields(answer.found)}
        if answer.is_last and self.plays:
            assert answer.action is not None
            # A network without a search does not resign.
            resigns = self.searches and self.lost_turns.resigns(answer, self.engine.network)
            reply["play"] = "resign" if resigns else self.position.env.to_text(answer.action)
            reply["opponent"] = "" if answer.opponent is None else str(answer.opponent)
        return reply


def analysis_fields(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis of one position in KataGo's fields; unknown scores and ownership are left out.

    Args:
        analysis: in the view of the player to move.
    """
    mover, legal = int(analysis.to_play[0]), analysis.prior[0] > 0
    black = analysis.as_black()
    fields = {
        "moveInfos": [page_fields(info, black) for info in move_infos(black, ())],
        "rootInfo": {**page_fields(root_fields(black), black), "currentPlayer": PLAYER_NAMES[mover][0]},
        "policy": np.where(legal, analysis.prior[0].astype(np.float64), -1).round(6).tolist(),
    }
    if black.ownership is not None:
        fields["ownership"] = black.ownership[0].ravel().astype(np.float64).round(3).tolist()
    return fields


def page_fields(fields: Mapping[str, Any], analysis: Analysis) -> dict[str, Any]:
    """Return those of KataGo's fields that a page needs, rounded; an unknown lead is left out.

    Args:
        fields: of a move or of the position.
        analysis: from which the fields were made.
    """
    needed = {name: fields[name] for name in ("move", "visits", "order", "pv") if name in fields}
    digits = {"winrate": 4, "prior": 4, **({} if np.isnan(analysis.root_score[0]) else {"scoreLead": 2})}
    rounded = {name: round(fields[name], digits[name]) + 0.0 for name in digits if name in fields}  # makes -0.0 a 0.0
    return needed | rounded
