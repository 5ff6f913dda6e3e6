"""Pictures of the docs, as a browser shows the report of a project and the UI of Dagster.

    python -m tools.pictures report configs/projects/moderation.yaml 2026-W03 docs/images
    python -m tools.pictures ui http://localhost:3000 docs/images

Chromium must be installed. For `ui`, `make ui` must run in another terminal, after at least one
round was held.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from agreement_pipeline.projects import Project, load_project, project_page, round_page

WIDTH, HEIGHT = 1440, 900
LOADED_MS = 10_000
MOST_BYTES = 200_000
ASSET = "/assets/moderation"
OF_UI = {
    "ui-history": (f"{ASSET}/agreement_history", 300),
    "ui-held-round": (f"{ASSET}/acceptability?view=partitions&partition=2026-W03", 0),
    "ui-disputed": (f"{ASSET}/disputed_items?view=partitions&partition=2026-W03", 0),
}
"""What each picture of the UI shows: an address, and how far down the page is moved."""
OF_REPORT = {
    "report-project": ("project", "header", "#agreement-over-rounds figure", "", 1600),
    "report-first": ("round", "header", ".top", "", 1400),
}
"""For each picture of the report: its page, the first and the last part of the page that are shown,
what is opened before, and the greatest height."""
REPORT_WIDTH, MARGIN = 1000, 14


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        path = shutil.which("chromium")
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def of_ui(url: str, folder: Path) -> None:
    """Take every picture of the UI and keep it in a folder."""
    with _browser() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, (address, down) in OF_UI.items():
            page.goto(f"{url}{address}")
            page.wait_for_timeout(LOADED_MS)
            if down:
                page.mouse.move(WIDTH // 2, HEIGHT // 2)
                page.mouse.wheel(0, down)
                page.wait_for_timeout(LOADED_MS // 6)
            taken = page.screenshot(path=folder / f"{name}.png")
            if len(taken) > MOST_BYTES:
                raise SystemExit(
                    f"{name}: found {len(taken)} bytes; expected {MOST_BYTES} at most. "
                    "Take a smaller part of the page."
                )


def of_report(file: Path, round_name: str, folder: Path) -> None:
    """Take every picture of the report of a project, and keep it in a folder."""
    project = Project(load_project(file))
    pages = {
        "project": project_page(project, {name: f"{name}.html" for name in project.store.rounds()}),
        "round": round_page(project, round_name, on=datetime.now(UTC).date()),
    }
    with TemporaryDirectory() as place, _browser() as browser:
        for name, (of, first, last, opened, tallest) in OF_REPORT.items():
            path = Path(place, f"{of}.html")
            path.write_text(pages[of], encoding="utf-8")
            page = browser.new_page(viewport={"width": REPORT_WIDTH, "height": HEIGHT})
            page.goto(path.as_uri())
            if opened:
                page.locator(f"{opened} > summary").click()
            top = page.locator(first).first.bounding_box()
            end = page.locator(last).first.bounding_box()
            if top is None or end is None:
                raise SystemExit(f"{name}: found no {first} to {last}")
            height = min(end["y"] + end["height"] + 2 * MARGIN - top["y"], tallest)
            start = max(0.0, top["y"] + page.evaluate("window.scrollY") - MARGIN)
            page.screenshot(
                path=folder / f"{name}.png",
                full_page=True,
                clip={"x": 0.0, "y": start, "width": float(REPORT_WIDTH), "height": height},
            )


def main(arguments: Sequence[str]) -> None:
    """Take the pictures of the report or of the UI."""
    match arguments:
        case ["report", file, round_name, folder]:
            of_report(Path(file), round_name, Path(folder))
        case ["ui", url, folder]:
            of_ui(url, Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
