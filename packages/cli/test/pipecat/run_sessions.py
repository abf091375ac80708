"""Runs sessions of generated bots with the installed pipecat-ai, without a client.

Reads a JSON list of bots {name, file, variables, sessions} from standard input. Each session is {entryPoint, body,
reachable, local, steps}: the kind of start, the request body, whether callees and carriers answer, whether the bot runs
on the user's machine, and the events to send.

Prints a list of bots {name, sessions} as its last line. In each session of the output:
- `effects` lists the bot's actions at the start and after each event.
- `error` is the exception that the bot raised, or null.
- `unknown` lists the bot's handlers for events that do not exist.
- The other fields describe the objects that the bot created, such as its transport and the transport's parameters.
  Parameters with default values are omitted.

Some methods of the library are replaced: `WorkerRunner.run` only sends the events, and calls and HTTP requests are
only recorded. The code of the bot is unchanged.
"""

import ast
import asyncio
import inspect
import json
import os
import re
import socket
import sys
import tempfile
import wave
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import aiohttp
from loguru import logger
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_response_universal import (
    AssistantTurnStoppedMessage,
    UserTurnStoppedMessage,
)
from pipecat.runner import daily as rooms
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyTransport
from pipecat.transports.smallwebrtc.transport import SmallWebRTCTransport
from pipecat.utils.base_object import BaseObject
from pipecat.workers.runner import WorkerRunner

from bot_parts import list_nondefault_transport_parameters, list_observers, list_processors, list_tools
from construct_services import block_network, load_module
from runner_arguments import create_runner_arguments

# Arguments for event handlers. The first argument, the object that sends the event, is omitted.
EVENT_HANDLER_ARGUMENTS = {
    "on_client_ready": [],
    "on_client_connected": [{"id": "client"}],
    "on_client_disconnected": [{"id": "client"}],
    "on_joined": [{}],
    "on_dialout_answered": [{}],
    "on_dialout_error": ["busy"],
    "on_dialin_ready": ["room&1@sip.example.com"],
    "on_dialin_error": ["gone"],
    "on_user_turn_stopped": [None, UserTurnStoppedMessage("Hello?", "now")],
    "on_assistant_turn_stopped": [AssistantTurnStoppedMessage("Hello!", False, "now")],
    "on_audio_data": [bytes(8), 16000, 1],
}
ROOM_CONFIG = rooms.DailyRoomConfig(room_url="https://example.daily.co/call", token="token", sip_endpoint="sip")


@cache
def count_handler_arguments(kind, event):
    """Return the possible numbers of arguments with which pipecat-ai calls a handler of an event."""
    counts = set()
    for owner in kind.__mro__:
        module = sys.modules[owner.__module__]
        if not owner.__module__.startswith("pipecat."):
            continue
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_call_event_handler":
                if isinstance(node.args[0], ast.Constant) and node.args[0].value == event:
                    counts.add(len(node.args) - 1)
    return counts


class Session:
    """A session and the observed behavior of its bot."""

    def __init__(self, file, asked):
        self.file, self.asked = file, asked
        self.handlers, self.unknown, self.effects, self.seen = [], [], [[]], {}

    def note(self, what):
        self.effects[-1].append(what)

    def is_of_bot(self, handler):
        return inspect.unwrap(handler).__code__.co_filename == self.file

    def register(self, target, event, handler):
        """Record that the bot has added an event handler, and whether the library has such an event."""
        if not self.is_of_bot(handler):
            return
        known = event in target._event_handlers
        (self.handlers if known else self.unknown).append((target, event))

    async def play(self, runner):
        """Record the bot's pipeline and workers, then send the events of each step to the bot's handlers.

        The test calls this method in place of Pipecat's `WorkerRunner.run`.
        """
        workers = [entry.worker for entry in runner._entries.values()]
        worker = next(one for one in workers if isinstance(one, PipelineWorker))
        self.seen = self.seen | {
            "rates": [worker.params.audio_in_sample_rate, worker.params.audio_out_sample_rate],
            "stages": list_processors(worker),
            "tools": list_tools(worker),
            "workers": [type(one).__name__ for one in workers],
            "observers": list_observers(worker),
        }
        for event in self.asked["steps"]:
            self.effects.append([])
            for target, _ in [one for one in self.handlers if one[1] == event]:
                await self.happen(target, event)

    async def happen(self, target, event):
        values = EVENT_HANDLER_ARGUMENTS[event]
        if isinstance(target, SmallWebRTCTransport):
            values = [SimpleNamespace(pc_id="client")]
        if len(values) not in count_handler_arguments(type(target), event):
            self.note(f"error: the library gives {count_handler_arguments(type(target), event)} values with {event}")
        before = set(Path("recordings").glob("*.wav"))
        await target._call_event_handler(event, *values)
        while target._event_tasks:
            await asyncio.wait({task for _, task in target._event_tasks})
        for path in set(Path("recordings").glob("*.wav")) - before:
            with wave.open(str(path)) as file:
                self.note(f"recorded: {file.getnframes()} samples at {file.getframerate()} Hz")

    async def hold(self, module):
        """Run the session. Return the bot's pipeline, recorded actions, handlers of unknown events and error."""
        error = None
        given = await create_runner_arguments(self.asked["entryPoint"], self.asked["body"])
        try:
            await module.bot(given)
        except Exception as failure:  # noqa: BLE001: a bot may fail in any way
            error = f"{type(failure).__name__}: {failure}"
        unknown = [f"{type(target).__name__}: {event}" for target, event in self.unknown]
        return self.seen | {"unknown": unknown, "effects": self.effects, "error": error}


