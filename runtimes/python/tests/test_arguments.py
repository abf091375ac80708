"""Tests the class of the argument of `bot(args)`, which depends on the packages in the bot's environment."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from running_bot import SESSION_ID, SHIM_SOURCE_DIRECTORY, running_bot, write_bot
from websockets.asyncio.client import connect

PRINTING_BOT = """
import json

async def bot(args):
    names = [c.__module__.split(".")[0] + "." + c.__name__ for c in type(args).__mro__]
    common = ["body", "session_id", "handle_sigint", "handle_sigterm", "pipeline_idle_timeout_secs", "call_data",
              "cli_args", "file_storage", "flow_config"]
    values = {name: getattr(args, name) for name in common}
    print("arguments", json.dumps({"classes": names, "values": values, "socket": hasattr(args, "websocket")}))
"""
# A module that makes imports of the packages in `names` fail, as if the packages were not installed.
IMPORT_BLOCKER = "import sys\n\nfor name in {names}:\n    sys.modules[name] = None\n"


async def collect_bot_arguments(folder: Path, without: list[str], over_socket: bool = False) -> dict[str, Any]:
    (folder / "sitecustomize.py").write_text(IMPORT_BLOCKER.format(names=without))
    async with running_bot(write_bot(folder, PRINTING_BOT), PYTHONPATH=f"{folder}:{SHIM_SOURCE_DIRECTORY}") as bot:
        headers = {"x-session-id": SESSION_ID}
        if over_socket:
            async with connect(f"ws://127.0.0.1:{bot.port}/ws", additional_headers=headers, proxy=None):
                found = await bot.wait_for("^arguments (.*)$")
        else:
            assert (await bot.post("/bot", {"a": 1}, headers=headers)).status_code == 200
            found = await bot.wait_for("^arguments (.*)$")
        answer: dict[str, Any] = json.loads(found.group(1))
        return answer


@pytest.mark.parametrize(
    ("without", "plain", "socket"),
    [
        ([], "pipecatcloud.PipecatSessionArguments", "pipecatcloud.WebSocketSessionArguments"),
        (["pipecatcloud"], "pipecat.RunnerArguments", "pipecat.WebSocketRunnerArguments"),
        (["pipecatcloud", "pipecat"], "bothost_shim.BotArguments", "bothost_shim.BotArguments"),
        (["pipecat"], "bothost_shim.BotArguments", "bothost_shim.BotArguments"),
        (["pipecatcloud", "pipecat", "loguru"], "bothost_shim.BotArguments", "bothost_shim.BotArguments"),
    ],
)
async def test_bot_receives_pipecat_arguments_if_pipecat_is_installed_and_bothost_arguments_otherwise(
    tmp_path: Path, without: list[str], plain: str, socket: str
) -> None:
    values = {
        "body": {"a": 1},
        "session_id": SESSION_ID,
        "handle_sigint": False,
        "handle_sigterm": False,
        "pipeline_idle_timeout_secs": 300,
        "call_data": None,
        "cli_args": None,
        "file_storage": None,
        "flow_config": None,
    }
    over_request = await collect_bot_arguments(tmp_path, without)
    assert (over_request["classes"][0], over_request["values"]) == (plain, values)
    over_socket = await collect_bot_arguments(tmp_path, without, over_socket=True)
    assert (over_socket["classes"][0], over_socket["values"]) == (socket, values | {"body": {}})
    assert over_socket["socket"]
    if plain.startswith("pipecatcloud"):
        assert "pipecat.RunnerArguments" in over_request["classes"]


async def test_webrtc_start_without_the_webrtc_packages_responds_501(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(IMPORT_BLOCKER.format(names=["aiortc"]))
    async with running_bot(write_bot(tmp_path, PRINTING_BOT), PYTHONPATH=f"{tmp_path}:{SHIM_SOURCE_DIRECTORY}") as bot:
        offer = {"sdp": "", "type": "offer"}
        assert (await bot.post("/api/offer", offer)).status_code == 404
        answer = await asyncio.wait_for(bot.post("/bot", headers={"x-transport-type": "webrtc"}), 10)
        assert answer.status_code == 501
        assert "pipecat-ai[webrtc]" in answer.json()["error"]


async def test_importing_the_argument_classes_keeps_the_log_handlers_of_the_bot(tmp_path: Path) -> None:
    source = """
import sys
from loguru import logger

logger.remove()
logger.add(lambda line: print("mine", line, end=""), format="{message}", level="TRACE")

async def bot(args):
    logger.trace("begun with " + type(args).__name__)
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        assert (await bot.post("/bot")).status_code == 200
        await bot.wait_for("^mine begun with PipecatSessionArguments$")
