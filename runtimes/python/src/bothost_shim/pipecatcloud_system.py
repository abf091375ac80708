"""The module `pipecatcloud_system`, from which bots import `app`, to add routes of their own (bot contract 3.1)."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

_application: "FastAPI | None" = None


def provide() -> None:
    """Let bots import this module by the name that they know."""
    sys.modules["pipecatcloud_system"] = sys.modules[__name__]


def user_application() -> "FastAPI | None":
    """Answer the application, if the bot asked for it."""
    return _application


def __getattr__(name: str) -> Any:
    # FastAPI takes 200 ms to import, and most bots add no route.
    global _application  # noqa: PLW0603 a module's attribute is a global
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _application is None:
        from fastapi import FastAPI

        _application = FastAPI(openapi_url=None)
    return _application


def add_lifespan_to_app(new_lifespan: Lifespan) -> None:
    """Run a context manager around the life of the application, inside those added before."""
    router = __getattr__("app").router
    outer: Lifespan = router.lifespan_context

    @asynccontextmanager
    async def both(application: Any) -> AsyncIterator[Any]:
        async with outer(application) as state, new_lifespan(application):
            yield state

    router.lifespan_context = both
