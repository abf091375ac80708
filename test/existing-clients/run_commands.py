"""Runs the CLI and the SDK of Pipecat Cloud, as installed, in processes that are forked from this one.

Reads requests and writes responses as JSON lines. Only third-party packages are imported before the fork, because they take most
of the time of a command. A request has `arguments` (of `pipecat`, or a Python file and its arguments), `environment`,
`directory`, and `answers`: pairs of a prompt and the keys to type when the terminal shows it. Without answers the command
has no terminal.
"""

import json
import os
import pty
import runpy
import select
import sys

import aiohttp  # noqa: F401
import loguru  # noqa: F401
import questionary  # noqa: F401
import rich.console  # noqa: F401
import toml  # noqa: F401
import typer  # noqa: F401


def run_in_child_process(request: dict) -> None:
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    first, *rest = request["arguments"]
    if first.endswith(".py"):
        sys.argv = [first, *rest]
        runpy.run_path(first, run_name="__main__")
    else:
        sys.argv = ["pipecat", first, *rest]
        from pipecat_cli.main import app

        app()


def start_command_process(request: dict) -> tuple[int, int]:
    """Return the command's process id and a file descriptor from which to read its output.

    If the request contains answers to prompts, the command runs in a pseudo-terminal, and the descriptor belongs to it.
    """
    if request["answers"]:
        process, terminal = pty.fork()
        if process != 0:
            return process, terminal
    else:
        output, child_output = os.pipe()
        process = os.fork()
        if process != 0:
            os.close(child_output)
            return process, output
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(child_output, 1)
        os.dup2(child_output, 2)
    status = 70
    try:
        run_in_child_process(request)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run_command(request: dict) -> dict:
    process, file = start_command_process(request)
    answers = list(request["answers"])
    output = b""
    seen = 0
    while True:
        select.select([file], [], [])
        try:
            read = os.read(file, 65536)
        except OSError:  # The command has closed its terminal.
            break
        if not read:
            break
        output += read
        if answers and (at := output.find(answers[0][0].encode(), seen)) >= 0:
            seen = at
            os.write(file, answers.pop(0)[1].encode())
    os.close(file)
    _, status = os.waitpid(process, 0)
    return {"status": os.waitstatus_to_exitcode(status), "output": output.decode(errors="replace")}


for line in sys.stdin:
    print(json.dumps(run_command(json.loads(line))), flush=True)
