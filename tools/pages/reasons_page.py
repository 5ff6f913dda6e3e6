"""The tables of the page of reason codes that decisions give.

`python -m tools.pages.reasons_page [--check] docs/reasons.md`
"""

import sys
from collections.abc import Sequence

from agreement_pipeline.policy import REASONS, Reason
from tools.pages.generated import between_marks, write_or_check

COMMAND = "tools.pages.reasons_page"
HEAD = "| code | why the round is held | what helps |\n| --- | --- | --- |"


def reasons_page(page: str) -> str:
    """The page with the rows of each table as the package has them."""
    for asked_by in ("policy", "gate"):
        rows = [
            f"| `{code}` | {reason.why} | {_in_full(reason)} |"
            for code, reason in REASONS.items()
            if reason.asked_by == asked_by
        ]
        page = between_marks(page, asked_by, "\n".join([HEAD, *rows]))
    return page


def _in_full(reason: Reason) -> str:
    space = " " * reason.on_the_page.startswith("(")
    return f"{reason.helps}{space}{reason.on_the_page}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when the page is outdated."""
    return write_or_check(
        lambda path: {path: reasons_page(path.read_text(encoding="utf-8"))}, COMMAND, arguments
    )


if __name__ == "__main__":
    sys.exit(main())
