"""What a process and its forks must not share: random numbers, paths in its home, the variable that identifies it."""

import ctypes
import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import PosixPath, PurePath
from types import ModuleType
from typing import Any

MARK = "BOTHOST_INSTANCE"


class InitialEnvironment:
    """The block of variables that this process was started with, as `/proc/PID/environ` shows it to others."""

    def __init__(self) -> None:
        """Find the mark in it. Raises LookupError when it has none."""
        with open("/proc/self/stat", encoding="latin-1") as file:
            text = file.read()
        # env_start and env_end, fields 50 and 51 of proc_pid_stat(5).
        start, end = (int(field) for field in text[text.rindex(")") + 2 :].split(" ")[47:49])
        block = ctypes.string_at(start, end - start)
        prefix = b"\0" + f"{MARK}=".encode()
        offset = (b"\0" + block).find(prefix)
        if offset < 0:
            raise LookupError(f"the variable {MARK} is missing")
        self._address = start + offset + len(prefix) - 1
        self._length = block.index(b"\0", offset) - offset - len(prefix) + 1

    def rename(self, name: str) -> None:
        """Replace the value of the mark in place. Raises ValueError for a name that is longer than the present one."""
        value = name.encode()
        if len(value) > self._length:
            raise ValueError(f"{name} is longer than {self._length} bytes")
        ctypes.memmove(self._address, value.ljust(self._length, b"\0"), self._length)


def find_generators() -> list[Any]:
    """Find all generators of random numbers, before `gc.freeze` hides them."""
    numpy_random: Any = sys.modules.get("numpy.random")
    kinds: tuple[type[Any], ...] = (random.Random,)
    if numpy_random is not None:
        kinds += (numpy_random.BitGenerator,)
    # Not by `isinstance`, which reads `__class__`: lazy objects import a module then.
    found = [one for one in gc.get_objects() if issubclass(type(one), kinds)]
    return [one for one in found if not issubclass(type(one), random.SystemRandom)]


def reseed(generators: list[Any]) -> None:
    """Give each generator a new seed of the operating system."""
    random.seed()
    for generator in generators:
        if isinstance(generator, random.Random):
            generator.seed()
        else:
            generator.state = type(generator)().state
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.seed()


def find_paths(directory: str) -> list[tuple[dict[str, Any], str, str | PurePath]]:
    """Find the variables of modules that hold paths in a directory: namespace, name and value of each."""
    namespaces = [module.__dict__ for module in list(sys.modules.values()) if type(module) is ModuleType]
    return [
        (namespace, name, value)
        for namespace in namespaces
        for name, value in list(namespace.items())
        if type(value) in (str, PosixPath) and f"{value}/".startswith(f"{directory}/")
    ]


def move_paths(paths: list[tuple[dict[str, Any], str, str | PurePath]], former: str, directory: str) -> None:
    """Let the variables that `find_paths` found hold the same paths in another directory."""
    for namespace, name, value in paths:
        namespace[name] = type(value)(directory + str(value)[len(former) :])


def replace_environment(environment: Mapping[str, str]) -> None:
    """Set the variables of this process, and discard values derived from the former ones."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
