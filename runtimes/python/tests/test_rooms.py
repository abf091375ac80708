"""Tests bots in rooms of Daily: their arguments, and the meetings that the host reports."""

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from running_bot import SESSION_ID, running_bot, write_bot
from test_development_runner import find_free_port

ROOM = {"url": "https://stand-in.daily.co/room", "token": "owner-token"}
HEADERS = {"x-session-id": SESSION_ID, "x-daily-room-url": ROOM["url"], "x-daily-room-token": ROOM["token"]}
CALL = {"From": "+15550100", "To": "+15550199", "callId": "call-1", "callDomain": "domain-1"}
PRINTING_BOT = """
import json

async def bot(args):
    values = {name: value for name, value in vars(args).items() if name not in ("cli_args", "session_id")}
    classes = [one.__name__ for one in type(args).__mro__]
    print("arguments", json.dumps({"isDaily": "DailyRunnerArguments" in classes, **values}), flush=True)

if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
"""
# A genuine transport, whose client reports that it joined instead of connecting to Daily.
JOINING_BOT = """
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pipecat.workers.runner import WorkerRunner

async def bot(args):
    transport = DailyTransport(args.room_url, args.token, "bot", DailyParams())
    worker = PipelineWorker(Pipeline([transport.input(), transport.output()]))
    own = []

    async def join():
        await transport._client._callbacks.on_joined(
            {"meetingSession": {"id": "meeting-1"}, "participants": {"local": {"id": "participant-1"}}})

    async def nothing(*_):
        return None

    transport._client.join = join
    transport._client.leave = transport._client.start = nothing

    @transport.event_handler("on_joined")
    async def on_joined(_, data):
        own.append(data)
        await worker.stop_when_done()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()
    assert own
"""


class _Daily(BaseHTTPRequestHandler):
    """The part of Daily's REST API that the development runner of Pipecat uses."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        room = {"id": "1", "api_created": True, "privacy": "public", "created_at": "2026-11-28T12:00:00.000Z"}
        config = {"sip_uri": {"endpoint": "sip@stand-in.daily.co"}}
        answers: dict[str, Any] = {
            "/v1/rooms": room | {"name": request.get("name"), "url": ROOM["url"], "config": config},
            "/v1/meeting-tokens": {"token": ROOM["token"]},
        }
        body = json.dumps(answers[self.path]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing for a request."""


@pytest.fixture
def daily_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Daily)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


async def collect_runner_arguments(folder: Path, daily_url: str, path: str, body: Any) -> dict[str, Any]:
    """Return the arguments with which Pipecat's development runner calls the bot."""
    port = find_free_port()
    variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    keys = {"DAILY_API_KEY": "key", "DAILY_API_URL": daily_url}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "bot.py",
        *("--transport", "daily", "--port", str(port)),
        cwd=folder,
        env=variables | keys | {"PYTHONUNBUFFERED": "1", "PYTHON_DOTENV_DISABLED": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    seen = ""
    try:
        while "Application startup complete" not in seen:
            line = (await process.stdout.readline()).decode()
            assert line, f"the runner ended: {seen}"
            seen += line
        async with httpx.AsyncClient(trust_env=False, transport=httpx.AsyncHTTPTransport(retries=8)) as client:
            response = await client.post(f"http://localhost:{port}{path}", json=body)
            assert response.status_code == 200, response.text
        while (found := re.search("^arguments (.*)$", seen, re.MULTILINE)) is None:
            seen += (await process.stdout.readline()).decode()
        answer: dict[str, Any] = json.loads(found.group(1))
        return answer
    finally:
        process.kill()
        await process.wait()


async def collect_host_arguments(folder: Path, body: Any) -> dict[str, Any]:
    async with running_bot(folder) as bot:
        assert (await bot.post("/bot", body, headers=HEADERS)).status_code == 200
        answer: dict[str, Any] = json.loads((await bot.wait_for("^arguments (.*)$")).group(1))
        return answer


# Both the runner and the host import Pipecat.
@pytest.mark.timeout(180)
async def test_arguments_in_a_room_equal_those_of_the_development_runner(tmp_path: Path, daily_url: str) -> None:
    folder = write_bot(tmp_path, PRINTING_BOT)
    body = {"caller": "anna", "nested": [1, {"deep": None}]}
    start = {"transport": "daily", "createDailyRoom": True, "body": body}
    expected = await collect_runner_arguments(folder, daily_url, "/start", start)
    assert expected["room_url"] == ROOM["url"]
    given = await collect_host_arguments(folder, body)
    assert {name: given[name] for name in expected} == expected


# Both the runner and the host import Pipecat.
@pytest.mark.timeout(180)
async def test_arguments_of_an_incoming_call_equal_those_of_the_development_runner(
    tmp_path: Path, daily_url: str
) -> None:
    folder = write_bot(tmp_path, PRINTING_BOT)
    expected = await collect_runner_arguments(folder, daily_url, "/daily-dialin-webhook", CALL)
    # The body with which the service dispatches the session of a call, see `rooms.test.ts`.
    settings = {
        "call_id": "call-1",
        "call_domain": "domain-1",
        "To": "+15550199",
        "From": "+15550100",
        "sip_headers": None,
    }
    body = {"daily_api_key": "key", "daily_api_url": daily_url, "dialin_settings": settings}
    given = await collect_host_arguments(folder, body)
    assert {name: given[name] for name in expected} == expected


async def test_the_meeting_that_a_bot_joins_is_reported(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, JOINING_BOT)) as bot:
        response = await bot.post("/bot", {}, headers=HEADERS)
        meetings = [{"meetingId": "meeting-1", "participantId": "participant-1"}]
        assert (response.status_code, response.json()) == (200, {"meetings": meetings})
        report = await bot.report()
        assert report["meetings"] == meetings
        assert report["transportConnectedAt"] is not None
