"""What tells a plain table of delimited text from a tool's export, before any tool is loaded."""

import re
from pkgutil import iter_modules

from agreement_pipeline.readers import tools
from agreement_pipeline.readers.exports import START, Export

SIGNS = {
    "argilla": (".responses.users",),
    "coco": ("images",),
    "conll": (),
    "cvat": (),
    "dataloop": ("datasetId",),
    "doccano": ("Comments",),
    "encord": ("label_hash",),
    "ground_truth": ("datasetObjectId",),
    "hugging_face": (),
    "inception": ("Layer",),
    "inception_cas": (),
    "inspect_ai": (),
    "label_studio": (),
    "label_studio_objects": (),
    "label_studio_tables": ("annotation_id",),
    "labelbox": ("data_row",),
    "langfuse": ("traceId", "trace_id"),
    "mlflow": ("assessments",),
    "mturk": ("HITId",),
    "pascal_voc": (),
    "prodigy": ("_task_hash",),
    "promptfoo": (),
    "superannotate": ("instances",),
    "toloka": ("ASSIGNMENT:worker_id",),
    "webanno": (),
}
"""How the name of a column ends that each tool needs in text, if it reads text with a header.

A tool that is not named here is always asked.
"""
OF_TOKENS = re.compile(r"#|-DOCSTART-|.*\s(O|[BIESLU][-_]\S+)$")
"""How the first line of tokens with tags looks, which has no header."""


def is_plain(export: Export) -> bool:
    """True for delimited text that no tool recognises. False for all that tools must look at."""
    if export.path.is_dir() or export.path.suffix == ".json" or export.kind != "text":
        return False
    if any(each.name not in SIGNS for each in iter_modules(tools.__path__)):
        return False
    with export.path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.read(START).lstrip().partition("\n")[0].rstrip()
    signs = tuple(sign for each in SIGNS.values() for sign in each)
    return not OF_TOKENS.match(first) and not any(str(x).endswith(signs) for x in export.first)


__all__ = ["is_plain"]
