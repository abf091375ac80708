"""Checks that the host behaves as docs/bot-contract.md says."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest
from running_bot import RunningBot, running_bot, write_bot
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bothost_shim.settings import read_settings

CONTRACT_TEXT = (Path(__file__).parent.parent.parent.parent / "docs" / "bot-contract.md").read_text()
CONTROL_TOKEN = "token"
TOKEN_HEADERS = {"x-bot-control-token": CONTROL_TOKEN}

BOT_SOURCE = """
import asyncio

async def bot(args):
    if args.body.get("fail"):
        raise ValueError("failed")
    await asyncio.sleep(args.body.get("seconds", 3600))
"""


def read_contract_table_rows(section: str) -> list[list[str]]:
    """Return the rows of the tables in a section of docs/bot-contract.md, without backticks."""
    text = next(part for part in re.split("^## ", CONTRACT_TEXT, flags=re.MULTILINE) if part.startswith(f"{section}\n"))
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [[cell.replace("`", "").strip() for cell in line.split("|")[1:-1]] for line in lines]


async def send_request(
    bot: RunningBot, route: str, body: bytes = b"{}", headers: Mapping[str, str] = TOKEN_HEADERS
) -> int:
    method, path = route.split(" ")
    if method == "WS":
        try:
            async with connect(f"ws://127.0.0.1:{bot.port}{path}", additional_headers=headers, proxy=None):
                return 101
        except InvalidStatus as error:
            return error.response.status_code
    return (await bot.client.request(method, path, content=body, headers=headers)).status_code


async def start_session(bot: RunningBot) -> "asyncio.Task[int]":
    session = asyncio.create_task(send_request(bot, "POST /bot"))
    await bot.wait_for("Starting bot session")
    return session


async def send_request_during_session(bot: RunningBot, route: str) -> int:
    session = await start_session(bot)
    status = await send_request(bot, route)
    await send_request(bot, "POST /_bot/stop")
    await session
    return status


async def run_and_stop_session(bot: RunningBot, _: str) -> int:
    session = await start_session(bot)
    await send_request(bot, "POST /_bot/stop")
    return await session


SCENARIOS: dict[str, Callable[[RunningBot, str], Awaitable[int]]] = {
    "always": send_request,
    "the bot can run a session": send_request,
    "the session ended by itself": lambda bot, route: send_request(bot, route, b'{"seconds": 0}'),
    "the session was stopped": run_and_stop_session,
    "the bot failed": lambda bot, route: send_request(bot, route, b'{"fail": true}'),
    "a session is running": send_request_during_session,
    "the body is not a JSON object": lambda bot, route: send_request(bot, route, b"[]"),
    "the body has more than 1 MiB": lambda bot, route: send_request(bot, route, b" " * 1_048_577),
    "the bot does not support the transport": lambda bot, route: send_request(
        bot, route, headers=TOKEN_HEADERS | {"x-transport-type": "moq"}
    ),
    "no session is running": send_request,
    "no token": lambda bot, route: send_request(bot, route, headers={}),
    "the session starts": send_request,
    "the route does not exist": send_request,
}


@pytest.mark.parametrize(("route", "situation", "status"), read_contract_table_rows("Status codes")[1:])
async def test_routes_respond_with_documented_status_codes(
    tmp_path: Path, route: str, situation: str, status: str
) -> None:
    async with running_bot(write_bot(tmp_path, BOT_SOURCE), BOT_CONTROL_TOKEN=CONTROL_TOKEN) as bot:
        assert await SCENARIOS[situation](bot, route) in {int(number) for number in status.split(" or ")}


class EnvironmentReadRecorder(Mapping[str, str]):
    """An empty environment that records which variables are read."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def test_host_reads_exactly_the_variables_that_the_contract_documents() -> None:
    environment = EnvironmentReadRecorder()
    read_settings(environment)
    of_service = {name for name, *_ in read_contract_table_rows("Environment")}
    of_host = {name for name, *_ in read_contract_table_rows("Python host") if re.fullmatch("[A-Z_]+", name)}
    assert len(of_host) == 4
    assert environment.names <= of_service | of_host
    assert of_host <= environment.names
