"""Names of a package that are loaded when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

_names: dict[str, frozenset[str]] = {}
"""The names of each package that has a face."""


class Face(ModuleType):
    """A package that has some names. A module of the package does not take the place of a name."""

    def __setattr__(self, name: str, value: Any) -> None:
        of_import = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not (of_import and name in _names[self.__name__]):
            super().__setattr__(name, value)


def later(
    face: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    face
        The package.
    places
        The module in the package that has each name. `module:other` says that the name is
        `other` there.
    """
    names = vars(sys.modules[face])
    _names[face] = frozenset(places)
    sys.modules[face].__class__ = Face

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {face!r} has no attribute {name!r}")
        module, _, other = places[name].partition(":")
        names[name] = getattr(import_module(f"{face}.{module}"), other or name)
        return names[name]

    def known() -> list[str]:
        return sorted({*names, *places})

    return load, known
