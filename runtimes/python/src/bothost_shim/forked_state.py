"""State that a process and its forks must not share:

random numbers, paths in the home directory, and the variable that identifies the process.
"""

import ctypes
import gc
import os
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import PosixPath, PurePath
from types import ModuleType
from typing import Any

INSTANCE_ID_ENVIRONMENT_VARIABLE = "BOTHOST_INSTANCE"


class InitialEnvironment:
    """The memory that contains the environment variables with which this process was started.

    `/proc/PID/environ` shows this memory. `variables` contains the variables before `site` ran `.pth` files,
    `sitecustomize` and `usercustomize`, which may have changed `os.environ`.
    """

    def __init__(self) -> None:
        """Find INSTANCE_ID_ENVIRONMENT_VARIABLE in the memory of this process. Raises LookupError if it is missing."""
        with open("/proc/self/stat", encoding="latin-1") as file:
            text = file.read()
        # The addresses env_start and env_end are fields 50 and 51 of proc_pid_stat(5).
        start, end = (int(field) for field in text[text.rindex(")") + 2 :].split(" ")[47:49])
        block = ctypes.string_at(start, end - start)
        prefix = b"\0" + f"{INSTANCE_ID_ENVIRONMENT_VARIABLE}=".encode()
        offset = (b"\0" + block).find(prefix)
        if offset < 0:
            raise LookupError(f"the environment variable {INSTANCE_ID_ENVIRONMENT_VARIABLE} is missing")
        self._address = start + offset + len(prefix) - 1
        self._length = block.index(b"\0", offset) - offset - len(prefix) + 1
        pairs = (os.fsdecode(variable).partition("=") for variable in block.split(b"\0"))
        self.variables = {name: value for name, separator, value in pairs if separator}

    def rename(self, name: str) -> None:
        """Overwrite the instance id in INSTANCE_ID_ENVIRONMENT_VARIABLE with the id `name`, in place.

        Raises ValueError if `name` is longer than the current id.
        """
        value = name.encode()
        if len(value) > self._length:
            raise ValueError(f"the instance id {name} is longer than {self._length} bytes")
        ctypes.memmove(self._address, value.ljust(self._length, b"\0"), self._length)


def find_random_generators() -> list[Any]:
    """Find all random number generators, before `gc.freeze` hides them."""
    numpy_random: Any = sys.modules.get("numpy.random")
    kinds: tuple[type[Any], ...] = (random.Random,)
    if numpy_random is not None:
        kinds += (numpy_random.BitGenerator,)
    # Do not use `isinstance`, because it reads `__class__`, and some lazy objects then import a module.
    found = [one for one in gc.get_objects() if issubclass(type(one), kinds)]
    return [one for one in found if not issubclass(type(one), random.SystemRandom)]


def reseed_generators(generators: list[Any]) -> None:
    """Reseed each generator from the operating system."""
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


def find_module_path_variables(directory: str) -> list[tuple[dict[str, Any], str, str | PurePath]]:
    """Find the module variables that contain paths in a directory. Returns namespace, name and value of each."""
    namespaces = [module.__dict__ for module in list(sys.modules.values()) if type(module) is ModuleType]
    return [
        (namespace, name, value)
        for namespace in namespaces
        for name, value in list(namespace.items())
        if type(value) in (str, PosixPath) and f"{value}/".startswith(f"{directory}/")
    ]


def replace_directory_in_path_variables(
    paths: list[tuple[dict[str, Any], str, str | PurePath]], former: str, directory: str
) -> None:
    """Replace the directory at the start of the paths in the variables that `find_module_path_variables` returned."""
    for namespace, name, value in paths:
        namespace[name] = type(value)(directory + str(value)[len(former) :])


def replace_environment(environment: Mapping[str, str], before: Mapping[str, str]) -> None:
    """Replace the environment variables of this process, and keep the changes that `site` and the bot's import made.

    `environment` contains the variables of the instance, `before` the variables with which the fork server was started.
    In changed values, replaces the home directory and the instance id of the fork server with those of the instance.
    Discards the cached directory for temporary files.
    """
    after = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    for name in before.keys() - after.keys():
        os.environ.pop(name, None)
    for name, value in after.items():
        # A variable that only the instance has, such as BOT_SOCKET, keeps its value even if the import has set it.
        if value != before.get(name) and (name in before or name not in environment):
            os.environ[name] = value.replace(before["HOME"], environment["HOME"]).replace(
                before[INSTANCE_ID_ENVIRONMENT_VARIABLE], environment[INSTANCE_ID_ENVIRONMENT_VARIABLE]
            )
    tempfile.tempdir = None
