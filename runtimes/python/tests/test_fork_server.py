import os
import signal
from pathlib import Path

import pytest
from running_bot import write_bot
from running_fork_server import connect, forking

LOOK = """
import os, pathlib, random, sys, threading
from pipecatcloud_system import app
IMPORTED_BY = os.getpid()
@app.get("/look")
def look():
    return {
        "pid": os.getpid(),
        "imported_by": IMPORTED_BY,
        "random": random.random(),
        "own_random": OWN.random(),
        "environment": dict(os.environ),
        "visible": open("/proc/self/environ").read().split(chr(0)),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "session": os.getsid(0),
        "cache": [CACHE, str(CACHE_PATH)],
        "modules": list(sys.modules),
    }
OWN = random.Random(7)
CACHE = os.path.expanduser("~/.cache/models")
CACHE_PATH = pathlib.Path.home()
async def bot(args): pass
"""


async def test_forks_several_instances_after_one_import(tmp_path: Path) -> None:
    project = write_bot(tmp_path, LOOK)
    async with forking(project, tmp_path) as server:
        status = await server.imported()
        assert (status["state"], status["reason"]) == ("ready", None)
        first, second = await server.start("first", KEY="1"), await server.start("second", KEY="2")
        seen = [await first.look(), await second.look()]
    assert [one["pid"] for one in seen] == [first.pid, second.pid] == [one["session"] for one in seen]
    assert {one["imported_by"] for one in seen} == {status["process"]["pid"]}
    assert [one["environment"]["KEY"] for one in seen] == ["1", "2"]
    assert [one["environment"]["BOTHOST_INSTANCE"] for one in seen] == ["first", "second"]


async def test_initial_environment_contains_the_id_of_the_instance(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        await server.imported()
        seen = await (await server.start("an-instance")).look()
    marks = [variable for variable in seen["visible"] if variable.startswith("BOTHOST_INSTANCE=")]
    assert marks == ["BOTHOST_INSTANCE=an-instance"]


async def test_gives_each_instance_its_own_random_numbers(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        await server.imported()
        seen = [await (await server.start(name)).look() for name in ("a", "b", "c")]
    assert len({one["random"] for one in seen} | {one["own_random"] for one in seen}) == 6


async def test_instance_replaces_home_directory_paths_of_the_fork_server(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        await server.imported()
        seen = await (await server.start("first", HOME="/homes/first")).look()
    assert seen["cache"] == ["/homes/first/.cache/models", "/homes/first"]


async def test_records_the_exit_status_of_each_instance(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        await server.imported()
        ended, killed = await server.start("ended"), await server.start("killed")
        for instance in (ended, killed):
            await instance.look()
        os.kill(ended.pid, signal.SIGTERM)
        os.kill(killed.pid, signal.SIGKILL)
        assert [await ended.exit_status(), await killed.exit_status()] == ["r  0", "r137"]


async def test_keeps_instances_and_their_statuses_when_the_fork_server_is_killed(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        status = await server.imported()
        instance = await server.start("survivor")
        await instance.look()
        os.kill(status["process"]["pid"], signal.SIGKILL)
        assert (await server.next_event("status"))["state"] == "ended"
        assert (await instance.look())["pid"] == instance.pid
        os.kill(instance.pid, signal.SIGTERM)
        assert await instance.exit_status() == "r  0"
        assert await server.supervisor.wait() == 0


async def test_fork_that_waits_for_go_ends_when_the_service_ends(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path) as server:
        await server.imported()
        answer, instance = await server.request("abandoned")
        assert answer["event"] == "forked"
        server.writer.close()
        await instance.end()
        assert instance.exit.read_text() == "    "
        server.reader, server.writer = await connect(str(tmp_path / "socket"))
        assert (await server.imported())["state"] == "ready"
        await (await server.start("next")).look()


async def test_reports_the_modules_that_a_session_imported(tmp_path: Path) -> None:
    (tmp_path / "late.py").touch()
    source = LOOK.replace("def look():", "def look():\n    import late")
    async with forking(write_bot(tmp_path, source), tmp_path) as server:
        await server.imported()
        instance = await server.start("first")
        assert "late" in (await instance.look())["modules"]
        os.kill(instance.pid, signal.SIGTERM)
        modules = (await server.next_event("modules"))["modules"]
    assert "late" in modules


async def test_imports_modules_that_earlier_sessions_imported(tmp_path: Path) -> None:
    modules = ["colorsys", "no_such_module", "this_one.fails"]
    async with forking(write_bot(tmp_path, LOOK), tmp_path, modules=modules) as server:
        assert "colorsys" in (await server.imported())["modules"]


async def test_instance_imports_the_bot_itself_at_level_libraries(tmp_path: Path) -> None:
    async with forking(write_bot(tmp_path, LOOK), tmp_path, level="libraries", modules=["colorsys"]) as server:
        await server.imported()
        instance = await server.start("first")
        seen = await instance.look()
    assert (seen["imported_by"], "colorsys" in seen["modules"]) == (instance.pid, True)


UNSAFE = {
    "a thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
        "thread",
    ),
    "a socket": ("import socket\nLEFT = socket.socket()", "file(s) open: socket:"),
    "a process": ("import subprocess\nsubprocess.Popen(['sleep', '600'])", "processes that still run: 1"),
    "a daemon": (
        "import subprocess\nsubprocess.run(['sh', '-c', 'sleep 600 >/dev/null 2>&1 &'])",
        "processes that still run: 1",
    ),
    "a file": ("import pathlib\n(pathlib.Path.home() / 'cache').touch()", "wrote files into its home"),
    "an exception": ("1 / 0", "ZeroDivisionError"),
    "an exit": ("raise SystemExit(3)", "SystemExit"),
    "a hidden thread": (
        "import threading, time, sys\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "sys.modules['__main__']._thread_names = lambda: ['one']",
        "threads that still run: 1",
    ),
    "its end": ("import os\nos._exit(0)", "exited with status 0"),
    "its death": ("import os\nos.kill(os.getpid(), 9)", "ended by signal 9"),
}


@pytest.mark.parametrize("what", UNSAFE)
async def test_rejects_an_import_that_leaves_shared_state(what: str, tmp_path: Path) -> None:
    source, reason = UNSAFE[what]
    async with forking(write_bot(tmp_path, f"{source}\n{LOOK}"), tmp_path) as server:
        status = await server.imported()
        assert status["state"] in ("failed", "ended")
        assert reason in status["reason"]
