"""Routes each HTTP request to the Python host or to the bot's own routes (docs/bot-contract.md, "Routes")."""

from collections.abc import Awaitable, Callable

from .asgi import Application, Message, Receive, Scope, Send, get_raw_path
from .control_token import require_token
from .host import PythonHost
from .http_exchange import HttpError, reject_websocket, send_json
from .log_lines import logger
from .pipecatcloud_system import get_bot_application
from .probes import respond_livez, respond_readyz
from .session_control import respond_with_session_state, stop_session
from .signalling import handle_offer
from .socket_session import run_socket_session
from .start import run_session
from .uploads import store_upload

_Route = Callable[[PythonHost, Scope, Receive, Send], Awaitable[None]]


async def _start(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await run_session(host, scope, receive, send)


async def _stop(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await stop_session(host, receive, send)


async def _report(host: PythonHost, scope: Scope, _: Receive, send: Send) -> None:
    require_token(scope, host.settings.control_token)
    await respond_with_session_state(host, scope, send)


_ROUTES: dict[str, dict[str, _Route]] = {
    "/bot": {"POST": _start},
    "/api/offer": {"POST": handle_offer, "PATCH": handle_offer},
    "/readyz": {"GET": lambda host, _scope, _receive, send: respond_readyz(host, send)},
    "/livez": {"GET": lambda _host, _scope, _receive, send: respond_livez(send)},
    "/_bot/stop": {"POST": _stop},
    "/_bot/session": {"GET": _report},
}


def create_application(host: PythonHost) -> Application:
    """Return the ASGI application of the Python host."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _answer(host, scope, receive, _logged(scope, send))
        elif scope["type"] == "websocket":
            await _connect(host, scope, receive, send)
        else:
            await _lifespan(scope, receive, send)

    return application


async def _answer(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    has_started = False

    async def observed_send(message: Message) -> None:
        nonlocal has_started
        has_started = True
        await send(message)

    try:
        await _dispatch(host, scope, receive, observed_send)
    except HttpError as error:
        await send_json(send, error.status, error.body())
    except Exception:
        logger.exception("Request %s %s failed", scope["method"], get_raw_path(scope))
        if not has_started:
            await send_json(send, 500, HttpError(500, "The request failed").body())


async def _dispatch(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    methods = _ROUTES.get(scope["path"])
    if methods is not None:
        route = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if route is None:
            raise HttpError(405, f"{scope['path']} does not support {scope['method']}")
        return await route(host, scope, receive, send)
    user = get_bot_application()
    is_upload = (scope["method"], scope["path"]) == ("POST", "/files")
    if is_upload and (host.bot.file_storage is not None or user is None):
        return await store_upload(host, scope, receive, send)
    if user is None:
        raise HttpError(404, f"{scope['path']} does not exist")
    return await user(scope, receive, send)


async def _connect(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    user = get_bot_application()
    try:
        if scope["path"] == "/ws":
            require_token(scope, host.settings.control_token)
            await run_socket_session(host, scope, receive, send)
        elif user is None:
            raise HttpError(404, f"{scope['path']} is not a WebSocket route")
        else:
            await user(scope, receive, send)
    except HttpError as error:
        await receive()
        await reject_websocket(scope, send, error)


async def _lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Run the lifespan handlers of the bot's own application."""
    user = get_bot_application()
    if user is not None:
        await user(scope, receive, send)
        return
    for phase in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{phase}.complete"})


def _logged(scope: Scope, send: Send) -> Send:
    """Log each response except those of probes. The query is not logged, because it may contain a caller's data."""
    if scope["path"] in ("/readyz", "/livez", "/_bot/session"):
        return send

    async def logged(message: Message) -> None:
        if message["type"] == "http.response.start":
            logger.info("%s %s %s", scope["method"], get_raw_path(scope), message["status"])
        await send(message)

    return logged
