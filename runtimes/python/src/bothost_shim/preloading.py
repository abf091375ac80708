"""Imports modules in a fork server, so that sessions do not have to import them."""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from .arguments import preload_argument_classes
from .conversation.current import preload_pipecat_observer, preload_recorder
from .log_lines import logger
from .offers import supports_webrtc

# Modules that uvicorn imports only when it begins to serve. The fork server imports them, so that instances start
# faster.
_SERVER_MODULES = [
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
]
_WEBRTC_MODULES = ["pipecat.transports.smallwebrtc.request_handler", "pipecat.transports.smallwebrtc.connection"]


def preload_session_modules(remembered: Iterable[str]) -> None:
    """Import the modules that sessions need and that earlier sessions of the deployment imported.

    Skip modules that fail.
    """
    from . import host, server  # noqa: F401 imported for their own imports

    _import_all(_SERVER_MODULES)
    if "pipecat" in sys.modules:
        preload_argument_classes()
        preload_pipecat_observer()
        # Other instances import it only if they record.
        preload_recorder()
        if supports_webrtc():
            _import_all(_WEBRTC_MODULES)
    _import_all(remembered)


def list_imported_modules() -> list[str]:
    """Return the names of imported modules that another process of this environment can import."""
    return [name for name, module in list(sys.modules.items()) if _is_importable(name, module)]


def list_imported_libraries(project: Path) -> list[str]:
    """Return the names of importable modules that are not part of the project."""
    prefix = f"{project}/"
    return [
        name
        for name in list_imported_modules()
        if not f"{sys.modules[name].__dict__.get('__file__')}".startswith(prefix)
    ]


def _is_importable(name: str, module: object) -> bool:
    # Read `__dict__` directly, because attribute access makes a lazy module import further modules.
    spec = module.__dict__.get("__spec__") if type(module) is ModuleType else None
    return type(spec) is ModuleSpec and spec.name == name and not name.startswith("bothost_shim")


def _import_all(names: Iterable[str]) -> None:
    for name in names:
        if name in sys.modules:
            continue
        try:
            if find_spec(name) is not None:
                import_module(name)
        # A module may raise anything while it is imported, including SystemExit.
        except (Exception, SystemExit) as error:
            logger.debug("A module could not be preloaded: %s (%s)", name, type(error).__name__)
