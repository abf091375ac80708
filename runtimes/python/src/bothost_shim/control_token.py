"""Access control of the HTTP routes. It is required because all users of the machine can reach a loopback port."""

import hmac

from .asgi import Scope, get_first_header
from .http_exchange import HttpError


def require_token(scope: Scope, token: str | None) -> None:
    """Check the control token, sent as a bearer token or in its own header. Raises HttpError 401."""
    if not _has_token(scope, token):
        raise HttpError(401, "This path requires the control token")


def require_matching_session_id(scope: Scope, token: str | None, session_id: str) -> None:
    """Check the session id that the service adds to forwarded requests. Raises HttpError 401 or 404."""
    given = get_first_header(scope, "x-session-id", "x-daily-session-id")
    if given is not None and given != session_id:
        raise HttpError(404, "The session does not exist")
    if given is None and not _has_token(scope, token):
        raise HttpError(401, "This path requires a session id")


def _has_token(scope: Scope, token: str | None) -> bool:
    if token is None:
        return True
    scheme, _, bearer = (get_first_header(scope, "authorization") or "").partition(" ")
    given = [get_first_header(scope, "x-bot-control-token") or "", bearer.strip() if scheme.lower() == "bearer" else ""]
    return any(hmac.compare_digest(text.encode(), token.encode()) for text in given)
