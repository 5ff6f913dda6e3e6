"""The exports that Label Studio's own package writes, for the tests of the readers.

Run it where `label-studio-sdk` is installed: `make round-trips`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface
from label_studio_sdk.label_interface.objects import AnnotationValue, TaskValue

PROJECTS = ("label_studio", "label_studio_enterprise")
SKIPPED = 4
FORMS = {"CSV": ".csv", "TSV": ".tsv", "JSON_MIN": "_json_min.json"}
CONTROLS = """<View>
  <Text name="text" value="$text"/>
  <Choices name="sentiment" toName="text" choice="single-radio">
    <Choice value="positive"/><Choice value="neutral"/><Choice value="negative"/>
  </Choices>
  <Choices name="topics" toName="text" choice="multiple">
    <Choice value="delivery"/><Choice value="service"/><Choice value="price"/>
  </Choices>
  <Rating name="quality" toName="text" maxRating="5"/>
  <Number name="severity" toName="text" min="0" max="100"/>
  <Taxonomy name="kind" toName="text">
    <Choice value="praise"><Choice value="of staff"/><Choice value="of goods"/></Choice>
    <Choice value="complaint"/>
  </Taxonomy>
  <DateTime name="bought" toName="text" only="date"/>
  <TextArea name="note" toName="text"/>
  <Labels name="aspect" toName="text"><Label value="ACTOR"/><Label value="TIME"/></Labels>
</View>
"""
TEXTS = ("The staff was kind.", "It came a week late.", "Nobody opened it.", "They skipped it.")
SAID: dict[tuple[int, int], dict[str, Any]] = {
    (1, 11): {
        "sentiment": ["positive"],
        "topics": ["service", "price"],
        "quality": 5,
        "severity": 0.5,
        "kind": [["praise", "of staff"], ["complaint"]],
        "bought": "2026-01-02",
        "note": ["good"],
        "aspect": [{"start": 4, "end": 9, "label": ["ACTOR"]}],
    },
    (1, 12): {
        "sentiment": ["neutral"],
        "quality": 4,
        "severity": 10,
        "kind": [["praise", "of goods"]],
        "bought": "2026-01-03",
        "note": ["good", "and [so] on"],
    },
    (2, 11): {
        "sentiment": ["negative"],
        "topics": ["delivery"],
        "quality": 1,
        "severity": 90,
        "kind": [["complaint"]],
        "bought": "2026-01-02",
        "aspect": [
            {"start": 0, "end": 2, "label": ["ACTOR"]},
            {"start": 8, "end": 19, "label": ["TIME"]},
        ],
    },
    (2, 12): {},
    (SKIPPED, 11): {},
}
"""What raters said of a text. The third text has no annotation."""


def tasks() -> Iterator[dict[str, Any]]:
    """The tasks of a project with a control of each kind, made and checked by the package."""
    interface = LabelInterface(CONTROLS)
    for number, text in enumerate(TEXTS, 1):
        annotations = [
            _annotation(interface, number, rater, data)
            for (task, rater), data in SAID.items()
            if task == number
        ]
        task = TaskValue(data={"text": text}, annotations=None).model_dump()
        yield {"id": number, **task, "annotations": annotations}


def _annotation(
    interface: LabelInterface, task: int, rater: int, data: dict[str, Any]
) -> dict[str, Any]:
    regions = interface.create_regions(data)
    for place, region in enumerate(regions):
        region.id = f"r{task}-{rater}-{place}"
    made = AnnotationValue(
        completed_by=rater, result=regions, was_cancelled=task == SKIPPED, lead_time=2.5
    ).model_dump()
    if not interface.validate_annotation(made):
        raise ValueError(f"task {task}, rater {rater}: the package refuses its own annotation")
    when = f"2026-09-0{task}T08:{rater}:00.000000Z"
    return {"id": task * 100 + rater, **made, "created_at": when, "updated_at": when}


def _converted(source: Path, config: str) -> None:
    """The other forms of a JSON export, beside it."""
    converter = Converter(config, project_dir=".", download_resources=False)
    for form, ending in FORMS.items():
        with TemporaryDirectory() as folder:
            converter.convert(str(source), folder, form, is_dir=False)
            (made,) = Path(folder).iterdir()
            (source.parent / f"{source.stem}{ending}").write_bytes(made.read_bytes())


def _refuse_invalid(source: Path, interface: LabelInterface) -> None:
    """Refuse a JSON export in which the package would not know an annotation or prediction."""
    for task in json.loads(source.read_text(encoding="utf-8")):
        for each in (*task["annotations"], *task["predictions"]):
            if not interface.validate_prediction(each):
                raise ValueError(f"{source.name}: task {task['id']}: found {each['id']} invalid")


def write(folder: Path) -> None:
    """Write all exports to a folder that has the JSON exports and their `label_config.xml`."""
    config = (folder / "label_config.xml").read_text(encoding="utf-8")
    for name in PROJECTS:
        _refuse_invalid(folder / f"{name}.json", LabelInterface(config))
        _converted(folder / f"{name}.json", config)
    every = folder / "every_control.json"
    every.write_text(json.dumps(list(tasks()), indent=1) + "\n", encoding="utf-8")
    _converted(every, CONTROLS)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
