"""All cases of a comparison, drawn from one seed and written into a folder."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tools.comparison.cases import Case, Reading
from tools.comparison.exports import random_export
from tools.comparison.forms import FORMS, FRAME, OFTEN
from tools.comparison.mistakes import OF_BYTES, OF_FRAMES, OF_LINES, of_flags, of_readings
from tools.comparison.tables import LEVELS, Rng, Table, plain_table, random_table

POLICIES = {
    "parts": [
        {"measure": "krippendorff_alpha", "min_items": 5},
        {"measure": "self_agreement_unbiased", "effect": "warn"},
        {"measure": "krippendorff_alpha", "scope": "pair", "effect": "warn"},
        {
            "measure": "advantage_probability",
            "scope": "classifier",
            "effect": "warn",
            **{"reliable": 0.6, "tentative": 0.5},
        },
    ],
    "strata": [
        {"measure": "krippendorff_alpha", "min_items": 5},
        {
            "measure": "krippendorff_alpha",
            "scope": "stratum",
            "min_items": 20,
            "if_too_few": "pool",
        },
    ],
    "assisted": [{"measure": "krippendorff_alpha", "min_items": 5}],
}
"""Small policies beside the bundled one."""
OF_CSV, OF_JSON = ("CSV", "Parquet", "JSON Lines", FRAME, "semicolons"), "JSON Lines"
EARLIER = 0.1


def generate(folder: Path, n: int, seed: int) -> list[Case]:
    """The cases: about half are sound tables, the others exports, counts and broken tables.

    Every broken table is there once, and once more in another form, as far as `n` allows.
    """
    (folder / "policies").mkdir(parents=True)
    for name, rules in POLICIES.items():
        policy = {"policy": name, "version": 1, "n_resamples": 1000, "rules": rules}
        if name == "assisted":
            policy["assisted"] = "leave_out"
        (folder / "policies" / f"{name}.yaml").write_text(json.dumps(policy), encoding="utf-8")
    rng = np.random.default_rng(seed)
    FORMS["CSV"][1](plain_table(rng).frame, folder / "plain.csv")
    broken = list(_broken(rng, folder))
    n_broken, n_exports, n_counts = min(len(broken), n // 3), n // 6, n // 40
    some = sorted(rng.choice(len(broken), n_broken, replace=False).tolist())
    return [
        *(_sound(rng, folder, at) for at in range(n - n_broken - n_exports - n_counts)),
        *(broken[at] for at in some),
        *(_export(rng, folder, at) for at in range(n_exports)),
        *(_counts(rng, folder, at) for at in range(n_counts)),
    ]


def _sound(rng: Rng, folder: Path, at: int) -> Case:
    """A sound table. Forms, levels and layouts take turns."""
    level = LEVELS[at % len(LEVELS)]
    layout = "wide" if at // len(LEVELS) % 4 == 3 else "long"
    forms = [*FORMS, *OFTEN]
    table = random_table(rng, level, layout)
    case = _written(table, forms[at % len(forms)], f"t{at:03}", "table", folder)
    if "where" in table.traits or rng.random() >= EARLIER:
        return case
    n = len(table.frame)
    before = replace(table, frame=table.frame.iloc[rng.permutation(n)[: max(1, n // 2)]])
    earlier = _written(before, forms[at % len(forms)], f"t{at:03}e", "table", folder)
    return replace(case, earlier=earlier.source, name=f"{case.name}, an earlier round")


def _written(table: Table, form: str, name: str, kind: str, folder: Path) -> Case:
    """The case of a table, written in a form."""
    ending, write = FORMS[form]
    path = folder / f"{name}.{ending}"
    write(table.frame, path)
    reading = table.reading
    words = (reading.layout, reading.level, form, *table.traits)
    return Case(
        f"{name} {', '.join(each for each in words if each)}",
        kind,
        path.name,
        reading,
        policy=table.policy,
        as_frame=form == FRAME,
    )


def _broken(rng: Rng, folder: Path) -> Iterator[Case]:
    """Tables with one mistake each, in the forms in which it can be made."""
    sound, at = plain_table(rng), 0
    for form in OF_CSV:
        for words, change in OF_FRAMES.items():
            table = replace(sound, frame=change(sound.frame), traits=(words,))
            if form != FRAME or _is_sound_for_parquet(table):
                yield _written(table, form, f"b{at:03}", "broken", folder)
                at += 1
    for ending, mistakes in {"csv": OF_BYTES, "jsonl": OF_LINES}.items():
        form = "CSV" if ending == "csv" else OF_JSON
        FORMS[form][1](sound.frame, folder / f"sound.{ending}")
        text = (folder / f"sound.{ending}").read_bytes()
        for words, spoil in mistakes.items():
            (folder / f"b{at:03}.{ending}").write_bytes(spoil(text))
            yield Case(f"b{at:03} {form}, {words}", "broken", f"b{at:03}.{ending}", sound.reading)
            at += 1
    for words, table in (*of_readings(sound), *of_flags(sound)):
        named = replace(table, traits=(words,))
        yield _written(named, "CSV", f"b{at:03}", "broken", folder)
        at += 1


def _is_sound_for_parquet(table: Table) -> bool:
    return len(table.frame) > 0


def _export(rng: Rng, folder: Path, at: int) -> Case:
    words, source, reading = random_export(rng, at, folder / f"x{at:03}")
    return Case(f"x{at:03} {words}", "export", source, reading)


def _counts(rng: Rng, folder: Path, at: int) -> Case:
    """A table of counts, or of two raters."""
    layout, path = ("counts", "contingency")[at % 2], folder / f"c{at:03}.csv"
    names, n = ["no", "maybe", "yes"][: int(rng.integers(2, 4))], int(rng.integers(3, 40))
    rows = names if layout == "contingency" else [f"i{row}" for row in range(n)]
    counts = rng.integers(0, 6, size=(len(rows), len(names)))
    lines = [",".join(["", *names])]
    lines += [",".join([row, *map(str, each)]) for row, each in zip(rows, counts, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    reading = Reading(layout=layout, level=("nominal", "ordinal")[at // 2 % 2])
    if reading.level == "ordinal":
        reading = replace(reading, categories=list(names))
    return Case(f"c{at:03} {layout}", "counts", path.name, reading)
