"""Which route answers a request (bot contract 2.2)."""

from collections.abc import Awaitable, Callable

from .asgi import Application, Message, Receive, Scope, Send, written_path
from .control_token import require_token
from .host import Host
from .http_exchange import HttpError, refuse_socket, send_json
from .log_lines import logger
from .pipecatcloud_system import user_application
from .probes import alive, ready
from .session_control import report, stop
from .signalling import signal
from .socket_session import socket_session
from .start import start
from .uploads import upload

_Route = Callable[[Host, Scope, Receive, Send], Awaitable[None]]


async def _start(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await start(host, scope, receive, send)


async def _stop(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await stop(host, receive, send)


async def _report(host: Host, scope: Scope, _: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await report(host, scope, send)


_ROUTES: dict[str, dict[str, _Route]] = {
    "/bot": {"POST": _start},
    "/api/offer": {"POST": signal, "PATCH": signal},
    "/readyz": {"GET": lambda host, _scope, _receive, send: ready(host, send)},
    "/livez": {"GET": lambda _host, _scope, _receive, send: alive(send)},
    "/_bot/stop": {"POST": _stop},
    "/_bot/session": {"GET": _report},
}


def create_application(host: Host) -> Application:
    """Answer the ASGI application."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _answer(host, scope, receive, _logged(scope, send))
        elif scope["type"] == "websocket":
            await _connect(host, scope, receive, send)
        else:
            await _live(scope, receive, send)

    return application


async def _answer(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    begun = False

    async def noticing(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    try:
        await _dispatch(host, scope, receive, noticing)
    except HttpError as error:
        await send_json(send, error.status, error.body())
    except Exception:
        logger.exception("%s %s failed", scope["method"], written_path(scope))
        if not begun:
            await send_json(send, 500, HttpError(500, "The request failed").body())


async def _dispatch(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    methods = _ROUTES.get(scope["path"])
    if methods is not None:
        route = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if route is None:
            raise HttpError(405, f"{scope['path']} does not answer {scope['method']}")
        return await route(host, scope, receive, send)
    user = user_application()
    is_upload = (scope["method"], scope["path"]) == ("POST", "/files")
    if is_upload and (host.bot.file_storage is not None or user is None):
        return await upload(host, scope, receive, send)
    if user is None:
        raise HttpError(404, f"There is nothing at {scope['path']}")
    return await user(scope, receive, send)


async def _connect(host: Host, scope: Scope, receive: Receive, send: Send) -> None:
    user = user_application()
    try:
        if scope["path"] == "/ws":
            require_token(scope, host.settings.control_token)
            await socket_session(host, scope, receive, send)
        elif user is None:
            raise HttpError(404, f"There is no socket at {scope['path']}")
        else:
            await user(scope, receive, send)
    except HttpError as error:
        await receive()
        await refuse_socket(scope, send, error)


async def _live(scope: Scope, receive: Receive, send: Send) -> None:
    """Run what the bot added to the life of its application."""
    user = user_application()
    if user is not None:
        await user(scope, receive, send)
        return
    for moment in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{moment}.complete"})


def _logged(scope: Scope, send: Send) -> Send:
    """Log each answer, but those to probes; without the query, which may hold what a caller sent."""
    if scope["path"] in ("/readyz", "/livez"):
        return send

    async def logged(message: Message) -> None:
        if message["type"] == "http.response.start":
            logger.info("%s %s %s", scope["method"], written_path(scope), message["status"])
        await send(message)

    return logged
