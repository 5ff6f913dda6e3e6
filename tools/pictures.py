"""Pictures of the docs, as a browser shows the report of a project and the UI of Dagster.

    python -m tools.pictures docs/images

It runs the demo in a folder of its own and opens Dagster's UI on it. Chromium must be installed.
Beside the pictures, `made-from.json` keeps a digest of the words that they show, which tells if
they are stale.
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from agreement_pipeline.evidence import Page
from agreement_pipeline.projects import Project, load_project, project_page, round_page
from agreement_pipeline.report import render_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH, HEIGHT = 1440, 900
LOADED_MS = 10_000
MOST_BYTES = 200_000
TEXT_WIDTH = 100
STARTED_SECONDS = 120
MADE_FROM = "made-from.json"
ROOT = Path(__file__).parents[1]
PROJECT, ROUND = Path("configs/projects/moderation.yaml"), "2026-W03"
ASSET = "/assets/moderation"
OF_UI = {
    "ui-history": (f"{ASSET}/agreement_history", 420),
    "ui-held-round": (f"{ASSET}/acceptability?view=partitions&partition={ROUND}", 0),
    "ui-disputed": (f"{ASSET}/disputed_items?view=partitions&partition={ROUND}", 0),
}
"""What each picture of the UI shows: an address, and how far down the page is moved."""
OF_REPORT = {
    "report-project": ("project", "header", "#rounds", "", 1600),
    "report-first": ("round", "header", ".top", "", 1400),
}
"""For each picture of the report: its page, the first and the last part of the page that are shown,
what is opened before, and the greatest height."""
REPORT_WIDTH, MARGIN = 1000, 14
PARTS_SHOWN = {
    "report-project": ("Rounds",),
    "ui-history": ("Rounds",),
    "report-first": (),
    "ui-held-round": ("Rules",),
    "ui-disputed": ("Items",),
}
"""The parts of a page whose words each picture shows. The first two are of the project."""


def digest_by_picture(root: Path) -> dict[str, str]:
    """A digest of the words that each picture shows, from the stores of the demo below `root`."""
    project = Project(load_project(root / PROJECT))
    today = datetime.now(UTC).date()
    digests = {}
    for name, parts in PARTS_SHOWN.items():
        render = partial(_words, parts=parts)
        if name in ("report-project", "ui-history"):
            words = project_page(project, names=True, render=render)
        else:
            words = round_page(project, ROUND, on=today, names=True, render=render)
        digests[name] = hashlib.sha256(words.encode()).hexdigest()
    return digests


def _words(page: Page, parts: Sequence[str]) -> str:
    shown = tuple((title, answer) for title, answer in page.parts if title in parts)
    return render_text(replace(page, parts=shown, links={}), TEXT_WIDTH)


@contextmanager
def _browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

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
            invitation = page.get_by_role("button", name="Skip")
            if invitation.count():  # to subscribe to a newsletter, over the page
                invitation.click()
                page.wait_for_timeout(LOADED_MS // 6)
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


@contextmanager
def _webserver(root: Path) -> Iterator[str]:
    """The address of Dagster's UI on the folder of a demo."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(Path(sys.executable).with_name("dagster-webserver")), "-h", "127.0.0.1"]
    workspace = ["-w", str(ROOT / "workspace.yaml")]
    server = subprocess.Popen(
        [*command, "-p", port, *workspace],
        cwd=ROOT,
        env=_environment(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        last = time.monotonic() + STARTED_SECONDS
        while not _answers(url):
            if time.monotonic() > last or server.poll() is not None:
                raise SystemExit("dagster-webserver: found no answer; expected the UI")
            time.sleep(1)
        yield url
    finally:
        server.terminate()
        server.wait()


def _answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/server_info") as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False


def _environment(root: Path) -> Mapping[str, str]:
    places = {"AGREEMENT_ROOT": str(root), "DAGSTER_HOME": str(root / ".agreement/dagster")}
    return {**os.environ, **places, "DAGSTER_DISABLE_TELEMETRY": "1"}


def main(arguments: Sequence[str]) -> None:
    """Run the demo, take every picture, and keep what they were made from."""
    match arguments:
        case [place]:
            folder = Path(place).resolve()
        case _:
            raise SystemExit(__doc__)
    with TemporaryDirectory() as temporary:
        root = Path(temporary, "agreement-demo")
        demo = [sys.executable, "-m", "agreement_pipeline", "demo", str(root)]
        subprocess.run(demo, cwd=temporary, check=True, stdout=subprocess.DEVNULL)
        with _webserver(root) as url:
            of_ui(url, folder)
        of_report(root / PROJECT, ROUND, folder)
        digests = json.dumps(digest_by_picture(root), indent=2)
        (folder / MADE_FROM).write_text(f"{digests}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
