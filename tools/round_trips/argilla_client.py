"""The exports that Argilla's own client writes, for the tests of the readers.

The client asks a server in memory, which answers with the records of a page of the REST interface.
Run it where `argilla` is installed: `make round-trips`.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import argilla as rg
import httpx

ID = "dddddddd-dddd-4ddd-8ddd-{:012}"
SET, SPACE = ID.format(0), ID.format(99)
API = "/api/v1"
PAGE, RANKINGS = "argilla_rest_records.json", "rankings_rest_records.json"


def _options(*values: str) -> list[dict[str, str]]:
    return [{"value": value, "text": value} for value in values]


QUESTIONS: dict[str, dict[str, Any]] = {
    "sentiment": {
        "type": "label_selection",
        "options": _options("positive", "neutral", "negative"),
    },
    "quality": {"type": "rating", "options": [{"value": value} for value in range(1, 6)]},
    "topics": {
        "type": "multi_label_selection",
        "options": _options("delivery", "service", "price"),
    },
    "order": {"type": "ranking", "options": _options("x", "y", "z")},
}
"""The questions of the data set, by name. Their place is their id."""


class Server:
    """What an Argilla server answers, from one page of records. Records sent to it replace them."""

    def __init__(self, page: Path) -> None:
        self.records = json.loads(page.read_text(encoding="utf-8"))["items"]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request."""
        found = self._found(request)
        return httpx.Response(404 if found is None else 200, json=found or {})

    def _found(self, request: httpx.Request) -> Mapping[str, Any] | None:
        of_set = f"{API}/datasets/{SET}"
        if request.method == "PUT":
            self.records = json.loads(request.content)["items"]
            return {"items": self.records}
        if request.url.path == f"{of_set}/records":
            start, count = (int(request.url.params[name]) for name in ("offset", "limit"))
            return {"items": self.records[start : start + count]}
        answers: dict[str, Mapping[str, Any]] = {
            f"{API}/me": {"id": SPACE, "username": "owner", "role": "owner"},
            f"{API}/workspaces/{SPACE}": {"id": SPACE, "name": "team"},
            of_set: {"id": SET, "name": "reviews", "status": "ready", "workspace_id": SPACE},
            f"{of_set}/fields": {"items": [_field()]},
            f"{of_set}/questions": {"items": _questions()},
            f"{of_set}/vectors-settings": {"items": []},
            f"{API}/me/datasets/{SET}/metadata-properties": {"items": []},
        }
        return answers.get(request.url.path)


def _field() -> dict[str, Any]:
    settings = {"type": "text", "use_markdown": False}
    return {"id": ID.format(50), "name": "text", "required": True, "settings": settings}


def _questions() -> list[dict[str, Any]]:
    return [
        {"id": ID.format(place), "name": name, "required": False, "settings": settings}
        for place, (name, settings) in enumerate(QUESTIONS.items(), 1)
    ]


def data_set(page: Path) -> rg.Dataset:
    """The data set of a page of records, as the client shows it."""
    transport = httpx.MockTransport(Server(page))
    client = rg.Argilla("http://localhost", "none", mounts={"all://": transport})
    found = client.datasets(id=SET)
    found.settings.get()
    return found


def write(folder: Path) -> None:
    """Write all exports to a folder that has the pages of records."""
    asked = data_set(folder / PAGE).records
    place = folder / "client"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    asked.to_json(place / "to_json.json")
    _write(place / "to_list_flat.json", asked.to_list(flatten=True))
    _write(place / "to_dict.json", asked.to_dict(flatten=False))
    _write(place / "to_dict_flat.json", asked.to_dict(flatten=True))
    table = asked.to_datasets()
    table.to_parquet(place / "to_datasets.parquet")
    table.to_json(place / "to_datasets.jsonl")
    table.to_csv(place / "to_datasets.csv")
    table.save_to_disk(place / "to_datasets")
    ranked = data_set(folder / RANKINGS).records
    _write(place / "rankings.json", ranked.to_list(flatten=False))
    _write(place / "rankings_flat.json", ranked.to_list(flatten=True))
    asked.from_json(place / "to_json.json")
    _write(place / "from_json_flat.json", asked.to_list(flatten=True))


def _write(path: Path, found: object) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
