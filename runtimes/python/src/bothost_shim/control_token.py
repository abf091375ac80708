"""Who may use which path: other users of the machine reach a loopback port too."""

import hmac

from .asgi import Scope, header
from .http_exchange import HttpError


def require_token(scope: Scope, token: str | None) -> None:
    """Let only the service in (bot contract 2.4, 3.2): as a bearer or in its own header. Raises HttpError 401."""
    if not _has_token(scope, token):
        raise HttpError(401, "This path is for the service only")


def require_session(scope: Scope, token: str | None, session_id: str) -> None:
    """Let in whom the service forwarded, as it does with a session's clients. Raises HttpError 401, 404."""
    given = header(scope, "x-session-id", "x-daily-session-id")
    if given is not None and given != session_id:
        raise HttpError(404, "There is no such session")
    if given is None and not _has_token(scope, token):
        raise HttpError(401, "This path is for clients of a session only")


def _has_token(scope: Scope, token: str | None) -> bool:
    if token is None:
        return True
    scheme, _, bearer = (header(scope, "authorization") or "").partition(" ")
    given = [header(scope, "x-bot-control-token") or "", bearer.strip() if scheme.lower() == "bearer" else ""]
    return any(hmac.compare_digest(text.encode(), token.encode()) for text in given)
