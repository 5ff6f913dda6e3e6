"""Names of a package that are loaded when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


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

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {face!r} has no attribute {name!r}")
        module, _, other = places[name].partition(":")
        names[name] = getattr(import_module(f"{face}.{module}"), other or name)
        return names[name]

    def known() -> list[str]:
        return sorted({*names, *places})

    return load, known
