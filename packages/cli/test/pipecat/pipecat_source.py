"""Reads the source of a pipecat-ai release without running it."""

import ast
from functools import cache
from pathlib import Path


@cache
def read(path):
    return ast.parse(path.read_text(encoding="utf-8"))


class Source:
    """The definitions of a module under `root`. Raises LookupError if the module does not exist."""

    def __init__(self, root, module):
        self.root = root
        path = Path(root).joinpath(*module.split("."))
        files = [path.with_suffix(".py"), path / "__init__.py"]
        file = next((one for one in files if one.exists()), None)
        if file is None:
            raise LookupError(module)
        tree = read(file)
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.functions = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.values = {name for node in tree.body for name in assigned(node)}
        self.origins = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pipecat")
            for alias in node.names
        }

    def find(self, name):
        """Return the defining module and the definition of a class or function, or None if it does not exist."""
        found = self.classes.get(name) or self.functions.get(name)
        if found is None and name in self.origins:
            module, original = self.origins[name]
            return source_of(self.root, module).find(original)
        return self, found

    def has(self, name):
        """Return whether the module has this name, as a value or a submodule."""
        if name in self.classes or name in self.functions or name in self.values:
            return True
        return name in self.origins and source_of(self.root, self.origins[name][0]).has(self.origins[name][1])


@cache
def source_of(root, module):
    """Read a module. The result is cached, because modules are read often."""
    return Source(root, module)


def assigned(node):
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def lineage(source, name):
    """Yield a class and its base classes that belong to the library."""
    source, node = source.find(name)
    if not isinstance(node, ast.ClassDef):
        return
    yield source, node
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(named, ast.Name):
            yield from lineage(source, named.id)


def fields(node):
    """Return the field names of a dataclass or model."""
    return {line.target.id for line in node.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}


def parameters(function):
    return {one.arg for one in function.args.args + function.args.kwonlyargs}


@cache
def accepted(source, name):
    """Return the argument names of a class's constructor, or of the inherited one."""
    found = set()
    for _, node in lineage(source, name):
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                found |= parameters(part)
    return found


@cache
def settings(source, name):
    """Return the field names of a class's `Settings`, or of the inherited ones."""
    for owner, node in lineage(source, name):
        for part in node.body:
            target = part.targets[0] if isinstance(part, ast.Assign) else getattr(part, "target", None)
            if getattr(target, "id", None) == "Settings" and getattr(part, "value", None) is not None:
                return settings_fields(owner, part.value)
    return set()


def settings_fields(source, expression):
    """Return the field names of `SomeSettings`, or of `SomeService.Settings`."""
    if isinstance(expression, ast.Attribute):
        return settings(source, expression.value.id)
    found = set()
    for owner, node in lineage(source, expression.id):
        found |= fields(node)
        for base in node.bases:
            if isinstance(base, ast.Attribute) and base.attr == "Settings":
                found |= settings_fields(owner, base)
    return found
