"""Reads from `/proc` what the kernel reports about a process, because the process itself is not trusted."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessStat:
    """Fields of `/proc/PID/stat` (proc_pid_stat(5))."""

    # Whether the process has ended and waits for its parent to reap it.
    is_zombie: bool
    parent: int
    # The start time in clock ticks since the boot of the machine. It identifies the process together with the pid.
    start_ticks: int


def read_stat(pid: int) -> ProcessStat | None:
    """Read the state of a process from `/proc`. Returns None if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            text = file.read()
    except OSError:
        return None
    # Parse the fields after the command name, because the name may contain spaces and parentheses.
    fields = text[text.rindex(")") + 2 :].split(" ")
    return ProcessStat(is_zombie=fields[0] == "Z", parent=int(fields[1]), start_ticks=int(fields[19]))


def find_forbidden_privilege(pid: int, uid: int) -> str | None:
    """Return the first privilege of a process that a bot must not have, or None if it has none."""
    status = _read_status(pid)
    if set(status.get("Uid", "").split()) != {str(uid)}:
        return f"its user ids are {status.get('Uid', 'unknown')}, not {uid}"
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(status.get(name, "1"), 16) != 0:
            return f"it kept capabilities ({name} {status.get(name)})"
    return None if status.get("NoNewPrivs") == "1" else "it may gain new privileges"


def count_threads(pid: int) -> int:
    """Count the threads of a process, including those of native libraries."""
    return len(os.listdir(f"/proc/{pid}/task"))


def has_memory_shared_with_forks(pid: int) -> bool:
    """Return whether a process has writable memory that its forks would share (proc_pid_maps(5))."""
    with open(f"/proc/{pid}/maps", encoding="latin-1") as file:
        permissions = (line.split(" ", 2)[1] for line in file)
        return any("w" in text and "s" in text for text in permissions)


def find_children(pid: int) -> list[int]:
    """Return the running children of this process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            candidates = [int(name) for name in file.read().split()]
    except OSError:
        # Search all processes, because the kernel lacks CONFIG_PROC_CHILDREN.
        candidates = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    stats = [(child, read_stat(child)) for child in candidates]
    return [child for child, stat in stats if stat is not None and stat.parent == pid and not stat.is_zombie]


def read_cgroup_pids(cgroup_procs: str) -> list[int]:
    """Return the pids in a control group, given its file `cgroup.procs`."""
    with open(cgroup_procs, encoding="ascii") as file:
        return [int(line) for line in file]


def has_environment_variable(pid: int, variable: str) -> bool:
    """Return whether the initial environment of a process, as `/proc` shows it, contains `NAME=value`."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return variable.encode() in file.read().split(b"\0")
    except OSError:
        return False


def _read_status(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status", encoding="latin-1") as file:
        pairs = (line.partition(":") for line in file)
        return {name: " ".join(value.split()) for name, _, value in pairs}
