"""Pictures of the Dagster UI for the guide, by a headless Chromium.

`make ui` must run in another terminal, after at least one round was held. Then:

    .venv/bin/python -m tools.ui_pictures http://localhost:3000 docs/images
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

WIDTH, HEIGHT = 1440, 900
CHROMIUM = "/usr/bin/chromium"
LOADED_MS = 10_000
MOST_BYTES = 200_000

ASSET = "/assets/moderation"
PAGES: Mapping[str, tuple[str, int]] = {
    "ui-history": (f"{ASSET}/agreement_history", 300),
    "ui-held-round": (f"{ASSET}/acceptability?view=partitions&partition=2026-W06", 0),
    "ui-disputed": (f"{ASSET}/disputed_items?view=partitions&partition=2026-W03", 0),
}
"""What each picture shows: an address, and how far down the page is moved."""


def main() -> None:
    """Take every picture and keep it in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="Where the UI is, as http://localhost:3000.")
    parser.add_argument("folder", type=Path, help="Where the pictures are kept.")
    asked = parser.parse_args()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, (address, down) in PAGES.items():
            _take(page, f"{asked.url}{address}", asked.folder / f"{name}.png", down)
        browser.close()


def _take(page: Page, address: str, path: Path, down: int) -> None:
    page.goto(address)
    page.wait_for_timeout(LOADED_MS)
    if down:
        page.mouse.move(WIDTH // 2, HEIGHT // 2)
        page.mouse.wheel(0, down)
        page.wait_for_timeout(LOADED_MS // 6)
    taken: Any = page.screenshot(path=path)
    if len(taken) > MOST_BYTES:
        raise SystemExit(
            f"{path}: found {len(taken)} bytes; expected {MOST_BYTES} at most. "
            "Take a smaller part of the page."
        )


if __name__ == "__main__":
    main()
