"""Tests the unchanged echo bot under Pipecat's development runner."""

import asyncio
import os
import socket
import sys
from typing import Any

import httpx
from pipecat.frames.protobufs import frames_pb2
from running_bot import ECHO_BOT_DIRECTORY
from websockets.asyncio.client import connect

PROTOBUF_TYPES: Any = frames_pb2


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


async def test_echo_bot_echoes_audio_under_the_pipecat_development_runner() -> None:
    port = find_free_port()
    variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "bot.py",
        "--port",
        str(port),
        cwd=ECHO_BOT_DIRECTORY,
        env=variables | {"PYTHONUNBUFFERED": "1", "PYTHON_DOTENV_DISABLED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        while b"Bot ready" not in (line := await process.stdout.readline()):
            assert line, "the runner ended"
        url = f"http://localhost:{port}"
        async with httpx.AsyncClient(trust_env=False, transport=httpx.AsyncHTTPTransport(retries=8)) as client:
            start = (await client.post(f"{url}/start", json={"transport": "websocket"})).json()
        async with connect(start["wsUrl"], proxy=None) as client:
            sound = PROTOBUF_TYPES.AudioRawFrame(audio=b"\x00\x40" * 3200, sample_rate=16000, num_channels=1)
            await client.send(PROTOBUF_TYPES.Frame(audio=sound).SerializeToString())
            heard = b""
            while b"\x00\x40" * 800 not in heard:
                heard += PROTOBUF_TYPES.Frame.FromString(await client.recv()).audio.audio
    finally:
        process.kill()
        sys.stdout.write((await process.stdout.read()).decode())
        await process.wait()
