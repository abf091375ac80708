"""Tests of loguru and the standard library's logging, as bots use them."""

from pathlib import Path

import pytest
from running_bot import SESSION_ID, running_bot, write_bot

from bothost_shim.settings import read_session_log_level

TIMESTAMP_PATTERN = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| "


async def test_loguru_logs_the_session_id_after_the_bot_replaces_the_log_handler(tmp_path: Path) -> None:
    source = """
import sys, threading
from loguru import logger

logger.remove(0)
logger.add(sys.stderr, level="DEBUG")
logger.debug("imported")

async def bot(args):
    logger.debug("begun")
    threading.Thread(target=lambda: logger.info("on a thread")).start()
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot", headers={"x-session-id": SESSION_ID})
        await bot.wait_for(TIMESTAMP_PATTERN + r"DEBUG    \| bot:<module>:\d+ \| NONE - imported$")
        await bot.wait_for(TIMESTAMP_PATTERN + rf"DEBUG    \| bot:bot:\d+ \| {SESSION_ID} - begun$")
        await bot.wait_for(TIMESTAMP_PATTERN + rf"INFO     \| bot:<lambda>:\d+ \| {SESSION_ID} - on a thread$")


async def test_loguru_logs_the_session_id_even_if_the_bot_configures_other_extra_fields(tmp_path: Path) -> None:
    source = """
from loguru import logger

logger.configure(extra={"mine": 1})

async def bot(args):
    logger.info("begun")
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot", headers={"x-session-id": SESSION_ID})
        await bot.wait_for(rf"{SESSION_ID} - begun$")


async def test_loguru_tracebacks_contain_no_values_of_variables(tmp_path: Path) -> None:
    source = """
from loguru import logger

async def bot(args):
    password = "hunter" + "2"
    try:
        {}[password]
    except KeyError:
        logger.exception("failed")
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot")
        await bot.wait_for(r"KeyError: 'hunter2'")
        assert bot.text.count("hunter2") == 1


async def test_standard_library_logging_logs_the_session_id(tmp_path: Path) -> None:
    source = """
import logging

async def bot(args):
    logging.getLogger("mine").warning("careful")
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot", headers={"x-session-id": SESSION_ID})
        await bot.wait_for(TIMESTAMP_PATTERN + rf"WARNING  \| mine:bot:\d+ \| {SESSION_ID} - careful$")


async def test_host_keeps_the_logging_configuration_of_the_bot(tmp_path: Path) -> None:
    source = """
import logging
logging.basicConfig(level=logging.DEBUG, format="mine %(message)s")

async def bot(args):
    logging.debug("careful")
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        await bot.post("/bot")
        await bot.wait_for("^mine careful$")


async def test_log_level_none_logs_nothing(tmp_path: Path) -> None:
    source = """
from loguru import logger
logger.error("loud")
print("serving on x port 0", flush=True)

async def bot(args): ...
"""
    from running_bot import spawn_shim

    process = await spawn_shim(write_bot(tmp_path, source), {"PIPECAT_LOG_LEVEL": "NONE"})
    assert process.stdout is not None
    assert await process.stdout.readline() == b"serving on x port 0\n"
    process.kill()
    assert await process.stdout.read() == b""
    await process.wait()


async def test_unknown_log_level_logs_everything(tmp_path: Path) -> None:
    source = "from loguru import logger\nlogger.debug('shown')\n\nasync def bot(args): ...\n"
    async with running_bot(write_bot(tmp_path, source), PIPECAT_LOG_LEVEL="LOUD") as bot:
        await bot.wait_for("NONE - shown$")


_CHATTY_BOT = """
import logging, sys
from loguru import logger

logger.remove(0)
logger.add(sys.stderr, level="DEBUG")
logging.basicConfig(level=logging.DEBUG)
logger.debug("imported")

async def bot(args):
    logger.debug("hello")
    logger.log("DEBUG", "hello")
    logging.debug("hello")
    logger.add(sys.stderr, level="TRACE")
    logger.trace("hello")
    logger.info("begun")
"""


@pytest.mark.parametrize("level", ["off", "timings", None])
async def test_session_log_begins_at_info_if_the_conversation_level_keeps_no_text(
    tmp_path: Path, level: str | None
) -> None:
    headers = {} if level is None else {"bothost-conversation-level": level}
    environment = {"BOTHOST_LIMIT_SESSION_LOG": "1", "PIPECAT_LOG_LEVEL": "INFO"}
    async with running_bot(write_bot(tmp_path, _CHATTY_BOT), **environment) as bot:
        await bot.post("/bot", headers=headers)
        await bot.wait_for("NONE - imported$")
        await bot.wait_for("- begun$")
        assert "hello" not in bot.text


async def test_session_log_has_debug_lines_if_the_level_was_raised_after_the_start(tmp_path: Path) -> None:
    source = "from loguru import logger\n\nasync def bot(args):\n    logger.debug('hello')\n"
    environment = {"BOTHOST_LIMIT_SESSION_LOG": "1", "PIPECAT_LOG_LEVEL": "INFO"}
    async with running_bot(write_bot(tmp_path, source), **environment) as bot:
        await bot.post("/bot", headers={"bothost-conversation-level": "transcript"})
        await bot.wait_for("- hello$")


async def test_session_log_keeps_the_level_that_a_user_chose(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, _CHATTY_BOT), PIPECAT_LOG_LEVEL="DEBUG") as bot:
        await bot.post("/bot", headers={"bothost-conversation-level": "off"})
        await bot.wait_for("- hello$")


@pytest.mark.parametrize(
    ("environment", "keeps_text", "level"),
    [
        ({"BOTHOST_LIMIT_SESSION_LOG": "1", "PIPECAT_LOG_LEVEL": "INFO"}, False, "INFO"),
        ({"BOTHOST_LIMIT_SESSION_LOG": "1", "PIPECAT_LOG_LEVEL": "INFO"}, True, "DEBUG"),
        ({"PIPECAT_LOG_LEVEL": "debug"}, False, "DEBUG"),
        ({"PIPECAT_LOG_LEVEL": "WARNING"}, True, "WARNING"),
    ],
)
def test_session_log_level_is_the_users_choice_or_depends_on_the_conversation_level(
    environment: dict[str, str], keeps_text: bool, level: str
) -> None:
    assert read_session_log_level(environment, keeps_text=keeps_text) == level