session: Session


class SuccessfulResponse:
    """A fake HTTP response with status 200."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    def raise_for_status(self):
        pass


def replace_method(*names):
    """Return a decorator that replaces methods of library classes by the decorated function, for all sessions."""

    def replace(function):
        for owner, name in names:
            function.original = getattr(owner, name)
            setattr(owner, name, function)
        return function

    return replace


@replace_method((WorkerRunner, "run"))
async def play_session_events(self):
    await session.play(self)


@replace_method((WorkerRunner, "cancel"))
async def record_session_end(_self, reason=None):
    session.note(f"ends: {reason}" if reason else "ends")


@replace_method((PipelineWorker, "queue_frames"))
async def record_frames(_self, frames):
    session.note(f"queues: {', '.join(type(frame).__name__ for frame in frames)}")


@replace_method((BaseObject, "add_event_handler"))
def record_handler_registration(self, event, handler):
    session.register(self, event, handler)
    record_handler_registration.original(self, event, handler)


@replace_method((BaseObject, "_run_handler"))
async def run_event_handler(self, _event, handler, *values):
    if not session.is_of_bot(handler):
        return
    try:
        await handler(self, *values)
    except Exception as failure:  # noqa: BLE001: a handler may fail in any way
        session.note(f"error: {type(failure).__name__}: {failure}")


@replace_method((DailyTransport, "start_dialout"))
async def record_dialout_request(_self, settings=None):
    session.note(f"rings: {json.dumps(settings)}")
    return ("call", None) if session.asked["reachable"] else ("", "unreachable")


@replace_method((aiohttp.ClientSession, "_request"))
async def record_http_request(self, method, url, *, data=None, **_named):
    auth = self.auth.encode() if self.auth else None
    session.note(f"{method} {url} as {auth}: {json.dumps(data)}")
    if not session.asked["reachable"]:
        raise aiohttp.ClientError("no answer")
    return SuccessfulResponse()


async def record_room_configuration(*values, **named):
    inspect.signature(rooms.configure).bind(*values, **named)
    session.note(f"room: {json.dumps(named)}")
    return ROOM_CONFIG


def record_bot_transport(module):
    """Record the transport that the bot passes to `run_bot`."""
    run_bot = module.run_bot

    async def seen(transport, *values):
        assert isinstance(transport, BaseTransport)
        session.seen = {
            "transport": type(transport).__name__,
            "parameters": list_nondefault_transport_parameters(transport),
        }
        await run_bot(transport, *values)

    module.run_bot = seen


def record_log_message(message):
    record = message.record
    if record["file"].path == session.file:
        session.note("says: " + re.sub(r"\d{8}T[\d.]+Z", "TIME", record["message"]))


def run_sessions(project):
    global session
    os.environ.update(project["variables"])
    session = Session(project["file"], {})
    module = load_module(project["file"])
    if hasattr(module, "configure"):
        module.configure = record_room_configuration
    record_bot_transport(module)
    found = []
    for asked in project["sessions"]:
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            os.environ["ENV"] = "local" if asked["local"] else "production"
            session = Session(project["file"], asked)
            found.append(asyncio.run(session.hold(module)))
            os.chdir("/")
    for name in project["variables"]:
        del os.environ[name]
    return {"name": project["name"], "sessions": found}


if __name__ == "__main__":
    projects = json.load(sys.stdin)
    socket.socket.connect = block_network
    socket.getaddrinfo = block_network
    logger.remove()
    logger.add(record_log_message, level="INFO")
    answer = json.dumps([run_sessions(project) for project in projects])
    print(answer, flush=True)
    # Exit without waiting for Daily's threads, which would keep the process running.
    os._exit(0)
