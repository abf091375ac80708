"""Tests of valid and invalid bot modules."""

from pathlib import Path

import pytest
from running_bot import running_bot, spawn_shim, write_bot
from websockets.asyncio.client import connect


async def run_invalid_bot(folder: Path) -> str:
    process = await spawn_shim(folder, {})
    output, _ = await process.communicate()
    assert process.returncode == 78, output.decode()
    return output.decode()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (None, "bothost_shim: no bot.py in "),
        ("x = 1\n", "bothost_shim: bot.py has no function bot(args)"),
        ("def bot(args:\n", "bothost_shim: bot.py cannot be imported: SyntaxError"),
        ("import nothing_of_that_name\n", "bothost_shim: bot.py cannot be imported: ModuleNotFoundError"),
        ("import sys\nsys.exit('no key')\n", "bothost_shim: bot.py cannot be imported: SystemExit: no key"),
        ("def bot(args):\n    yield 1\n", "bothost_shim: bot(args) of bot.py is a generator, not an async function"),
        (
            "async def bot(args): ...\ndef create_file_storage():\n    raise OSError('full')\n",
            "bothost_shim: create_file_storage() of bot.py failed: OSError: full",
        ),
        (
            "async def bot(args): ...\nasync def create_file_storage(): ...\n",
            "bothost_shim: create_file_storage() of bot.py must not be async",
        ),
    ],
)
async def test_invalid_module_exits_with_status_78_and_a_one_line_message(
    tmp_path: Path, source: str | None, reason: str
) -> None:
    if source is not None:
        write_bot(tmp_path, source)
    output = await run_invalid_bot(tmp_path)
    last = output.strip().splitlines()[-1]
    assert last.startswith(reason)


async def test_failed_import_of_the_bot_prints_the_traceback(tmp_path: Path) -> None:
    output = await run_invalid_bot(write_bot(tmp_path, "def broken():\n    raise KeyError('API_KEY')\n\nbroken()\n"))
    assert "Traceback (most recent call last):" in output
    assert "KeyError: 'API_KEY'" in output


async def test_invalid_port_exits_with_status_78(tmp_path: Path) -> None:
    process = await spawn_shim(write_bot(tmp_path, "async def bot(args): ...\n"), {"PORT": "http"})
    output, _ = await process.communicate()
    assert (process.returncode, output.decode()) == (
        78,
        'bothost_shim: PORT must be a number from 0 to 65535, not "http"\n',
    )


@pytest.mark.parametrize(
    ("readyz", "status"),
    [
        ("def readyz(): return True", 200),
        ("def readyz(): return False", 503),
        ("async def readyz(): return True", 200),
        ("async def readyz(): return {'ready': False}", 503),
        ("class State:\n    ready = True\n\ndef readyz(): return State()", 200),
        ("def readyz(): raise ValueError('not yet')", 503),
    ],
)
async def test_readyz_responds_200_if_the_bot_is_ready_and_503_otherwise(
    tmp_path: Path, readyz: str, status: int
) -> None:
    async with running_bot(write_bot(tmp_path, f"async def bot(args): ...\n\n{readyz}\n")) as bot:
        assert (await bot.client.get("/readyz")).status_code == status
        assert (await bot.client.get("/livez")).status_code == 200


async def test_host_serves_routes_and_runs_lifespan_handlers_that_the_bot_adds(tmp_path: Path) -> None:
    source = """
from contextlib import asynccontextmanager
from fastapi import WebSocket
from pipecatcloud_system import app, add_lifespan_to_app

@asynccontextmanager
async def lifespan(app):
    print("begun", flush=True)
    yield
    print("over", flush=True)

add_lifespan_to_app(lifespan)

@app.get("/hello")
async def respond_to_hello():
    return {"hello": "world"}

@app.websocket("/loud")
async def echo_in_upper_case(socket: WebSocket):
    await socket.accept()
    await socket.send_text((await socket.receive_text()).upper())
    await socket.close()

async def bot(args): ...
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.wait_for("begun")
        assert (await bot.client.get("/hello")).json() == {"hello": "world"}
        assert (await bot.client.get("/other")).status_code == 404
        assert (await bot.post("/bot")).status_code == 200
        async with connect(f"ws://127.0.0.1:{bot.port}/loud", proxy=None) as socket:
            await socket.send("hello")
            assert await socket.recv() == "HELLO"
        bot.process.terminate()
        assert "over" in await bot.all_output()


async def test_host_ignores_a_dotenv_file_in_the_bot_directory(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=1\nSECRET=from a file\n")
    source = "import os\n\nasync def bot(args):\n    print('secret', os.environ.get('SECRET'), flush=True)\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot")
        await bot.wait_for("secret None")


async def test_environment_of_the_bot_contains_no_loguru_variables_of_the_host(tmp_path: Path) -> None:
    source = (
        "import os\n\nasync def bot(args):\n    print(sorted(n for n in os.environ if 'LOGURU' in n), flush=True)\n"
    )
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot")
        await bot.wait_for(r"^\[\]$")


async def test_bot_process_imports_no_packages_that_the_bot_does_not_need(tmp_path: Path) -> None:
    source = """
