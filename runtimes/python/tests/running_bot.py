"""Runs a bot under the Python host (bothost_shim) in a separate process."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

SHIM_SOURCE_DIRECTORY = Path(__file__).parent.parent / "src"
ECHO_BOT_DIRECTORY = Path(__file__).parent.parent.parent.parent / "examples" / "pipecat-echo"
SESSION_ID = "6f9bd5a8-6f5a-4a2d-9c43-2f1f5a9f2d11"


@dataclass
class RunningBot:
    """The process of a running bot, its output, and a client for its routes."""

    process: asyncio.subprocess.Process
    output: asyncio.StreamReader
    client: httpx.AsyncClient
    text: str = ""

    @property
    def port(self) -> int:
        port = self.client.base_url.port
        assert port is not None
        return port

    async def wait_for(self, pattern: str) -> "re.Match[str]":
        """Wait until the complete lines of the output match the pattern. Return the match."""
        while True:
            found = re.search(pattern, self.text.rpartition("\n")[0], re.MULTILINE)
            if found:
                return found
            chunk = await self.output.read(65536)
            assert chunk, f"the bot ended without {pattern!r}:\n{self.text}"
            self.text += chunk.decode()

    async def all_output(self) -> str:
        """Wait until the process has ended, and return its output."""
        self.text += (await self.output.read()).decode()
        await self.process.wait()
        return self.text

    async def post(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return await self.client.post(path, json={} if json is None else json, **options)

    async def report(self, wait: float = 0) -> dict[str, Any]:
        answer: dict[str, Any] = (await self.client.get(f"/_bot/session?wait={wait}")).json()
        return answer

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


def create_bot_environment_variables(**variables: str) -> dict[str, str]:
    """Return the environment of a bot, without the variables of the test process."""
    path = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # Write .pyc files to another directory, because the source directory is shipped.
    python = {
        "PYTHONPATH": str(SHIM_SOURCE_DIRECTORY),
        "PYTHONUNBUFFERED": "1",
        "PYTHONPYCACHEPREFIX": str(Path(sys.prefix) / "compiled"),
    }
    return path | python | {"PORT": "0", "BOT_HOST": "127.0.0.1"} | variables


async def spawn_shim(folder: Path, variables: dict[str, str]) -> asyncio.subprocess.Process:
    """Start the Python host in the directory of a bot, with standard output and error combined."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bothost_shim",
        cwd=folder,
        env=create_bot_environment_variables(**variables),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


@asynccontextmanager
async def running_bot(folder: Path, **variables: str) -> AsyncIterator[RunningBot]:
    """Run the bot in a directory until the `async with` block ends."""
    process = await spawn_shim(folder, variables)
    assert process.stdout is not None
    bot = RunningBot(process, process.stdout, httpx.AsyncClient())
    try:
        port = (await bot.wait_for(r"serving on \S+(?: port (\d+))?")).group(1)
        transport = httpx.AsyncHTTPTransport(uds=variables.get("BOT_SOCKET"))
        address = "http://localhost" if port is None else f"http://127.0.0.1:{port}"
        bot.client = httpx.AsyncClient(base_url=address, timeout=60, transport=transport, trust_env=False)
        # Wait until the server responds, because it logs its port before it accepts connections.
        await bot.client.get("/livez")
        yield bot
    finally:
        await bot.client.aclose()
        if process.returncode is None:
            process.kill()
        await process.wait()
        sys.stdout.write(bot.text)


def write_bot(folder: Path, source: str) -> Path:
    """Write a bot module and return its directory."""
    (folder / "bot.py").write_text(source)
    return folder
