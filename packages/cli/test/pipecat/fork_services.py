"""Checks that generated bots can construct their services in forked processes.

Imports each bot as a fork server does, forks the process twice, and constructs the bot's services in each fork. Reads
{shim, projects} from standard input. `shim` is the source directory of the Python host shim, which contains the fork
server. `projects` is a list of {name, files, variables} as for `construct_services.py`. Prints a list of {name, reason,
forks} as its last line. `reason` says why the process cannot be forked after the import of the bot, or is null. `forks`
has the failures of each fork.
"""

import asyncio
import json
import os
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path

from construct_services import block_network, construct_services

MODULES_IMPORTED_BEFORE_FORK = [
    "pipecat.audio.vad.silero",
    "pipecat.pipeline.runner",
    "pipecat.pipeline.worker",
    "pipecat.processors.aggregators.llm_response_universal",
    "pipecat.runner.utils",
    "pipecat.services.openai.llm",
]


# The fork server's connection has this file descriptor. Others would count as files that the bot left open.
CONTROL_DESCRIPTOR = 3


def run_in_child(action):
    """Run `action` in a fork and return its result."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        if write != CONTROL_DESCRIPTOR:
            os.dup2(write, CONTROL_DESCRIPTOR)
            os.close(write)
        try:
            result = action()
        except BaseException:  # noqa: BLE001: a bot may raise anything
            error = traceback.format_exc()[-300:]
            result = {"reason": error, "failures": [error], "forks": []}
        # Exit without flushing Python's standard output or running its exit handlers, because both belong to the parent
        # process.
        with os.fdopen(CONTROL_DESCRIPTOR, "w", encoding="utf-8") as file:
            json.dump(result, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as file:
        result = json.load(file)
    os.waitpid(pid, 0)
    return result


def import_and_fork_bot(project):
    """Import and fork a bot as the fork server does. Must run in a process that has imported no other bot."""
    from bothost_shim import fork_server
    from bothost_shim.fork_supervisor.proc import has_memory_shared_with_forks

    (path,) = project["files"]
    os.chdir(Path(path).parent)
    os.environ.update(project["variables"])
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        fork_server.configure_logging("ERROR")
        fork_server.register_module()
        try:
            fork_server._import({"level": "module", "modules": []})
            reason = "its import leaves shared memory" if has_memory_shared_with_forks(os.getpid()) else None
            reason = reason or ("its import writes to HOME" if os.listdir(home) else None)
        except (fork_server.UnusableBotError, fork_server.UnsafeImportError) as error:
            return {"reason": str(error), "forks": []}
        block_network()
        return {"reason": reason, "forks": [run_in_child(lambda: construct_bot_services(path)) for _ in range(2)]}


def construct_bot_services(path):
    failures, made = [], []
    asyncio.run(construct_services(path, sys.modules["bot"], failures, made))
    return {"failures": [failure for failure in failures if failure["wants"] is None]}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.path.insert(0, asked["shim"])
    # Close the files that this process inherited, as the fork supervisor does. They would count as files of the bot.
    os.closerange(CONTROL_DESCRIPTOR, os.sysconf("SC_OPEN_MAX"))
    # Set the variables that the service's fork server sets. Without them, OpenBLAS and ONNX Runtime start threads, and
    # a process with threads cannot be forked safely.
    os.environ.update(OPENBLAS_NUM_THREADS="1", ORT_DISABLE_TELEMETRY="1")
    # Import the modules that all bots use before forking, so that they are imported only once.
    for module in MODULES_IMPORTED_BEFORE_FORK:
        import_module(module)
    results = [
        {"name": project["name"], **run_in_child(lambda: import_and_fork_bot(project))}
        for project in asked["projects"]
    ]
    print(json.dumps(results))
