import os
import signal
from pathlib import Path

import pytest
from running_bot import write_bot
from running_fork_server import connect_to_supervisor, running_fork_server

STATE_REPORTING_BOT = """
import os, pathlib, random, sys, threading
from pipecatcloud_system import app
PID_AT_IMPORT = os.getpid()
@app.get("/state")
def report_process_state():
    return {
        "pid": os.getpid(),
        "imported_by": PID_AT_IMPORT,
        "random": random.random(),
        "own_random": SEEDED_RANDOM_GENERATOR.random(),
        "environment": dict(os.environ),
        "visible": open("/proc/self/environ").read().split(chr(0)),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "session": os.getsid(0),
        "cache": [MODEL_CACHE_DIRECTORY, str(HOME_DIRECTORY)],
        "modules": list(sys.modules),
    }
SEEDED_RANDOM_GENERATOR = random.Random(7)
MODEL_CACHE_DIRECTORY = os.path.expanduser("~/.cache/models")
HOME_DIRECTORY = pathlib.Path.home()
async def bot(args): pass
"""


async def test_fork_server_forks_several_instances_after_one_import(tmp_path: Path) -> None:
    project = write_bot(tmp_path, STATE_REPORTING_BOT)
    async with running_fork_server(project, tmp_path) as server:
        status = await server.imported()
        assert (status["state"], status["reason"]) == ("ready", None)
        first, second = await server.start("first", KEY="1"), await server.start("second", KEY="2")
        seen = [await first.report_process_state(), await second.report_process_state()]
    assert [one["pid"] for one in seen] == [first.pid, second.pid] == [one["session"] for one in seen]
    assert {one["imported_by"] for one in seen} == {status["process"]["pid"]}
    assert [one["environment"]["KEY"] for one in seen] == ["1", "2"]
    assert [one["environment"]["BOTHOST_INSTANCE"] for one in seen] == ["first", "second"]


async def test_initial_environment_of_an_instance_contains_its_id(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        await server.imported()
        seen = await (await server.start("an-instance")).report_process_state()
    marks = [variable for variable in seen["visible"] if variable.startswith("BOTHOST_INSTANCE=")]
    assert marks == ["BOTHOST_INSTANCE=an-instance"]


async def test_each_instance_has_its_own_random_numbers(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        await server.imported()
        seen = [await (await server.start(name)).report_process_state() for name in ("a", "b", "c")]
    assert len({one["random"] for one in seen} | {one["own_random"] for one in seen}) == 6


async def test_paths_computed_during_import_point_to_the_home_directory_of_the_instance(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        await server.imported()
        seen = await (await server.start("first", HOME="/homes/first")).report_process_state()
    assert seen["cache"] == ["/homes/first/.cache/models", "/homes/first"]


async def test_instance_keeps_environment_variable_changes_made_during_the_import(tmp_path: Path) -> None:
    changes = """
os.environ.update(ADDED="1", MODELS=os.path.expanduser("~/models"), KEY="default")
del os.environ["ORT_DISABLE_TELEMETRY"]
"""
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT + changes), tmp_path) as server:
        await server.imported()
        instance = await server.start("first", HOME="/homes/first", KEY="of the instance")
        seen = (await instance.report_process_state())["environment"]
    assert (seen["ADDED"], seen["MODELS"], seen["KEY"]) == ("1", "/homes/first/models", "of the instance")
    assert "ORT_DISABLE_TELEMETRY" not in seen


async def test_supervisor_records_the_exit_status_of_each_instance(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        await server.imported()
        ended, killed = await server.start("ended"), await server.start("killed")
        for instance in (ended, killed):
            await instance.report_process_state()
        os.kill(ended.pid, signal.SIGTERM)
        os.kill(killed.pid, signal.SIGKILL)
        assert [await ended.exit_status(), await killed.exit_status()] == ["r  0", "r137"]


async def test_instances_keep_running_when_the_fork_server_is_killed(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        status = await server.imported()
        instance = await server.start("survivor")
        await instance.report_process_state()
        os.kill(status["process"]["pid"], signal.SIGKILL)
        assert (await server.next_event("status"))["state"] == "ended"
        assert (await instance.report_process_state())["pid"] == instance.pid
        os.kill(instance.pid, signal.SIGTERM)
        assert await instance.exit_status() == "r  0"
        assert await server.supervisor.wait() == 0


async def test_instance_that_waits_for_the_start_command_ends_when_the_service_disconnects(tmp_path: Path) -> None:
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path) as server:
        await server.imported()
        answer, instance = await server.request("abandoned")
        assert answer["event"] == "forked"
        server.writer.close()
        await instance.end()
        assert instance.exit.read_text() == "    "
        server.reader, server.writer = await connect_to_supervisor(str(tmp_path / "socket"))
        assert (await server.imported())["state"] == "ready"
        await (await server.start("next")).report_process_state()


async def test_supervisor_reports_the_modules_that_a_session_imported(tmp_path: Path) -> None:
    (tmp_path / "late.py").touch()
    source = STATE_REPORTING_BOT.replace("def report_process_state():", "def report_process_state():\n    import late")
    async with running_fork_server(write_bot(tmp_path, source), tmp_path) as server:
        await server.imported()
        instance = await server.start("first")
        assert "late" in (await instance.report_process_state())["modules"]
        os.kill(instance.pid, signal.SIGTERM)
        modules = (await server.next_event("modules"))["modules"]
    assert "late" in modules


async def test_fork_server_imports_the_modules_that_earlier_sessions_imported(tmp_path: Path) -> None:
    modules = ["colorsys", "no_such_module", "this_one.fails"]
    async with running_fork_server(write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path, modules=modules) as server:
        assert "colorsys" in (await server.imported())["modules"]


async def test_instance_imports_the_bot_if_the_fork_server_imported_only_libraries(tmp_path: Path) -> None:
    async with running_fork_server(
        write_bot(tmp_path, STATE_REPORTING_BOT), tmp_path, level="libraries", modules=["colorsys"]
    ) as server:
        await server.imported()
        instance = await server.start("first")
        seen = await instance.report_process_state()
    assert (seen["imported_by"], "colorsys" in seen["modules"]) == (instance.pid, True)


UNSAFE_IMPORTS = {
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
    "a file": ("import pathlib\n(pathlib.Path.home() / 'cache').touch()", "wrote files into the home"),
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


@pytest.mark.parametrize("what", UNSAFE_IMPORTS)
async def test_fork_server_reports_why_an_import_failed_or_is_unsafe_to_fork(what: str, tmp_path: Path) -> None:
    source, reason = UNSAFE_IMPORTS[what]
    async with running_fork_server(write_bot(tmp_path, f"{source}\n{STATE_REPORTING_BOT}"), tmp_path) as server:
        status = await server.imported()
        assert status["state"] in ("failed", "ended")
        assert reason in status["reason"]
