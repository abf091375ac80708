"""Tests of the recorded conversations of a real Pipecat pipeline."""

import asyncio
import base64
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames.protobufs import frames_pb2
from running_bot import SESSION_ID, RunningBot, running_bot, write_bot
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

BOT_SOURCE = (Path(__file__).parent / "conversation_bot.py").read_text()
PROTOBUF_TYPES: Any = frames_pb2
# Words of the conversation that must occur in no line at the level `timings`.
SECRETS = ("secret", "Ada", "You said")


def key_of(line: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key of packages/contract/src/conversation/line-key.ts."""
    fields = {"speech": ("side", "from"), "turn": ("turn",), "response": ("turn",), "tool": ("id",)}
    fields |= {"said": ("side", "turn", "from"), "usage": ("at", "role"), "error": ("at", "service")}
    return (line["kind"], *(line[name] for name in fields.get(line["kind"], ())))


class Recording:
    """The lines of a session, each in its latest version, and the text messages that the client received."""

    def __init__(self, text: str, messages: list[dict[str, Any]]) -> None:
        self.text = text
        self.messages = messages
        lines = [json.loads(line) for line in text.splitlines()]
        self.lines = list({key_of(line): line for line in lines}.values())

    def select(self, kind: str, *names: str) -> list[Any]:
        found = [line for line in self.lines if line["kind"] == kind]
        return [tuple(line.get(name) for name in names) for line in found] if names else found


@asynccontextmanager
async def calling(
    tmp_path: Path, level: str | None, *says: str, **options: Any
) -> AsyncIterator[tuple[RunningBot, AsyncIterator[dict[str, Any]]]]:
    """Start a session of the bot, with a client that only listens. Yield the bot and the messages to the client."""
    file = tmp_path / "conversation"
    file.touch()
    body = {"says": says, "turns": "voice", "metrics": True} | options
    query = base64.b64encode(json.dumps(body).encode()).decode()
    headers = {"x-session-id": SESSION_ID, "x-transport-type": "websocket"}
    headers |= {} if level is None else {"bothost-conversation-level": level}
    async with running_bot(write_bot(tmp_path, BOT_SOURCE), BOTHOST_CONVERSATION_FILE=str(file)) as bot:
        url = f"ws://127.0.0.1:{bot.port}/ws?body={query}"
        async with connect(url, additional_headers=headers, proxy=None) as client:
            about = {"library": "test", "library_version": "1"}
            ready = {"version": "2.0.0", "about": about}
            message = json.dumps({"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": ready})
            await client.send(PROTOBUF_TYPES.Frame(message={"data": message}).SerializeToString())
            yield bot, read_messages(client)


async def read_messages(client: ClientConnection) -> AsyncIterator[dict[str, Any]]:
    with suppress(ConnectionClosed):
        async for data in client:
            assert isinstance(data, bytes)
            frame = PROTOBUF_TYPES.Frame.FromString(data)
            if frame.WhichOneof("frame") == "message":
                yield json.loads(frame.message.data)


async def hold_call(tmp_path: Path, level: str | None, *says: str, **options: Any) -> Recording:
    """Run a session of the bot, with a client that only listens, until the bot ends it."""
    async with calling(tmp_path, level, *says, **options) as (bot, receiving):
        messages = [message async for message in receiving]
        report = await bot.report(wait=20)
        assert report["state"] == "ended"
    return Recording((tmp_path / "conversation").read_text(), messages)


async def test_transcript_has_both_sides_of_each_turn(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "transcript", "one", "two")
    assert recording.select("said", "turn", "side", "text") == [
        (0, "bot", "You said . I answer you in full."),
        (1, "user", "one"),
        (1, "bot", "You said one. I answer you in full."),
        (2, "user", "two"),
        (2, "bot", "You said two. I answer you in full."),
    ]
    assert recording.select("response", "turn", "measuredFrom") == [(0, "connect"), (1, "silence"), (2, "silence")]
    for response in recording.select("response"):
        assert sum(part["ms"] for part in response["parts"]) == response["ms"]
        assert {"llm", "tts"} & {part["stage"] for part in response["parts"]}
    assert all(to is not None for (to,) in recording.select("turn", "to") + recording.select("speech", "to"))
    assert recording.select("turn", "interrupted") == [(None,)] * 3
    (services,) = recording.select("services")
    assert [(service["name"], service["role"]) for service in services["services"]] == [
        ("Ears#0", "stt"),
        ("Brain#0", "llm"),
        ("Mouth#0", "tts"),
        ("FastAPIWebsocketOutputTransport#0", "transport"),
    ]
    assert (services["sessionId"], services["level"]) == (SESSION_ID, "transcript")
    assert services["logLevel"] == "DEBUG"
    assert recording.select("usage", "turn", "role")[-1] == (2, "tts")
    assert recording.lines[-1]["reason"] == "end-frame"


async def test_killed_bot_loses_at_most_one_second_of_events(tmp_path: Path) -> None:
    text = "a text that is long enough to kill the bot while it says it again"
    answers = 0
    async with calling(tmp_path, "transcript", text) as (bot, receiving):
        async for message in receiving:
            answers += message["type"] == "bot-started-speaking"
            if answers == 2:
                break
        await asyncio.sleep(1)
        bot.signal(signal.SIGKILL)
        await bot.process.wait()
    recording = Recording((tmp_path / "conversation").read_text(), [])
    assert recording.select("said", "turn", "side", "text")[1:] == [(1, "user", text)]
    assert recording.select("response", "turn") == [(0,), (1,)]
    assert recording.select("speech", "side", "turn", "to")[-1] == ("bot", 1, None)
    assert recording.select("end") == []


async def test_interrupted_bot_said_the_beginning_of_its_answer(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "transcript", "one", "two", interrupts=True)
    assert recording.select("turn", "turn", "interrupted") == [(0, None), (1, True), (2, None)]
    said = recording.select("said", "turn", "side", "text", "interrupted")
    assert said[2] == (1, "bot", "You said one.", True)
    assert said[-1] == (2, "bot", "You said two. I answer you in full.", None)
    assert len(recording.select("response")) == 3


async def test_timings_have_tools_and_errors_but_no_text(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "timings", "look", "fail", "hang", "key", "model")
    assert recording.select("tool", "turn", "name", "state") == [
        (1, "look", "completed"),
        (2, "fail", "failed"),
        (3, "hang", "timed-out"),
    ]
    assert recording.select("error", "turn", "service", "category", "exceptionType") == [
        (2, "Brain#0", "application", "RuntimeError"),
        (4, "Brain#0", "authentication", None),
        (5, "Brain#0", "unknown", "ValueError"),
    ]
    assert recording.select("said") == []
    assert [secret for secret in SECRETS if secret in recording.text] == []
    assert recording.select("response", "turn")[:4] == [(0,), (1,), (2,), (3,)]


async def test_transcript_has_arguments_results_and_messages(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "transcript", "look", "fail")
    place = '{"place": "secret place"}'
    assert recording.select("tool", "arguments", "result", "message") == [
        (place, '{"seen": "secret thing"}', None),
        (place, None, "RuntimeError: no secret thing"),
    ]
    assert recording.select("error", "message") == [("Error executing function call [fail]: no secret thing",)]


async def test_bot_without_voice_detection_responds_since_the_release(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "timings", "one", "two", turns="service")
    responses = recording.select("response")
    assert [(response["turn"], response["measuredFrom"]) for response in responses[1:]] == [
        (1, "release"),
        (2, "release"),
    ]
    released = dict(recording.select("turn", "turn", "released"))
    for response in responses[1:]:
        assert response["from"] == pytest.approx(released[response["turn"]], abs=20)
        assert "llm" in [part["stage"] for part in response["parts"]]


async def test_metrics_that_the_bot_has_off_are_recorded_but_not_sent_to_its_client(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "timings", "one", metrics=False)
    assert len(recording.select("usage")) >= 2
    assert "llm" in [part["stage"] for response in recording.select("response") for part in response["parts"]]
    kinds = [message["type"] for message in recording.messages]
    assert "bot-stopped-speaking" in kinds
    assert "metrics" not in kinds
    (ready,) = [message for message in recording.messages if message["type"] == "bot-ready"]
    assert ready["data"]["capabilities"]["metrics"] is False


async def test_bot_sends_its_metrics_to_its_client_if_it_has_them_on(tmp_path: Path) -> None:
    recording = await hold_call(tmp_path, "timings", metrics=True)
    assert "metrics" in [message["type"] for message in recording.messages]


@pytest.mark.parametrize("level", ["off", None])
async def test_nothing_is_recorded_without_a_level(tmp_path: Path, level: str | None) -> None:
    recording = await hold_call(tmp_path, level)
    assert recording.text == ""
