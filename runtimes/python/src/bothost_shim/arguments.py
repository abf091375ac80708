"""Builds the arguments of `bot(args)` (docs/bot-contract.md, "Python host")."""

import dataclasses
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Literal

Kind = Literal["plain", "daily", "livekit", "websocket", "webrtc"]

# Maps each kind of session to a class name in `pipecatcloud.agent` and to the name of its base class in
# `pipecat.runner.types`. `pipecatcloud` has no class for LiveKit, so its sessions get Pipecat's.
_NAMES: dict[Kind, tuple[str, str]] = {
    "plain": ("PipecatSessionArguments", "RunnerArguments"),
    "daily": ("DailySessionArguments", "DailyRunnerArguments"),
    "livekit": ("LiveKitSessionArguments", "LiveKitRunnerArguments"),
    "websocket": ("WebSocketSessionArguments", "WebSocketRunnerArguments"),
    "webrtc": ("SmallWebRTCSessionArguments", "SmallWebRTCRunnerArguments"),
}


class BotArguments:
    """The arguments of a session for bots without Pipecat. They have the same attributes as Pipecat's classes."""

    def __init__(self) -> None:
        """Set the attributes that the arguments of every kind of session have."""
        self.pipeline_idle_timeout_secs = 300
        self.call_data = None
        self.cli_args = None


def create_session_arguments(kind: Kind, *, body: Any, session_id: str, file_storage: Any, **fields: Any) -> Any:
    """Build the arguments of a session. `fields` are the additional arguments of this kind of session."""
    values = {"body": body, "session_id": session_id, "file_storage": file_storage, **fields}
    arguments = _construct(_argument_class(kind), values)
    for name, value in values.items():
        # The argument class of an older Pipecat version lacks some of these fields. Set them as additional attributes.
        if not hasattr(arguments, name):
            setattr(arguments, name, value)
    # Tell Pipecat not to handle signals, because the host does.
    arguments.handle_sigint = arguments.handle_sigterm = False
    # Add `flow_config`, because pipecat-ai 1.14 does not declare this attribute, and some bots read it without a check.
    arguments.flow_config = None
    return arguments


def preload_argument_classes() -> None:
    """Import the classes of the argument with which `bot` is called, before the first session.

    Does nothing if the bot has not imported Pipecat, because importing Pipecat is slow.
    """
    if "pipecat" in sys.modules:
        _argument_class("plain")


def _construct(argument_class: type[Any], values: dict[str, Any]) -> Any:
    if argument_class is BotArguments:
        arguments = BotArguments()
        vars(arguments).update(values)
        return arguments
    known = {field.name for field in dataclasses.fields(argument_class) if field.init}
    return argument_class(**{name: value for name, value in values.items() if name in known})


def _argument_class(kind: Kind) -> type[Any]:
    hosted, runner = _NAMES[kind]
    if find_spec("pipecatcloud") is not None:
        try:
            return _named(_import_hosted(), hosted)
        except (ImportError, AttributeError):
            # Fall back to a more general class: Pipecat is missing or has no class for this kind of session.
            pass
    if find_spec("pipecat") is not None:
        return _named(import_module("pipecat.runner.types"), runner)
    return BotArguments


def _import_hosted() -> ModuleType:
    """Import the module `pipecatcloud.agent` without the package `pipecatcloud`, unless the bot imported the package.

    Importing the package would replace all log handlers and import an HTTP client. A bot that imports the package later
    gets the same classes.
    """
    package = "pipecatcloud"
    spec = None if package in sys.modules else find_spec(package)
    if spec is None:
        return import_module("pipecatcloud.agent")
    sys.modules[package] = module_from_spec(spec)
    try:
        return import_module("pipecatcloud.agent")
    finally:
        del sys.modules[package]


def _named(module: Any, name: str) -> type[Any]:
    found: type[Any] = getattr(module, name)
    return found
