"""Tests of `POST /bot` and `/_bot/*` with bots that are plain functions."""

import asyncio
import signal
from pathlib import Path

import pytest
from running_bot import SESSION_ID, running_bot, write_bot

SLEEPING_BOT = """
import asyncio

async def bot(args):
    print("started", args.session_id, args.body, args.handle_sigint, args.handle_sigterm, args.flow_config, flush=True)
    try:
        await asyncio.sleep(args.body.get("seconds", 3600))
    finally:
        print("cleaned up", flush=True)
    if args.body.get("fail"):
        raise ValueError("in the middle")
"""


@pytest.fixture
def sleeping_bot(tmp_path: Path) -> Path:
    return write_bot(tmp_path, SLEEPING_BOT)


async def test_session_lasts_from_the_start_request_to_its_response(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        assert await bot.report() == {"sessionId": None, "state": "idle", "transports": []}
        answer = await bot.post("/bot", {"seconds": 0}, headers={"x-session-id": SESSION_ID})
        assert (answer.status_code, answer.json()) == (200, {})
        report = await bot.report(wait=5)
        assert report["state"] == "ended"
        assert report["sessionId"] == SESSION_ID
        assert report["status"] == 200
        assert report["startedAt"].endswith("Z")
        assert report["startedAt"] <= report["botCalledAt"] <= report["endedAt"]
        assert (report["transportConnectedAt"], report["firstFrameAt"]) == (None, None)
        assert report["endedAt"] >= report["startedAt"]
        await bot.wait_for(rf"started {SESSION_ID} {{'seconds': 0}} False False None")


async def test_start_of_a_bot_that_raises_responds_500_and_logs_the_traceback(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        answer = await bot.post("/bot", {"seconds": 0, "fail": True})
        assert answer.status_code == 500
        assert answer.json()["code"] == "500"
        assert "in the middle" not in answer.text
        report = await bot.report()
        assert report["status"] == 500
        assert report["exception"] == {"type": "ValueError", "message": "in the middle"}
        await bot.wait_for(r"Traceback [\s\S]*ValueError: in the middle")


async def test_session_logs_its_start_and_end_with_the_session_id(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot, IMAGE_VERSION="v7") as bot:
        await bot.post("/bot", {"seconds": 0}, headers={"x-daily-session-id": SESSION_ID})
        prefix = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| INFO     \| \S+:\S+:\d+ \| " + SESSION_ID + " - "
        metadata = rf'{{"session_id": "{SESSION_ID}", "image_version": "v7"}}'
        await bot.wait_for(f"{prefix}Starting bot session with metadata: {metadata}$")
        await bot.wait_for(f"{prefix}Stopping bot session with metadata: {metadata}$")
        await bot.wait_for(r"\| NONE - POST /bot 200$")
        assert "livez" not in bot.text


async def test_start_passes_every_number_to_the_bot_exactly(tmp_path: Path) -> None:
    path = write_bot(tmp_path, "async def bot(args):\n    print('numbers', args.body['numbers'], flush=True)\n")
    digits = "7" * 5_000
    body = f'{{"numbers": [1234567890123456789, 1.0, 1e400, -0.0, 1E+2, {digits}]}}'
    async with running_bot(path) as bot:
        answer = await bot.client.post("/bot", content=body)
        assert answer.status_code == 200
        await bot.wait_for(rf"numbers \[1234567890123456789, 1\.0, inf, -0\.0, 100\.0, Decimal\('{digits}'\)\]")


async def test_second_start_during_a_session_responds_409(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        answer = await bot.post("/bot")
        assert answer.status_code == 409
        assert (await bot.post("/_bot/stop", {"graceSeconds": 5})).status_code == 202
        assert (await first).status_code == 200


async def test_stop_cancels_the_bot_and_lets_it_clean_up(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        assert (await bot.post("/_bot/stop")).status_code == 409
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        waiting = asyncio.create_task(bot.report(wait=60))
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert ((await first).status_code, (await first).json()) == (200, {})
        assert (await waiting)["state"] == "ended"
        await bot.wait_for("cleaned up")


async def test_bot_that_ignores_cancellation_is_cancelled_again_after_the_grace_period(tmp_path: Path) -> None:
    source = """
import asyncio

async def bot(args):
    print("started", flush=True)
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print("no", flush=True)
    await asyncio.sleep(3600)
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        await bot.post("/_bot/stop", {"graceSeconds": 0.1})
        await bot.wait_for("no")
        assert (await first).status_code == 200


async def test_session_is_cancelled_at_its_time_limit(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        answer = await bot.post("/bot", headers={"X-PCC-Max-Session-Seconds": "0.2"})
        assert (answer.status_code, answer.json()) == (200, {"completionStatus": "SESSION_TIME_LIMIT"})
        assert (await bot.report())["completionStatus"] == "SESSION_TIME_LIMIT"
        await bot.wait_for("cleaned up")


async def test_disconnected_caller_does_not_end_the_session(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        first.cancel()
        assert (await bot.report(wait=0.2))["state"] == "running"
        await bot.post("/_bot/stop")
        assert (await bot.report(wait=10))["state"] == "ended"


@pytest.mark.parametrize(("body", "status"), [(b"[]", 422), (b"{", 422), (b'"x"', 422), (b" " * 1_048_577, 413)])
async def test_start_with_an_invalid_or_too_large_body_is_rejected(
    sleeping_bot: Path, body: bytes, status: int
) -> None:
    async with running_bot(sleeping_bot) as bot:
        answer = await bot.client.post("/bot", content=body)
        assert answer.status_code == status
        assert answer.json()["code"] == str(status)
        assert (await bot.report())["state"] == "idle"


async def test_reserved_paths_require_the_control_token_but_probes_do_not(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot, BOT_CONTROL_TOKEN="secret") as bot:
        assert (await bot.client.get("/readyz")).status_code == 200
        for method, path in [("POST", "/bot"), ("POST", "/_bot/stop"), ("GET", "/_bot/session")]:
            assert (await bot.client.request(method, path)).status_code == 401
            wrong = {"x-bot-control-token": "secret2", "authorization": "Basic secret"}
            assert (await bot.client.request(method, path, headers=wrong)).status_code == 401
        bearer = {"authorization": "Bearer secret"}
        assert (await bot.client.get("/_bot/session", headers=bearer)).status_code == 200
        answer = await bot.post("/bot", {"seconds": 0}, headers={"x-bot-control-token": "secret"})
        assert answer.status_code == 200
        assert "secret" not in bot.text


async def test_idle_host_exits_immediately_on_sigterm(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        bot.signal(signal.SIGTERM)
        assert await bot.process.wait() == 0


async def test_running_session_finishes_after_sigterm_before_the_process_exits(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        bot.signal(signal.SIGTERM)
        await bot.wait_for("exit when its session ends")
        assert (await bot.client.get("/readyz")).status_code == 503
        assert (await bot.post("/bot")).status_code == 503
        assert (await bot.report(wait=0.1))["state"] == "running"
        assert (await bot.post("/_bot/stop")).status_code == 202
        assert (await first).status_code == 200
        assert await bot.process.wait() == 0


async def test_shutdown_timeout_limits_the_wait_for_the_session_after_sigterm(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot, SHUTDOWN_TIMEOUT="0.2") as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        bot.signal(signal.SIGTERM)
        assert (await first).status_code == 503
        assert await bot.process.wait() == 0


async def test_bot_process_exits_after_the_first_session_if_bot_one_shot_is_1(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot, BOT_ONE_SHOT="1") as bot:
        assert (await bot.post("/bot", {"seconds": 0})).status_code == 200
        assert await bot.process.wait() == 0


async def test_bot_that_calls_sys_exit_ends_only_its_session(tmp_path: Path) -> None:
    source = "import sys\n\nasync def bot(args):\n    sys.exit(args.body.get('status'))\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        assert (await bot.post("/bot")).status_code == 200
        assert (await bot.post("/bot", {"status": "broken"})).status_code == 500
        assert (await bot.client.get("/livez")).status_code == 200


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("class Boom(Exception):\n    pass", {"type": "bot.Boom", "message": "MESSAGE"}),
        ("class Boom(BaseException):\n    pass", {"type": "bot.Boom", "message": "MESSAGE"}),
        ("class Boom(Exception):\n    __str__ = None", {"type": "bot.Boom", "message": ""}),
        ("Boom = SystemExit", {"type": "SystemExit", "message": "MESSAGE"}),
    ],
)
async def test_session_state_names_the_exception_of_the_bot(
    tmp_path: Path, definition: str, expected: dict[str, str]
) -> None:
    message = "x" * 4_000
    source = f"{definition}\n\nasync def bot(args):\n    raise Boom('x' * 5_000)\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        assert (await bot.post("/bot")).status_code == 500
        expected = expected | {"message": expected["message"].replace("MESSAGE", message)}
        assert (await bot.report())["exception"] == expected


async def test_start_of_a_bot_that_is_not_async_responds_500(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, "def bot(args):\n    return 1\n")) as bot:
        assert (await bot.post("/bot")).status_code == 500
        await bot.wait_for("TypeError: bot.args. must be async")


async def test_daily_session_requires_the_headers_for_room_url_and_token(tmp_path: Path) -> None:
    source = "async def bot(args):\n    print(type(args).__name__, args.room_url, args.token)\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        room = {"x-daily-room-url": "https://example.invalid/room", "x-daily-room-token": "t"}
        assert (await bot.post("/bot", headers=room)).status_code == 200
        await bot.wait_for("DailySessionArguments https://example.invalid/room t")
        del room["x-daily-room-token"]
        assert (await bot.post("/bot", headers=room)).status_code == 400


async def test_livekit_session_requires_the_headers_for_room_url_and_token(tmp_path: Path) -> None:
    source = "async def bot(args):\n    print(type(args).__name__, args.room_name, args.url, args.token, args.body)\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        room = {
            "bothost-livekit-room": "r",
            "bothost-livekit-url": "wss://example.invalid",
            "bothost-livekit-token": "t",
        }
        assert (await bot.post("/bot", {"a": 1}, headers=room)).status_code == 200
        await bot.wait_for("LiveKitRunnerArguments r wss://example.invalid t {'a': 1}")
        del room["bothost-livekit-token"]
        assert (await bot.post("/bot", headers=room)).status_code == 400


async def test_livekit_session_without_its_package_responds_501(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        assert (await bot.post("/bot", headers={"x-transport-type": "livekit"})).status_code == 501


async def test_start_with_media_over_quic_responds_400(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        assert (await bot.post("/bot", headers={"x-transport-type": "moq"})).status_code == 400


async def test_sigint_cancels_the_session_and_exits(sleeping_bot: Path) -> None:
    async with running_bot(sleeping_bot) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        bot.signal(signal.SIGINT)
        assert (await first).status_code == 503
        assert await bot.process.wait() == 0
        assert "cleaned up" in await bot.all_output()


async def test_sigterm_after_a_stop_request_cancels_the_bot_a_second_time(tmp_path: Path) -> None:
    source = """
import asyncio

async def bot(args):
    print("started", flush=True)
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print("no", flush=True)
    await asyncio.sleep(3600)
"""
    async with running_bot(write_bot(tmp_path, source)) as bot:
        first = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("started")
        await bot.post("/_bot/stop")
        await bot.wait_for("no")
        bot.signal(signal.SIGTERM)
        assert (await first).status_code == 200
        assert await bot.process.wait() == 0
