"""The pages of a project: where they are written, and the link that opens one from an asset."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from agreement_pipeline.projects import Project

INDEX = "index.html"


def page_of(round_name: str) -> str:
    """The file of a round's page."""
    return f"{round_name}.html"


def link(project: Project, name: str) -> dict[str, Any]:
    """The way to a page: a link if the project says where its pages are served, else a path.

    Nothing if the project keeps no pages.
    """
    folder, url = project.settings.pages, project.settings.pages_url
    if folder is None:
        return {}
    if url is None:
        return {"page": dg.MetadataValue.path(str(project.root / folder / name))}
    return {"page": dg.MetadataValue.url(f"{url.rstrip('/')}/{quote(name)}")}


def keep_page(project: Project, name: str, text: str) -> None:
    """Write a page under its name. Who reads it meanwhile sees the old page or the new one."""
    path = project.root / Path(project.settings.pages or "") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
