import ast
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

_names: dict[str, frozenset[str]] = {}


class Face(ModuleType):
    """A module of the package does not take the place of a name."""

    def __setattr__(self, name: str, value: Any) -> None:
        of_import = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not (of_import and name in _names[self.__name__]):
            super().__setattr__(name, value)


def face(room: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, the `__dir__` and the `__all__` of a room.

    Its `__init__.py` imports each of its names `as` itself under `TYPE_CHECKING`, so it stands
    there once, for Python and for type checkers alike.
    """
    imports, named = dict[str, str](), dict[str, str]()
    for node in ast.walk(ast.parse(pkgutil.get_data(room, "__init__.py") or b"")):
        if isinstance(node, ast.ImportFrom):
            imports |= {name.name: f"{node.module}:{name.name}" for name in node.names}
            named |= {name.asname: name.name for name in node.names if name.asname}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            named[ast.unparse(node.targets[0])] = node.value.id
    places = {name: imports[other] for name, other in named.items()}
    names = vars(sys.modules[room])
    _names[room] = frozenset(places)
    sys.modules[room].__class__ = Face

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, _, other = places[name].partition(":")
        names[name] = getattr(import_module(module), other)
        return names[name]

    def known() -> list[str]:
        return sorted({*(name for name in names if name.startswith("__")), *places})

    return load, known, sorted(places)
