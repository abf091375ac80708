"""The module `pipecatcloud_system`, whose `app` bots use for their own routes (docs/bot-contract.md, "Python host")."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

_application: "FastAPI | None" = None


def register_module() -> None:
    """Let bots import this module as `pipecatcloud_system`."""
    sys.modules["pipecatcloud_system"] = sys.modules[__name__]


def get_bot_application() -> "FastAPI | None":
    """Return the FastAPI application for the bot's own routes, or None if the bot does not use it."""
    return _application


def __getattr__(name: str) -> Any:
    # Create the application lazily, because importing FastAPI takes 200 ms and most bots add no route.
    global _application  # noqa: PLW0603 a module's attribute is a global
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _application is None:
        from fastapi import FastAPI

        _application = FastAPI(openapi_url=None)
    return _application


def add_lifespan_to_app(new_lifespan: Lifespan) -> None:
    """Add a context manager to the lifespan of the application, inside earlier context managers."""
    router = __getattr__("app").router
    outer: Lifespan = router.lifespan_context

    @asynccontextmanager
    async def both(application: Any) -> AsyncIterator[Any]:
        async with outer(application) as state, new_lifespan(application):
            yield state

    router.lifespan_context = both
