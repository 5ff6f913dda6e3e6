"""What rests on the registered rules. Each file of this folder is loaded for it."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline import units
from agreement_pipeline.units.again import Objects, objects_of
from agreement_pipeline.units.rule import RULES, UnitRule, UnitSettings, register
from agreement_pipeline.units.units import Units, at_each, units_of

for _module in iter_modules(units.__path__):
    import_module(f"{units.__name__}.{_module.name}")

__all__ = [
    "RULES",
    "Objects",
    "UnitRule",
    "UnitSettings",
    "Units",
    "at_each",
    "objects_of",
    "register",
    "units_of",
]
