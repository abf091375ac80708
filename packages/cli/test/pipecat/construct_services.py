"""Imports generated bots, constructs their services as the bots do, and reports errors and deprecation warnings.

`construct_project_services` takes {name, files, variables}: `files` are paths of Python modules, and `variables` are their
environment variables. It returns {name, failures, deprecated, constructed}. If the network is blocked, a constructor that
needs the network is reported as {wants: "network"}.
"""

import ast
import asyncio
import importlib.util
import os
import socket
import ssl
import time
import warnings
from contextlib import contextmanager

import aiohttp

SERVICE_LOCAL_VARIABLE_NAMES = {"stt", "llm", "tts", "avatar"}


class NetworkBlockedError(OSError):
    """Raised by every attempt to use the network, so that a constructor that needs the network is reported."""


def raise_network_blocked(*_arguments, **_named):
    raise NetworkBlockedError("the network is blocked")


def block_network():
    socket.socket.connect = raise_network_blocked
    socket.getaddrinfo = raise_network_blocked
    # Skip two slow steps that need no check here: loading certificates, and waiting between attempts to connect.
    ssl.SSLContext.load_verify_locations = lambda *_arguments, **_named: None
    time.sleep = lambda _seconds: None


def load_module(path):
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_service_constructions(path):
    """Return the statements of `run_bot` that construct services."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for function in ast.walk(tree):
        if isinstance(function, ast.AsyncFunctionDef) and function.name == "run_bot":
            for statement in ast.walk(function):
                if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
                    continue
                target = statement.targets[0]
                if isinstance(target, ast.Name) and target.id in SERVICE_LOCAL_VARIABLE_NAMES:
                    yield target.id, ast.Expression(statement.value)


def walk_error_causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def construct_services(path, module, failures, made):
    async with aiohttp.ClientSession() as session:
        for name, expression in find_service_constructions(path):
            code = compile(expression, path, "eval")
            try:
                made.append(type(eval(code, vars(module), {"session": session})).__name__)  # noqa: S307
            except Exception as error:  # noqa: BLE001: a vendor's package may fail in any way
                wants = any(isinstance(cause, NetworkBlockedError) or "the network is blocked" in str(cause) for cause in walk_error_causes(error))
                failures.append({"service": name, "error": repr(error)[:300], "wants": "network" if wants else None})


def construct_project_services(project):
    failures, made, old = [], [], set()
    before = dict(os.environ)
    os.environ.update(project["variables"])
    for path in project["files"]:
        try:
            with record_warnings() as imports:
                module = load_module(path)
            with record_warnings() as uses:
                asyncio.run(construct_services(path, module, failures, made))
        except Exception as error:  # noqa: BLE001: an import may fail in any way
            failures.append({"service": None, "error": repr(error)[:300], "wants": None})
            continue
        # During the import, keep only warnings that the generated file causes; other warnings are about the library itself.
        old |= {str(one.message) for one in imports if is_deprecation(one) and one.filename == path}
        old |= {str(one.message) for one in uses if is_deprecation(one) and is_warning_from_generated_code(one, path)}
    os.environ.clear()
    os.environ.update(before)
    return {"name": project["name"], "failures": failures, "deprecated": sorted(old), "constructed": made}


@contextmanager
def record_warnings():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def is_deprecation(warning):
    return issubclass(warning.category, DeprecationWarning)


def is_warning_from_generated_code(warning, path):
    """Return whether generated code caused the warning, not a vendor's package."""
    return warning.filename == path or "is deprecated since" in str(warning.message)
