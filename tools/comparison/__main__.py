"""`python -m tools.comparison OLD NEW`: do two versions of the package say the same?

OLD and NEW are each a folder that holds the package, such as a checkout, or a wheel. Both read the
same random tables, and every value is compared to its last digit. The exit status is 1 if a value
differs and the file of explained differences does not say why.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from tools.comparison.cases import write_cases
from tools.comparison.compared import Compared, Said, compared, explanations, said_in
from tools.comparison.generated import generate

HERE = Path(__file__).parent
PACKAGE = "agreement_pipeline"
MOST_SHOWN = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two versions, print what was found, and say by the status whether they differ."""
    options = _options(arguments)
    with _folder(options.folder) as folder:
        cases = generate(folder / "cases", options.cases, options.seed)
        listed = write_cases(cases, folder / "cases")
        versions = {"old": options.old, "new": options.new}
        with ThreadPoolExecutor(options.jobs) as pool:
            said = list(pool.map(lambda name: ask(versions[name], listed, folder / name), versions))
    kinds = {each.name: each.kind for each in cases}
    old, new = said
    found = compared(kinds, old, new, explanations(options.explained))
    sys.stdout.writelines(f"{line}\n" for line in report(found, options.all))
    return int(bool(found.unexplained))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.comparison", description=__doc__)
    version = "a folder that holds the package, or a wheel"
    parser.add_argument("old", type=Path, metavar="OLD", help=version)
    parser.add_argument("new", type=Path, metavar="NEW", help=version)
    parser.add_argument("--cases", type=int, default=640, metavar="N", help="how many tables")
    parser.add_argument("--seed", type=int, default=1, help="of the random tables")
    parser.add_argument("--jobs", type=int, default=2, help="2: both versions run at once")
    parser.add_argument("--folder", type=Path, help="keep tables and answers in this new folder")
    parser.add_argument("--explained", type=Path, default=HERE / "explained.yaml", metavar="FILE")
    parser.add_argument("--all", action="store_true", help=f"print more than {MOST_SHOWN}")
    return parser.parse_args(arguments)


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        with TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        kept.mkdir(parents=True)
        yield kept


def ask(version: Path, cases: Path, folder: Path) -> Said:
    """What a version says of all cases, from a process of its own."""
    folder.mkdir()
    root, out = _root(version, folder), folder / "said.jsonl"
    command = [sys.executable, "-P", *map(str, (HERE / "worker.py", root, cases, out))]
    subprocess.run(command, check=True, cwd=folder, env=_environment(root))
    return said_in(out)


def _root(version: Path, folder: Path) -> Path:
    """The folder that holds the package, where a wheel is unpacked first."""
    root = version.resolve()
    if root.is_file():
        with ZipFile(root) as wheel:
            wheel.extractall(folder / "unpacked")
        root = folder / "unpacked"
    if not (root / PACKAGE / "__init__.py").is_file():
        raise SystemExit(f"{version}: found no {PACKAGE} there; expected a checkout or a wheel.")
    return root


def _environment(root: Path) -> dict[str, str]:
    """One thread for each version, so that its time is its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}


def report(found: Compared, everything: bool) -> Iterator[str]:
    """The counts, a line for each explanation that was needed, and all other differences."""
    yield found.table()
    for one, differ in found.explained.items():
        yield f"\nexplained, {len(differ)} values: {one.case} | {one.what}: {one.why}"
    yield f"\n{len(found.unexplained)} differences without an explanation"
    yield from map(str, found.unexplained[: None if everything else MOST_SHOWN])


if __name__ == "__main__":
    sys.exit(main())
