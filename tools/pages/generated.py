"""Documentation pages that a command writes, or compares with what it would write."""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Pages = Callable[[Path], Mapping[Path, str]]


def between_marks(text: str, name: str, new: str) -> str:
    r"""The text of a page with something new between the two marks of a name.

    >>> between_marks("<!-- a: written by b -->\nold\n<!-- end of a -->", "a", "new")
    '<!-- a: written by b -->\n\nnew\n\n<!-- end of a -->'

    Raises
    ------
    ValueError
        The page has no such marks.
    """
    marks = re.compile(
        rf"(<!-- {name}: written by .*? -->\n).*?(<!-- end of {name} -->)", re.DOTALL
    )
    if not marks.search(text):
        raise ValueError(
            f"found no '<!-- {name}: written by … -->' with '<!-- end of {name} -->'; expected "
            "both around what is written. Add these two lines."
        )
    return marks.sub(lambda found: f"{found[1]}\n{new}\n\n{found[2]}", text)


def write_or_check(pages: Pages, command: str, arguments: Sequence[str] | None = None) -> int:
    """Write the pages of the path on the command line, or compare them.

    The exit status is 1 when a page is outdated.
    """
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
            f"{path}: found an outdated page; expected what the code writes. "
            f"Run python -m {command} {options.path}\n"
        )
    left = sorted(set(options.path.with_suffix("").glob("*.md")) - set(expected))
    for path in left:
        sys.stderr.write(
            f"{path}: found a page that nothing writes; expected no such page. Delete it.\n"
        )
    return int(bool(stale or left))
