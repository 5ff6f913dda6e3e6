"""Pages of documentation that a command writes, or checks against what it would write."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Pages = Callable[[Path], Mapping[Path, str]]


def write_or_check(pages: Pages, command: str, arguments: Sequence[str] | None = None) -> int:
    """Write the pages that belong to the path on the command line, or compare them; the exit status is 1 when one is stale."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {command}",
        description="Write a page of documentation, and the pages it leads to.",
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args(arguments)
    expected = pages(options.path)
    if not options.check:
        for path, text in expected.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [
        path
        for path, text in expected.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        sys.stderr.write(
            f"{path}: not what the code says; an up-to-date page is required. Run python -m {command} {options.path}\n"
        )
    left = sorted(set(options.path.with_suffix("").glob("*.md")) - set(expected))
    for path in left:
        sys.stderr.write(
            f"{path}: a page that nothing writes any more found; none is required. Delete it.\n"
        )
    return int(bool(stale or left))