import sys

async def bot(args):
    print(sorted({"fastapi", "starlette", "pydantic", "aiortc", "multipart"} & set(sys.modules)), flush=True)
"""
    # Before the session, none of these packages may be imported. During the session, only aiortc may not be imported,
    # because the host imports Pipecat, and Pipecat may import the other packages.
    before = "import sys\nprint('ready', sorted({'fastapi', 'starlette', 'pydantic', 'pipecat'} & set(sys.modules)))\n"
    async with running_bot(write_bot(tmp_path, before + source)) as bot:
        await bot.wait_for(r"ready \[\]")
        await bot.post("/bot")
        await bot.wait_for(r"^\[(?!.*aiortc).*\]$")


async def test_host_exits_with_status_78_when_a_lifespan_handler_of_the_bot_fails(tmp_path: Path) -> None:
    source = """
from contextlib import asynccontextmanager
from pipecatcloud_system import add_lifespan_to_app

@asynccontextmanager
async def lifespan(app):
    raise ValueError("no database")
    yield

add_lifespan_to_app(lifespan)

async def bot(args): ...
"""
    output = await run_invalid_bot(write_bot(tmp_path, source))
    assert "ValueError: no database" in output
    assert output.strip().splitlines()[-1].startswith("bothost_shim: a lifespan handler")


async def test_sigterm_during_the_import_exits_with_status_0(tmp_path: Path) -> None:
    source = "import time\nprint('importing', flush=True)\ntime.sleep(3600)\n"
    process = await spawn_shim(write_bot(tmp_path, source), {})
    assert process.stdout is not None
    assert await process.stdout.readline() == b"importing\n"
    process.terminate()
    assert await process.stdout.read() == b""
    assert await process.wait() == 0


async def test_bot_process_for_one_session_exits_despite_running_threads_and_tasks_of_the_bot(tmp_path: Path) -> None:
    source = """
import asyncio, threading, time

threading.Thread(target=lambda: time.sleep(3600)).start()

async def ignore_cancellation():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            print("no", flush=True)

async def bot(args):
    args.task = asyncio.create_task(ignore_cancellation())
    await asyncio.sleep(0)
"""
    async with running_bot(write_bot(tmp_path, source), BOT_ONE_SHOT="1") as bot:
        assert (await bot.post("/bot")).status_code == 200
        assert await bot.process.wait() == 0


async def test_request_path_cannot_forge_a_log_line(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, "async def bot(args): ...\n")) as bot:
        await bot.client.get("/a%0A2026-01-01%20forged?secret=1")
        await bot.wait_for(r"GET /a%0A2026-01-01%20forged 404$")


@pytest.mark.parametrize(
    ("source", "transports"),
    [
        ("transport_params = {'daily': lambda: None, 'webrtc': lambda: None}\n", ["daily", "webrtc"]),
        (
            "async def other():\n    transport_params = {'daily': 1, 'webrtc': g, f(): 2}\n",
            ["daily", "webrtc"],
        ),
        ("async def other():\n    transport_params: dict = {'twilio': 1}\n", ["twilio"]),
        ("async def other():\n    transport_params = dict(webrtc=1)\n", []),
        (
            "async def other(args):\n    match args:\n        case DailyRunnerArguments(): ...\n"
            "        case LiveKitRunnerArguments(): ...\n        case SmallWebRTCRunnerArguments(): ...\n"
            "        case Unknown(): ...\n",
            ["daily", "livekit", "webrtc"],
        ),
        ("transport_params = {7: None}\n", []),
        ("transport_params = ['webrtc']\n", []),
        ("", []),
    ],
)
async def test_session_state_lists_the_transports_in_the_code_of_the_bot(
    tmp_path: Path, source: str, transports: list[str]
) -> None:
    write_bot(tmp_path, source + "async def bot(args): ...\n")
    async with running_bot(tmp_path) as bot:
        assert (await bot.client.get("/_bot/session")).json()["transports"] == transports
