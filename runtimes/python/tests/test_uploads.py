"""Tests of `POST /files` with a bot that implements its own file storage."""

import asyncio
from pathlib import Path

from running_bot import SESSION_ID, running_bot, write_bot

STORING_BOT = """
import asyncio

class Storage:
    files = {}

    async def save(self, filename, contents):
        if contents == b"full":
            raise OSError("disk full")
        url = f"mine:{len(self.files)}"
        self.files[url] = (filename, contents)
        return url

    async def load(self, url):
        return self.files[url][1]

    async def delete(self, url):
        print("deleted", url, self.files.pop(url), flush=True)

def create_file_storage():
    return Storage()

async def bot(args):
    print("here", type(args.file_storage).__name__, flush=True)
    await asyncio.sleep(3600)
"""


async def test_uploaded_files_are_stored_for_the_session_and_deleted_at_its_end(tmp_path: Path) -> None:
    async with running_bot(write_bot(tmp_path, STORING_BOT), BOT_CONTROL_TOKEN="secret") as bot:
        service, client = {"x-bot-control-token": "secret", "x-session-id": SESSION_ID}, {"x-session-id": SESSION_ID}
        file = {"file": ("../note.txt", b"hello", "text/x-mine")}
        assert (await bot.client.post("/files", files=file, headers=client)).status_code == 404
        session = asyncio.create_task(bot.post("/bot", headers=service))
        await bot.wait_for("here Storage")
        answer = await bot.client.post("/files", files=file, headers=client)
        assert answer.json() == {
            "name": "note.txt",
            "source": {"type": "url", "url": "mine:0"},
            "format": "text/plain",
        }
        assert (await bot.client.post("/files", files=file)).status_code == 401
        assert (await bot.client.post("/files", files=file, headers={"x-session-id": "other"})).status_code == 404
        assert (await bot.client.post("/files", data={"a": "b"}, headers=client)).status_code == 400
        assert (await bot.client.post("/files", content=b"x", headers=client)).status_code == 400
        full = await bot.client.post("/files", files={"file": ("a", b"full")}, headers=client)
        assert full.status_code == 500
        assert "disk" not in full.text
        large = {"file": ("a", b"x" * (50 * 1024 * 1024 + 1))}
        assert (await bot.client.post("/files", files=large, headers=client)).status_code == 413
        await bot.post("/_bot/stop", headers=service)
        assert (await session).status_code == 200
        await bot.wait_for(r"deleted mine:0 \('note.txt', b'hello'\)")


async def test_upload_to_a_bot_without_file_storage_responds_503(tmp_path: Path) -> None:
    source = "import asyncio\n\nasync def bot(args):\n    print('here', flush=True)\n    await asyncio.sleep(3600)\n"
    async with running_bot(write_bot(tmp_path, source)) as bot:
        session = asyncio.create_task(bot.post("/bot"))
        await bot.wait_for("here")
        answer = await bot.client.post("/files", files={"file": ("a", b"x")})
        assert answer.status_code == 503
        await bot.post("/_bot/stop")
        await session
