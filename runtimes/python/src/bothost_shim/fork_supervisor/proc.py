"""Reads what the kernel reports about another process, which itself is not trusted."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessStat:
    """Fields of `/proc/PID/stat` (proc_pid_stat(5))."""

    # A zombie has ended and waits for its parent.
    is_zombie: bool
    parent: int
    # Clock ticks since the machine started; with the pid it identifies the process.
    start_ticks: int


def read_stat(pid: int) -> ProcessStat | None:
    """Read the parent and the start of a process; None if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            text = file.read()
    except OSError:
        return None
    # The name of the command may contain spaces and parentheses.
    fields = text[text.rindex(")") + 2 :].split(" ")
    return ProcessStat(is_zombie=fields[0] == "Z", parent=int(fields[1]), start_ticks=int(fields[19]))


def find_privileges(pid: int, uid: int) -> str | None:
    """Name the first privilege that a process of the account must not have; None when it has none."""
    status = _read_status(pid)
    if set(status.get("Uid", "").split()) != {str(uid)}:
        return f"its user ids are {status.get('Uid', 'unknown')}, not {uid}"
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(status.get(name, "1"), 16) != 0:
            return f"it kept capabilities ({name} {status.get(name)})"
    return None if status.get("NoNewPrivs") == "1" else "it may gain new privileges"


def count_threads(pid: int) -> int:
    """Count the threads of a process, native ones too."""
    return len(os.listdir(f"/proc/{pid}/task"))


def find_children(pid: int) -> list[int]:
    """List the running processes whose parent this process is."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            candidates = [int(name) for name in file.read().split()]
    except OSError:
        # Kernels without CONFIG_PROC_CHILDREN.
        candidates = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    stats = [(child, read_stat(child)) for child in candidates]
    return [child for child, stat in stats if stat is not None and stat.parent == pid and not stat.is_zombie]


def read_members(cgroup_procs: str) -> list[int]:
    """List the processes of a control group by its file `cgroup.procs`."""
    with open(cgroup_procs, encoding="ascii") as file:
        return [int(line) for line in file]


def has_variable(pid: int, variable: str) -> bool:
    """Return whether the initial environment of a process, as other processes read it, holds `NAME=value`."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return variable.encode() in file.read().split(b"\0")
    except OSError:
        return False


def _read_status(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status", encoding="latin-1") as file:
        pairs = (line.partition(":") for line in file)
        return {name: " ".join(value.split()) for name, _, value in pairs}
