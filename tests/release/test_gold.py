"""Gold items in a release: their answers and texts are in no file, and decisions are proved."""

import json
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import open_release
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Adjudicated, Ratings, Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.release import release_dataset, release_round, verify_release
from agreement_pipeline.units import UnitSettings
from tests.release.forging import ANNOTATIONS, edit, edit_table
from tests.release.rounds import CONTRACT, released

POLICY = Policy(
    "with gold",
    1,
    (
        Rule("krippendorff_alpha"),
        Rule("gold_accuracy", reliable=0.7, tentative=0.67, min_items=10),
    ),
    n_resamples=1000,
)
POLICY_ALPHA = Policy("alpha", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
SCALES = {
    "nominal": (Scale(("no", "maybe", "yes")), ("no", "maybe", "yes")),
    "ordinal": (Scale((1, 2, 3), "ordinal"), (1, 2, 3)),
    "interval": (Scale((1, 2, 4), "interval"), (1, 2, 4)),
}
GOLD = [f"i{n:03}" for n in range(40)]


def gold_frame(values, *, gold=GOLD, is_gold=True, n_items=160):
    """Three raters of items with texts. The last one errs on one item in twenty."""
    rows = []
    for n in range(n_items):
        item, right = f"i{n:03}", values[n % 3]
        for rater in ("ana", "ben", "chi"):
            errs = rater == "chi" and n % 20 == 7
            label = values[(n + 1) % 3] if errs else right
            row = {"item": item, "rater": rater, "label": label, "text": f"secret-{n}-text"}
            if is_gold:
                row |= {"gold": item in gold, "gold_label": right if item in gold else None}
            rows.append(row)
    return pd.DataFrame(rows).astype({"label": object})


def all_bytes(folder):
    """The bytes of all files. Of a Parquet file, all its values too."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = file.read_bytes()
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            data += json.dumps([table.to_pylist(), str(table.schema)], default=str).encode()
        yield file.relative_to(folder).as_posix(), data


@pytest.mark.parametrize("kind", SCALES)
def test_no_file_has_a_text_or_an_answer_of_a_gold_item(store, original, kind):
    scale, values = SCALES[kind]
    ratings = Ratings.from_frame(gold_frame(values), scale)
    store.ingest("r1", ratings, original)
    release = released(store, POLICY)
    for name, data in all_bytes(release.path):
        found = {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}
        assert not found & set(range(40)), name
        assert name not in (ANNOTATIONS, "data/train-00000-of-00001.parquet") or found
    annotations = pd.read_parquet(release.path / "annotations")
    assert "gold_label" not in annotations
    of_gold = annotations[annotations["item"].isin(GOLD)]
    assert of_gold["label"].isna().all()
    assert len(of_gold) == 3 * len(GOLD)
    assert annotations.loc[~annotations["item"].isin(GOLD), "gold_code"].isna().all()
    # the last rater errs on gold items 7 and 27, and 0 is the code of the right label
    wrong = of_gold[of_gold["gold_code"] > 0]
    assert sorted(wrong["item"]) == ["i007", "i027"]
    assert not set(GOLD) & set(pd.read_parquet(release.path / "data")["id"])


def test_fractions_that_are_no_gold_stay_and_gold_ones_become_codes(store, original):
    scale, values = Scale(None, "interval"), (0.5, 17.25, 62.125)
    frame = gold_frame(values).drop(columns="gold_label").astype({"label": float})
    store.ingest("r1", Ratings.from_frame(frame, scale), original)
    path = released(store, POLICY_ALPHA).path
    annotations = pd.read_parquet(path / "annotations")
    of_gold = annotations["item"].isin(GOLD)
    assert annotations.loc[of_gold, "label"].isna().all()
    assert {*annotations.loc[of_gold, "gold_code"]} == {0, 1}
    assert {*annotations.loc[~of_gold, "label"]} == {*values}
    assert verify_release(path).decisions["r1"]["decision"] == "admitted"


@pytest.mark.parametrize("kind", SCALES)
def test_decisions_are_the_ones_that_rested_on_gold_answers(store, original, kind):
    scale, values = SCALES[kind]
    ratings = Ratings.from_frame(gold_frame(values), scale)
    store.ingest("r1", ratings, original)
    release = released(store, POLICY)
    again = verify_release(release.path)
    assert again.decisions == release.decisions
    (_, accuracy) = again.decisions["r1"]["verdicts"]
    assert accuracy["value"] == pytest.approx(1 - 2 / 120)
    assert again.ratings["r1"].digest == ratings.digest
    assert open_release(release.path, store=store).train.equals(release.train)


def test_codes_that_were_changed_are_refused(store, original):
    scale, values = SCALES["nominal"]
    store.ingest("r1", Ratings.from_frame(gold_frame(values), scale), original)
    path = released(store, POLICY).path

    def change(table):
        place = table.schema.get_field_index("gold_code")
        codes = [0 if code is not None else None for code in table["gold_code"].to_pylist()]
        return table.set_column(place, table.schema.field(place), [codes])

    edit_table(path, ANNOTATIONS, change)
    with pytest.raises(ReleaseInvalidError, match="sealed_digest"):
        verify_release(path)


def test_a_digest_that_nobody_can_derive_needs_gold_items(store, original):
    scale, values = SCALES["nominal"]
    store.ingest("r1", Ratings.from_frame(gold_frame(values, is_gold=False), scale), original)
    path = released(store).path
    edit(path, "manifest.json", lambda said: said["rounds"][0].update(sealed_digest="0" * 64))
    with pytest.raises(ReleaseInvalidError, match="do not give rounds that can be judged"):
        verify_release(path)


def test_what_a_later_round_calls_gold_is_withheld_of_the_earlier_one(store, original):
    scale, values = SCALES["nominal"]
    first = gold_frame(values, is_gold=False)
    second = gold_frame(values, gold=GOLD[:20], n_items=100)
    for name, frame in (("r1", first), ("r2", second)):
        store.ingest(name, Ratings.from_frame(frame, scale), original)
    release = release_dataset(store, ["r1", "r2"], POLICY_ALPHA, CONTRACT, project="demo")
    for name, data in all_bytes(release.path):
        found = {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}
        assert not found & set(range(20)), name
    annotations = pd.read_parquet(release.path / "annotations")
    assert annotations.loc[annotations["item"].isin(GOLD[:20]), "label"].isna().all()
    assert verify_release(release.path).train.equals(release.train)


def assert_holds_no_name(path, names):
    for file, data in all_bytes(path):
        found = [name for name in names if name.encode() in data]
        assert not found, file


def test_files_of_objects_have_no_gold_text_and_no_address_of_a_rater(store, original, tmp_path):
    raters = ("ana@mail.example", "ben@mail.example", "chi@mail.example")
    tasks = [
        {
            "id": n,
            "data": {"name": f"d{n:02}", "text": f"secret-{n}-text of Ana", "gold": n < 20},
            "annotations": [
                {
                    "id": 10 * n + k,
                    "completed_by": {"email": rater},
                    "result": [
                        {
                            "type": "labels",
                            "from_name": "ner",
                            "value": {"start": 0, "end": 6, "text": "secret", "labels": ["PER"]},
                        }
                    ],
                }
                for k, rater in enumerate(raters)
            ],
        }
        for n in range(60)
    ]
    file = tmp_path / "delivered.json"
    file.write_text(json.dumps(tasks))
    rules = Rules(units=UnitSettings("spans"), requires=())
    scale = Scale(("none", "PER"))
    ratings = read(file, Columns(item="name", gold="gold"), scale=scale, rules=rules)
    store.ingest("r1", ratings, original)
    path = released(store, POLICY_ALPHA).path
    for name, data in all_bytes(path):
        texts = {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}
        assert not texts & set(range(20)), name
        assert not name.startswith("objects/") or texts == set(range(20, 60)), name
    assert_holds_no_name(path, [*raters, "mail.example"])
    verify_release(path)


def test_adjudicated_releases_have_no_gold_answer_and_no_name_of_a_rater(store, original):
    scale, values = SCALES["nominal"]
    frame = gold_frame(values).replace({"rater": {"ana": "ana@mail.example"}})
    ratings = Ratings.from_frame(frame, scale)
    store.ingest("r1", ratings, original)
    answers = Adjudicated(ratings.digest, {"i047": "maybe", "i007": "maybe"})
    release = release_round(
        store, "r1", POLICY, CONTRACT, project="demo", adjudicated={"r1": answers}
    )
    manifest = json.loads((release.path / "manifest.json").read_text())
    assert manifest["rounds"][0]["adjudicated"] == {"i047": "maybe"}
    for name, data in all_bytes(release.path):
        texts = {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}
        assert not texts & set(range(40)), name
    assert_holds_no_name(release.path, ["mail.example"])
    verify_release(release.path)
