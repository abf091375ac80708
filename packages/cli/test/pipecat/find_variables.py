"""Finds the environment variables that the installed pipecat-ai reads for services and transports.

Reads a JSON list from standard input, with one object for each service or transport:
- `value`: its name
- `modules`: its Python modules
- `key`: the name of the transport in Pipecat's runner, or null
- `arguments`: the names of the constructor arguments that the bot sets

Prints a JSON list of {value, reads} as its last line. `reads` contains the names of the environment variables that the
modules, and the Pipecat modules that they import, read. It omits a variable if all code that reads it is of these kinds:
- the default of an argument that the bot sets: in `api_key or os.getenv(NAME)`, NAME if `arguments` contains `api_key`
- code for other transports: NAME in `if transport == "daily": os.getenv(NAME)`, unless `key` is "daily"
"""

import ast
import importlib.util
import json
import sys
from functools import cache
from pathlib import Path

LIBRARY_ROOT = Path(importlib.util.find_spec("pipecat").origin).parent
# The script follows only imports of modules in these packages and in ENVIRONMENT_READER_MODULES. A bot uses only some
# modules of these Pipecat packages.
OPTIONAL_PACKAGES = ("pipecat.services", "pipecat.transports", "pipecat.serializers", "pipecat.runner")
# Functions in vendors' packages that read environment variables, with the modules that define them.
ENVIRONMENT_READER_MODULES = {"EnvironmentCredentialsResolver": "smithy_aws_core.identity.environment"}


@cache
def parse_module(module):
    """Return the syntax tree of a module and whether it is a package, or None if the module does not exist."""
    place = LIBRARY_ROOT.parent.joinpath(*module.split("."))
    for path, package in ((place.with_suffix(".py"), False), (place / "__init__.py", True)):
        if path.exists():
            return ast.parse(path.read_text(encoding="utf-8")), package
    return None


@cache
def find_imports(module):
    tree, package = parse_module(module)
    parts = module.split(".")
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + package] if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            found |= {whole, *(ENVIRONMENT_READER_MODULES.get(alias.name, f"{whole}.{alias.name}") for alias in node.names)}
    return {
        name
        for name in found
        if (name.startswith(OPTIONAL_PACKAGES) or name in ENVIRONMENT_READER_MODULES.values()) and parse_module(name)
    }


def find_all_imports(modules):
    seen, left = set(), list(modules)
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left.extend(find_imports(module))
    return seen


def read_string_constant(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def read_environment_variable_name(node):
    """Return the name in `os.getenv(NAME)`, `os.environ.get(NAME)` and `os.environ[NAME]`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.getenv", "getenv", "os.environ.get") and node.args:
        return read_string_constant(node.args[0])
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.unparse(node.value) == "os.environ":
        return read_string_constant(node.slice)
    return None


def find_environment_variable_reads(node, keys, instead):
    """Yield a tuple for each environment variable that the syntax tree reads: its name, `keys` and `instead`.

    `keys` contains the string constants with which enclosing `if` statements compare, such as "x" in `if kind == "x"`.
    `instead` contains the names of the Python variables that take precedence over the environment variable, such as
    `api_key` in `api_key or os.getenv(NAME)`.
    """
    name = read_environment_variable_name(node)
    if name:
        yield name, keys, instead
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        for index, value in enumerate(node.values):
            before = {ast.unparse(one) for one in node.values[:index] if isinstance(one, ast.Name)}
            yield from find_environment_variable_reads(value, keys, instead | before)
    elif isinstance(node, ast.If):
        compared = {read_string_constant(one) for one in getattr(node.test, "comparators", [])} - {None}
        yield from find_environment_variable_reads(node.test, keys, instead)
        for statement in node.body:
            yield from find_environment_variable_reads(statement, keys | compared, instead)
        for statement in node.orelse:
            yield from find_environment_variable_reads(statement, keys, instead)
    else:
        for child in ast.iter_child_nodes(node):
            yield from find_environment_variable_reads(child, keys, instead)


@cache
def list_environment_variables(module):
    return list(find_environment_variable_reads(parse_module(module)[0], frozenset(), frozenset()))


def find_environment_variables(chosen):
    found = set()
    for module in find_all_imports(chosen["modules"]):
        for name, keys, instead in list_environment_variables(module):
            given = instead & set(chosen["arguments"])
            if not given and (not keys or chosen["key"] in keys):
                found.add(name)
    return {"value": chosen["value"], "reads": sorted(found)}


if __name__ == "__main__":
    print(json.dumps([find_environment_variables(chosen) for chosen in json.load(sys.stdin)]))
