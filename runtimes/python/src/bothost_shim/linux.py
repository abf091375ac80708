"""System calls that Python's standard library lacks, called through ctypes."""

import ctypes
import os

CAP_SETUID = 7

_PR_SET_DUMPABLE = 4
_PR_SET_KEEPCAPS = 8
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNS = 0x00020000
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_SLAVE = 0x80000
_CAPABILITY_VERSION_3 = 0x20080522
_HIGHEST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Make this process a child subreaper: the kernel makes it the parent of orphaned descendants."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Keep this process and its descendants from gaining rights through setuid programs."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def make_dumpable() -> None:
    """Make this process the owner of its files in `/proc` again.

    The kernel makes root their owner when the user id of the process changes.
    """
    _prctl(_PR_SET_DUMPABLE, 1)


def keep_capabilities() -> None:
    """Keep the capabilities when the user id next changes from 0 to another id."""
    _prctl(_PR_SET_KEEPCAPS, 1)


def enter_user_namespace() -> None:
    """Move this process into a new user namespace. Raises OSError if the machine does not allow it."""
    _check(_libc.unshare(_CLONE_NEWUSER))


def enter_own_mount_namespace() -> None:
    """Move this process into new user and mount namespaces, in which it may mount directories.

    The process needs no capabilities for this, and has all capabilities inside the new namespaces. Raises OSError if
    the machine does not allow it.
    """
    uid, gid = os.getuid(), os.getgid()
    _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    # Propagate mounts and unmounts from the machine into this namespace, but not back.
    _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None))


def bind_mount(directory: str, target: str) -> None:
    """Make a directory visible at another path, by a bind mount. Raises OSError."""
    _check(_libc.mount(os.fsencode(directory), os.fsencode(target), None, ctypes.c_ulong(_MS_BIND), None))


def limit_capabilities(*kept: int) -> None:
    """Drop all capabilities except `kept`, for this process and for all programs that it executes."""
    for capability in range(_HIGHEST_CAPABILITY + 1):
        # Kernels have fewer than 64 capabilities and reject higher numbers.
        if capability not in kept and _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    set_capabilities(*kept)
    for capability in kept:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability)


def set_capabilities(*kept: int) -> None:
    """Set the permitted, effective and inheritable capabilities to `kept`.

    The kernel also removes all capabilities except `kept` from the ambient set.
    """
    mask = sum(1 << capability for capability in kept)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)(low, low, low, high, high, high)))


def _prctl(option: int, *arguments: int) -> None:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    _check(_libc.prctl(option, *(ctypes.c_ulong(argument) for argument in padded)))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
