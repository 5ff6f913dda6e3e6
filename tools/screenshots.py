"""Pictures of the report of a project, as a browser shows it.

    python -m tools.screenshots configs/projects/moderation.yaml 2026-W03 pictures/

Chromium must be installed. The docs show `report-project.png` and `report-first.png`.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from playwright.sync_api import Page, sync_playwright

from agreement_pipeline.projects import Project, load_project, project_page, round_page

WIDE, PHONE = 1000, 400
TALL, MARGIN = 900, 14


@dataclass(frozen=True)
class Picture:
    """A picture: its name, its page, the parts of it that are shown, and how."""

    name: str
    of: Literal["project", "round"]
    first: str
    last: str
    width: int = WIDE
    scheme: Literal["light", "dark"] = "light"
    opened: str = ""
    tallest: int = 1400


PICTURES = (
    Picture("report-project", "project", "header", "#agreement-over-rounds figure", tallest=1600),
    Picture("report-first", "round", "header", ".top"),
    Picture("labels", "round", "#labels", "#labels"),
    Picture("raters", "round", "#raters", "#raters", opened="#pair-1", tallest=1700),
    Picture("phone", "round", "header", "#labels", width=PHONE, tallest=2400),
    Picture(
        "dark", "project", "header", "#prevalence-over-rounds .legend", scheme="dark", tallest=2000
    ),
    Picture("dark-raters", "round", "#raters", "#raters", scheme="dark"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pictures and a printed page into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("round")
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        files = _pages(Project(load_project(asked.project)), asked.round, Path(place))
        _in_browser(lambda open_page: _take(open_page, files, asked.folder))
    return 0


def _pages(project: Project, round_name: str, place: Path) -> dict[str, Path]:
    today = datetime.now(UTC).date()
    names = project.store.rounds()
    said = {
        "project": project_page(project, {name: f"{name}.html" for name in names}),
        "round": round_page(project, round_name, on=today),
    }
    files = {of: place / f"{of}.html" for of in said}
    for of, path in files.items():
        path.write_text(said[of], encoding="utf-8")
    return files


Opening = Callable[[Path, int, Literal["light", "dark"]], Page]


def _in_browser(use: Callable[[Opening], None]) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )

        def open_page(file: Path, width: int, scheme: Literal["light", "dark"]) -> Page:
            page = browser.new_page(viewport={"width": width, "height": TALL}, color_scheme=scheme)
            page.goto(file.as_uri())
            return page

        use(open_page)
        browser.close()


def _take(open_page: Opening, files: dict[str, Path], folder: Path) -> None:
    for picture in PICTURES:
        page = open_page(files[picture.of], picture.width, picture.scheme)
        if picture.opened:
            page.locator(f"{picture.opened} > summary").click()
        top = page.locator(picture.first).first.bounding_box()
        end = page.locator(picture.last).first.bounding_box()
        if top is None or end is None:
            raise SystemExit(f"{picture.name}: found no {picture.first} to {picture.last}")
        height = min(end["y"] + end["height"] + 2 * MARGIN - top["y"], picture.tallest)
        start = max(0.0, top["y"] + page.evaluate("window.scrollY") - MARGIN)
        clip = {"x": 0.0, "y": start, "width": float(picture.width), "height": height}
        page.screenshot(path=folder / f"{picture.name}.png", full_page=True, clip=clip)  # type: ignore[arg-type]  # a rectangle
        page.close()
    page = open_page(files["round"], WIDE, "light")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.pdf(path=folder / "print.pdf", format="A4")


if __name__ == "__main__":
    sys.exit(main())
