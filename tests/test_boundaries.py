"""Imports go one way, and heavy libraries are loaded where they are used."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import agreement_pipeline

PACKAGE = Path(agreement_pipeline.__file__).parent
ORDER = (
    "errors large_files students_t text version",
    "extensions mistakes tables",
    "yaml_files",
    "engine",
    "ratings",
    "units",
    "readers",
    "integrity",
    "contract statistics store",
    "counting measures progress",
    "intervals",
    "estimates",
    "policy",
    "release evidence",
    "models report",
    "sources",
    "projects",
    "notebook",
    "pytest_plugin",
    "orchestration",
    "demo",
    "cli",
    "__main__",
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names.split()}
MIDDLE = ("statistics", "measures", "intervals", "estimates", "policy")
ONLY_IN = {
    "dagster": {"orchestration"},
    "great_expectations": {"contract"},
    "matplotlib": set(),
    "jinja2": {"release", "report"},
    "yaml": {"yaml_files", "release", "cli"},
    "fsspec": {"store"},
    "duckdb": {"engine"},
    "pyspark": {"engine"},
    "upath": {"store"},
}
ALLOWED = {"intervals": {"threadpoolctl"}, "statistics": {"scipy"}}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def part(path):
    """The name under the package: a module's own, or that of the subpackage it is in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imported(path):
    """Every module that a file imports, anywhere in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where a name comes from"
            found += (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "agreement_pipeline"
                else [node.module]
            )
    return found


def imported_modules(path):
    """What a file imports, and each name from it, which may be a module too."""
    nodes = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return {*imported(path), *names}


def own(path):
    """The rooms of this package that a file imports, each with the path inside it."""
    for name in imported(path):
        if name.startswith("agreement_pipeline."):
            _, room, *inside = name.split(".")
            yield room, tuple(inside)


def test_every_room_has_its_place():
    assert {part(path) for path in MODULES} == set(RANK)


def test_a_room_imports_only_rooms_before_it_and_enters_them_through_their_faces():
    wrong = [
        (str(path), room, *inside)
        for path in MODULES
        for room, inside in own(path)
        if room != part(path) and (inside or RANK[room] >= RANK[part(path)])
    ]
    assert wrong == []


def test_no_two_files_of_a_room_import_each_other_even_by_way_of_others():
    """A file that imports types alone counts too."""
    name_of = {
        path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in MODULES
    }
    sorter = TopologicalSorter(
        {
            name: {
                other
                for other in imported_modules(path) & {*name_of.values()}
                if other != name and other.split(".")[1] == part(path)
            }
            for path, name in name_of.items()
        }
    )
    sorter.prepare()


OF_MODELS = ("certif", "silver", "anchor")


def names_in(path):
    """The names that a file gives or uses, and not its texts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "attr", "arg", "name", "asname"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def test_what_stands_below_the_models_has_no_name_for_what_they_alone_know():
    below = [path for path in MODULES if RANK[part(path)] < RANK["models"]]
    found = {
        (part(path), name)
        for path in below
        for name in names_in(path)
        if any(word in name.lower() for word in OF_MODELS)
    }
    of_a_policy = {("policy", "Silver"), ("policy", "silver")}
    error, of_a_page = ("errors", "CertificateError"), ("evidence", "anchor")
    assert found <= {*of_a_policy, error, of_a_page}


def test_what_renders_imports_nothing_that_computes():
    found = {room for path in MODULES if part(path) == "report" for room, _ in own(path)}
    assert found - {"report"} == {
        *("contract", "evidence", "integrity", "policy", "ratings", "text", "version")
    }


def test_in_the_middle_nothing_but_numpy_and_the_standard_library_is_imported():
    allowed = {"agreement_pipeline", "numpy", *sys.stdlib_module_names}
    wrong = [
        (str(path), name)
        for path in MODULES
        if part(path) in MIDDLE
        for name in (library.split(".")[0] for library in imported(path))
        if name not in allowed | ALLOWED.get(part(path), set())
    ]
    assert wrong == []


def test_a_heavy_library_is_imported_in_its_one_place():
    wrong = [
        (str(path), name)
        for path in MODULES
        for name in {library.split(".")[0] for library in imported(path)} & set(ONLY_IN)
        if part(path) not in ONLY_IN[name]
    ]
    assert wrong == []


def loaded_by(module):
    """The modules that a fresh interpreter holds after one import."""
    code = f"import {module}, sys; print(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


HEAVY = {
    "dagster",
    "great_expectations",
    "matplotlib",
    "pyarrow.dataset",
    "duckdb",
    "pyspark",
    "sklearn",
    "scipy",
}


@pytest.mark.parametrize("module", ["agreement_pipeline", "agreement_pipeline.policy"])
def test_importing_the_core_loads_no_heavy_library(module):
    loaded = loaded_by(module)
    assert f"{module}" in loaded
    assert not loaded & HEAVY


def libraries(modules):
    """The top-level names of the modules that neither Python nor this package brings."""
    return {name.split(".")[0] for name in modules} - {*sys.stdlib_module_names}


def test_importing_the_package_loads_no_library():
    assert libraries(loaded_by("agreement_pipeline")) - libraries(loaded_by("sys")) == {
        "agreement_pipeline"
    }


def test_every_public_name_is_known_before_it_is_loaded():
    code = "import agreement_pipeline as package; print(*dir(package))"
    known = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(agreement_pipeline.__all__) <= set(known)


def test_every_public_name_is_loaded_when_asked_for():
    assert all(hasattr(agreement_pipeline, name) for name in agreement_pipeline.__all__)
    assert agreement_pipeline.read_ratings is agreement_pipeline.readers.read
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        agreement_pipeline.nothing  # noqa: B018
