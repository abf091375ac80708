"""Reads the source of a pipecat-ai release without running it."""

import ast
from functools import cache
from pathlib import Path


@cache
def parse_file(path):
    return ast.parse(path.read_text(encoding="utf-8"))


class ModuleSource:
    """The definitions of a module under `root`. Raises LookupError if the module does not exist."""

    def __init__(self, root, module):
        self.root = root
        path = Path(root).joinpath(*module.split("."))
        files = [path.with_suffix(".py"), path / "__init__.py"]
        file = next((one for one in files if one.exists()), None)
        if file is None:
            raise LookupError(module)
        tree = parse_file(file)
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.functions = {
            node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        self.values = {name for node in tree.body for name in list_assigned_names(node)}
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
            return read_module(self.root, module).find(original)
        return self, found

    def has(self, name):
        """Return whether the module contains this name, as a class, function, value or submodule."""
        if name in self.classes or name in self.functions or name in self.values:
            return True
        return name in self.origins and read_module(self.root, self.origins[name][0]).has(self.origins[name][1])


@cache
def read_module(root, module):
    """Read the definitions of a module. The result is cached, because modules are read often."""
    return ModuleSource(root, module)


def list_assigned_names(node):
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def walk_base_classes(source, name):
    """Yield a class and its base classes that belong to the library."""
    source, node = source.find(name)
    if not isinstance(node, ast.ClassDef):
        return
    yield source, node
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(named, ast.Name):
            yield from walk_base_classes(source, named.id)


def list_class_fields(node):
    """Return the field names of a dataclass or model."""
    return {line.target.id for line in node.body if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)}


def list_function_parameters(function):
    return {one.arg for one in function.args.args + function.args.kwonlyargs}


@cache
def list_constructor_parameters(source, name):
    """Return the argument names of the constructors of a class and its base classes."""
    found = set()
    for _, node in walk_base_classes(source, name):
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                found |= list_function_parameters(part)
    return found


@cache
def list_service_settings(source, name):
    """Return the field names of a service's settings class.

    The attribute `Settings` of the service class, or of one of its base classes, refers to the settings class.
    """
    for owner, node in walk_base_classes(source, name):
        for part in node.body:
            target = part.targets[0] if isinstance(part, ast.Assign) else getattr(part, "target", None)
            if getattr(target, "id", None) == "Settings" and getattr(part, "value", None) is not None:
                return list_settings_fields(owner, part.value)
    return set()


def list_settings_fields(source, expression):
    """Return the field names of the settings class `SomeSettings` or `SomeService.Settings`."""
    if isinstance(expression, ast.Attribute):
        return list_service_settings(source, expression.value.id)
    found = set()
    for owner, node in walk_base_classes(source, expression.id):
        found |= list_class_fields(node)
        for base in node.bases:
            if isinstance(base, ast.Attribute) and base.attr == "Settings":
                found |= list_settings_fields(owner, base)
    return found
