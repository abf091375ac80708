"""Runs a fork server with its supervisor, and sends requests to the supervisor as the service does."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from running_bot import SHIM_SOURCE_DIRECTORY, create_bot_environment_variables

_MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from bothost_shim.fork_supervisor.__main__ import main; main()"
_FORK_SERVER = "fork-server".ljust(64, "-")


@dataclass
class ForkedInstance:
    """A forked instance and its files."""

    name: str
    pid: int
    port: int
    exit: Path
    output: Path

    async def report_process_state(self) -> Any:
        """Return the response of the bot's route `/state`."""
        async with httpx.AsyncClient(trust_env=False) as client:
            while True:
                try:
                    return (await client.get(f"http://127.0.0.1:{self.port}/state")).json()
                except httpx.ConnectError:
                    await asyncio.sleep(0.01)

    async def end(self) -> None:
        """Wait until the process of the instance has ended."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(descriptor, ended.set)
        await ended.wait()
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)

    async def exit_status(self) -> str:
        """Wait until the exit file contains an exit status, and return the content of the file."""
        while True:
            text = self.exit.read_text()
            if text[1:].strip():
                return text
            await asyncio.sleep(0.01)


@dataclass
class RunningForkServer:
    """A connection to the supervisor of a fork server."""

    directory: Path
    variables: dict[str, str]
    supervisor: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, **request: Any) -> None:
        self.writer.write(json.dumps(request).encode() + b"\n")

    async def next_event(self, *kinds: str) -> dict[str, Any]:
        while True:
            line = await self.reader.readline()
            assert line, "the supervisor ended"
            event: dict[str, Any] = json.loads(line)
            if event["event"] in kinds:
                return event

    async def imported(self) -> dict[str, Any]:
        """Wait until the fork server has imported the bot, and return its status."""
        self.send(do="status")
        while True:
            status = await self.next_event("status")
            if status["state"] != "importing":
                return status

    async def request(self, name: str, **variables: str) -> tuple[dict[str, Any], ForkedInstance]:
        """Request an instance. Return the supervisor's response, and the instance with the requested settings."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
        output, exit_file = self.directory / f"{name}.output", self.directory / f"{name}.exit"
        of_instance = {"BOTHOST_INSTANCE": name, "PORT": str(port), **variables}
        self.send(
            do="fork",
            instance=name,
            output=str(output),
            exit=str(exit_file),
            uid=None,
            mounts={},
            cgroups=[],
            mark=f"BOTHOST_INSTANCE={name}",
            environment=self.variables | of_instance,
        )
        answer = await self.next_event("forked", "failed")
        return answer, ForkedInstance(name, answer.get("pid", 0), port, exit_file, output)

    async def start(self, name: str, **variables: str) -> ForkedInstance:
        """Request an instance and let it run."""
        answer, forked = await self.request(name, **variables)
        assert answer["event"] == "forked", answer
        self.send(do="go", instance=name)
        return forked


@asynccontextmanager
async def running_fork_server(
    project: Path,
    directory: Path,
    *,
    level: str = "module",
    modules: list[str] | None = None,
) -> AsyncIterator[RunningForkServer]:
    """Run a fork server for a project until the `async with` block ends.

    `directory` contains the files of the fork server, such as its socket and its output.
    """
    home = directory / "home"
    home.mkdir()
    path = str(directory / "socket")
    variables = create_bot_environment_variables(
        HOME=str(home), TMPDIR=str(home), ORT_DISABLE_TELEMETRY="1", OPENBLAS_NUM_THREADS="1"
    )
    config = {
        "socket": path,
        "command": [sys.executable, "-m", "bothost_shim.fork_server"],
        "directory": str(project),
        "environment": variables | {"BOTHOST_INSTANCE": _FORK_SERVER},
        "output": str(directory / "output"),
        "cgroups": [],
        "account": None,
        "processLimit": 0,
        "fingerprint": "of the environment",
        "level": level,
        "modules": modules or [],
    }
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        "-c",
        _MAIN,
        str(SHIM_SOURCE_DIRECTORY),
        stdin=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert supervisor.stdin is not None
    supervisor.stdin.write(json.dumps(config).encode() + b"\n")
    reader, writer = await connect_to_supervisor(path)
    running = RunningForkServer(directory, variables, supervisor, reader, writer)
    try:
        yield running
    finally:
        # End the fork server and its instances. Then wait for the supervisor, which ends after them.
        for pid in _children(supervisor.pid):
            os.kill(pid, signal.SIGKILL)
        writer.close()
        await supervisor.wait()
        sys.stdout.write((directory / "output").read_text())


async def connect_to_supervisor(path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the supervisor as soon as it listens."""
    while True:
        try:
            return await asyncio.open_unix_connection(path, limit=1 << 22)
        except FileNotFoundError:
            await asyncio.sleep(0.01)


def _children(pid: int) -> list[int]:
    try:
        return [int(name) for name in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
