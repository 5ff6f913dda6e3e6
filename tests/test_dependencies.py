"""The versions that `pyproject.toml` allows are those that tests run with."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def requirements(*extras):
    """What the package and some of its extras require, by name."""
    lines = [*PROJECT["dependencies"], *(line for name in extras for line in EXTRAS[name])]
    found = map(Requirement, lines)
    return {canonicalize_name(each.name): each.specifier for each in found}


def versions_in(name):
    """The versions in a file of constraints, by name."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pinned = (line.split("==") for line in lines)
    return {canonicalize_name(name): Version(version) for name, version in pinned}


LOWEST = requirements("ui", "excel", "images", "metrics", "postgres", "s3", "signing")


@pytest.mark.parametrize("name", sorted(LOWEST))
def test_the_lowest_version_that_is_allowed_is_tested(name):
    (least,) = (Version(each.version) for each in LOWEST[name] if each.operator == ">=")
    assert versions_in("constraints-lowest.txt")[name] == least


def test_only_the_lowest_spark_is_not_tested():
    assert requirements(*EXTRAS).keys() - requirements("dev").keys() - LOWEST.keys() == {"pyspark"}


@pytest.mark.parametrize("name", sorted(requirements(*EXTRAS)))
def test_the_versions_of_continuous_integration_are_allowed(name):
    assert versions_in("constraints.txt")[name] in requirements(*EXTRAS)[name]
