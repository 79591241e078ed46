"""`PageSearch`: the search for one query of a page, and its replies in the fields of KataGo's analysis protocol.

Chances and leads are Black's. Beyond KataGo's fields a query has `game`, `network`, `level` and `play`, whether a move
is to be chosen; a reply has `searched`, the simulations of this query, and the last one `play`, the chosen move or
"resign", and `opponent`, how strong the level "even" takes the other side to be.
"""

import time
from typing import Any

import numpy as np

from alphago.mcts.analysis_result import Analysis
from alphago.mcts.levels import EVEN, LEVELS, check_level
from alphago.system.validation import check_bool, check_int, check_positive
from alphago.ui.thinker import MoveLimit
from alphago.ui.web.limits import MOST_SECONDS, most_readouts
from alphago.ui.web.new_game import letter
from alphago.ui.web.query_reader import Query, QueryReader

SLICE_SECONDS = 0.03  # seconds of thinking, after which queries are read
LINE = 12  # plies of an expected line
READING_SHARE = 0.02  # part of a search's time that reading its tree for replies may take


class PageSearch:
    """A search that goes on by short steps.

    page: its tree is kept for the next query.  Raises ValueError for an impossible query.
    """

    def __init__(self, page: QueryReader, query: Query) -> None:
        self.id = query.get("id")
        self.position = page.position(query)
        if self.position.is_over:
            raise ValueError("the game is over")
        most = most_readouts(self.position.env)
        visits = query.get("maxVisits")
        readouts = most if visits is None else check_int("maxVisits", visits, 1, most + 1) - 1
        seconds = query.get("maxTime")
        self.limit = MoveLimit(readouts, None if seconds is None else check_positive("maxTime", seconds, MOST_SECONDS))
        level = query.get("level")
        self.level = None if level is None else check_level(level)
        self.plays = check_bool("play", query.get("play", False))
        every = query.get("reportDuringSearchEvery")
        self.every = None if every is None else check_positive("reportDuringSearchEvery", every)
        self.engine = page.engine(query, self.position.env)
        self.thinker = page.thinker(self.engine)
        self.most, self.searched, self.has_begun = most, 0, False
        self.began = self.told = time.monotonic()
        self.next_reply = 0.0  # the value of `Thinker.seconds` before which no reply is sent, see READING_SHARE

    def go_on(self) -> dict[str, Any] | None:
        """Search for a short time; return a reply if it is time for one, or if the search is over."""
        if not self.has_begun:
            self.has_begun = True
            self.thinker.follow(self.position)
        if self.plays and self.level not in (None, LEVELS):  # LEVELS is full strength: the move of a search
            return self._level_reply()
        player = self.thinker.player
        # The tree may be kept from an earlier search, and must not outgrow its limit.
        left = min(self._left(), self.most - player.root_visits)
        if left > 0:
            with self.engine.turns:
                self.searched += self.thinker.work(left, SLICE_SECONDS)
            left = self._left()
        if left <= 0:
            return self._last_reply()
        now = time.monotonic()
        if self.every is None or now - self.told < self.every or self.thinker.seconds < self.next_reply:
            return None
        reply = self._reply(is_last=False)
        self.told = time.monotonic()
        self.next_reply = self.thinker.seconds + (self.told - now) / READING_SHARE
        return reply

    def _left(self) -> int:
        return self.limit.left(self.searched, time.monotonic() - self.began)

    def _last_reply(self) -> dict[str, Any]:
        reply, player = self._reply(is_last=True), self.thinker.player
        if self.plays:
            by_search = self.limit.readouts != 0
            action = self.thinker.best() if by_search else player.policy_move()
            reply["play"] = "resign" if by_search and player.should_resign() else player.env.to_text(action)
        return reply

    def _level_reply(self) -> dict[str, Any]:
        player = self.thinker.player
        assert self.level is not None
        with self.engine.turns:
            action = player.level_move(self.level)
            opponent = str(player.opponent.estimate(player.position)) if self.level == EVEN else ""
        play = "resign" if player.should_resign() else player.env.to_text(action)
        return {**self._reply(is_last=True), "play": play, "opponent": opponent}

    def _reply(self, is_last: bool) -> dict[str, Any]:
        analysis = self.thinker.player.analysis(plies=LINE)
        reply = {"id": self.id, "isDuringSearch": not is_last, "turnNumber": len(self.position.moves)}
        return {**reply, "searched": self.searched, **analysis_fields(analysis)}


def analysis_fields(analysis: Analysis) -> dict[str, Any]:
    """Return the analysis of one position in KataGo's fields; scores and ownership are left out where none are known.

    analysis: in the mover's view.
    """
    mover, legal = int(analysis.to_play[0]), analysis.prior[0] > 0
    black = analysis.as_black()
    to_text = analysis.env.to_text
    infos: list[dict[str, Any]] = [
        {
            "move": to_text(move.action),
            "visits": move.visits,
            "winrate": rounded((1 + move.q) / 2),
            **score_field(move.score),
            "prior": rounded(move.prior),
            "order": move.order,
            "pv": [to_text(action) for action in move.line],
        }
        for move in black.moves(0)
    ]
    root = {"visits": int(analysis.root_visits[0]), "winrate": rounded((1 + float(black.value[0])) / 2)}
    fields = {
        "moveInfos": infos,
        "rootInfo": {**root, **score_field(float(black.root_score[0])), "currentPlayer": letter(mover)},
        "policy": np.where(legal, analysis.prior[0].astype(np.float64), -1).round(6).tolist(),
    }
    if black.ownership is not None:
        fields["ownership"] = black.ownership[0].ravel().astype(np.float64).round(3).tolist()
    return fields


def score_field(score: float) -> dict[str, float]:
    """Return KataGo's field of a lead in points; none for NaN."""
    return {} if np.isnan(score) else {"scoreLead": round(score, 2) + 0.0}  # makes -0.0 a 0.0


def rounded(share: float) -> float:
    """Return a share as a short number."""
    return round(float(share), 4)
