"""Who may talk to the server: requests with the right Host and Origin, and the token where one is needed.

The limits of a message and of a search protect the server's memory and processor.
"""

import contextlib
import hmac
import ipaddress
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, unquote, urlsplit

from alphago.env.game import GameEnv
from alphago.system.validation import shown

LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE = "alphago_token"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
MOST_MESSAGE = 4_000_000  # most bytes of a message (socket_carrier.js), so of a game to save with its file
MOST_SECONDS = 600.0  # seconds of the search for one move
MOST_READOUTS = 100_000  # simulations of one search
TREE_BYTES = 128 * 1024 * 1024  # bytes of one search's tree
TREE_WIDTH = 5  # bytes that a node takes for each action: 4 for its prior, 1 for the owner of its point
LONGEST_REASON = 123  # most bytes of the reason for which a WebSocket is closed


class Guard:
    """Decides which requests the server answers.

    The Host header must name this machine; this keeps out pages of other sites, which may use DNS rebinding.  A request
    with an Origin header must come from a page of this server.  If the server has a token, a request must have it too.

    Args:
        host: the address that the server listens on.
        token: the token that a request must have, as a bearer, or quoted in its address (`?token=`) or in a cookie;
            None if requests need no token.

    Raises:
        ValueError: if `token` is None although other machines can reach `host`, or if it has fewer than 8 letters.
    """

    def __init__(self, host: str, token: str | None = None) -> None:
        if token is None and not is_loopback(host):
            raise ValueError(f"host must be of this machine without a token, got {host!r}: --token TEXT lets others in")
        if token is not None and len(token) < 8:
            raise ValueError(f"token must have at least 8 letters, got {len(token)}")
        self.token = token
        self.hosts = {*LOOPBACK, host.strip("[]").lower()}
        self.listens_everywhere = host in ("0.0.0.0", "::", "")

    def refusal(self, headers: Mapping[str, str], query: str) -> str | None:
        """Return why a request is refused, as a sentence; None if it is allowed.

        Args:
            headers: the request's headers by lower-case name.
            query: the part of its address after "?".
        """
        host = headers.get("host", "")
        if not self.knows(host):
            return f"This server does not answer to the name {shown(host)}."
        origin = headers.get("origin")
        if origin is not None and not same_origin(origin, host):
            return f"Pages of {shown(origin)} may not use this server."
        if self.token is not None and not self.has_token(headers, query):
            return "This server asks for its token: open the address that it printed, which ends in ?token=…"
        return None

    def knows(self, host: str) -> bool:
        """Return whether a Host header names this server.

        If the server listens on all addresses and has a token, any name is accepted.
        """
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname
            return name in self.hosts or (name is not None and self.listens_everywhere and self.token is not None)
        return False

    def has_token(self, headers: Mapping[str, str], query: str) -> bool:
        """Return whether a request has the token: in its address, as a bearer or in a cookie."""
        assert self.token is not None
        candidates = [*parse_qs(query).get("token", []), headers.get("authorization", "").removeprefix("Bearer ")]
        with contextlib.suppress(CookieError):
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
            if cookie is not None:
                candidates.append(unquote(cookie.value))
        return any(hmac.compare_digest(text.encode(), self.token.encode()) for text in candidates)


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    with contextlib.suppress(ValueError):
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def same_origin(origin: str, host: str) -> bool:
    """Return whether an Origin header names the same server as the Host header, port included."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
    return False


def most_readouts(env: GameEnv) -> int:
    """Return the largest number of readouts of one search, whose tree must fit into TREE_BYTES."""
    return min(MOST_READOUTS, TREE_BYTES // (TREE_WIDTH * env.action_space))


def closing_reason(text: str) -> str:
    """Return the beginning of a text that is short enough as the reason for which a WebSocket is closed."""
    return text.encode()[:LONGEST_REASON].decode(errors="ignore")  # without a letter that is cut in two
