"""A release is told from another by what `verify` prints, and its footers say only what rows do."""

import io
import json
import shutil
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Policy, ReleaseHeldError, ReleaseInvalidError, Rule
from agreement_pipeline.cli import main
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import Waiver
from agreement_pipeline.release import Demands, open_release, release_round
from agreement_pipeline.release.contents import as_json
from agreement_pipeline.store import Store, digest_of
from tests.release.rounds import CONTRACT, POLICY, make_ratings

TRAIN = "data/train-00000-of-00001.parquet"
UNTIL = pd.Timestamp.now(tz="UTC").date() + pd.Timedelta(days=30)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store with an admitted round, and a round that is admitted under a waiver."""
    folder = tmp_path_factory.mktemp("verified")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests", project="demo")
    store.ingest("good", make_ratings(), folder / "export.csv")
    store.ingest("waived", make_ratings(30), folder / "export.csv")
    waiver = Waiver(
        "demo",
        "waived",
        store.present("waived").ratings_digest,
        "krippendorff_alpha",
        "Ann Lee",
        "a pilot for the interface only",
        UNTIL,
    )
    good = release_round(store, "good", POLICY, CONTRACT, project="demo")
    waived = release_round(store, "waived", POLICY, CONTRACT, project="demo", waivers=[waiver])
    return store, good.path, waived.path


@pytest.fixture
def copy(stored, tmp_path):
    """A copy of the good release, whose files can be forged."""
    return shutil.copytree(stored[1], tmp_path / "copy")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A release under a policy of the team's own."""
    folder = tmp_path_factory.mktemp("ours")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", project="demo")
    store.ingest("r1", make_ratings(), folder / "export.csv")
    policy = replace(POLICY, policy="ours", version=3)
    return release_round(store, "r1", policy, CONTRACT, project="demo").path


@pytest.mark.parametrize(
    ("demands", "status"),
    [
        (["policy=ours"], 0),
        (["policy=ours@3"], 0),
        (["policy=ours@2"], 19),
        (["policy=standard"], 19),
        (["raters>=3", "raters>=1"], 0),
        (["raters>=5", "raters>=1"], 19),
        (["raters>=1", "raters>=5"], 19),
        (["items>=" + "9" * 5000], 2),
        (["policy=ours@" + "9" * 5000], 2),
        (["alpha>=nan"], 2),
        (["alpha>=inf"], 2),
    ],
)
def test_all_that_is_required_must_hold(ours, capsys, demands, status):
    words = [word for demand in demands for word in ("--require", demand)]
    assert said(capsys, ours, *words)[0] == status


def test_the_name_of_a_bundled_policy_means_its_rules(stored, capsys):
    """The store's policy is called standard, and has rules of its own."""
    status, words = said(capsys, stored[1], "--require", "policy=standard")
    assert status == 19
    assert "called standard, version 1, and has other rules than the bundled one" in words


@pytest.mark.parametrize(
    "demands",
    [
        {"least": {"rater": 99}},
        {"least": {"raters": float("nan")}},
        {"least": {"items": -1}},
        {"policy": ("standard", 9)},
    ],
)
def test_what_cannot_be_required_is_an_error_in_python(demands):
    with pytest.raises(PolicyError, match=r"^required: found "):
        Demands(**demands)


def said(capsys, *arguments):
    status = main(["verify", *map(str, arguments)])
    return status, capsys.readouterr().out


def test_verify_prints_project_policy_limits_and_presence(stored, capsys):
    store, good, _ = stored
    status, words = said(capsys, good, "--store", store.root)
    assert status == 0
    first, proved, trains, project, of_round, alpha = words.splitlines()
    assert first == "verified: rounds good; 90 training rows"
    assert proved.endswith("The log of the store has the same files, and the release is in force.")
    assert trains.endswith("(the project names no other label). 90 of 90 items train.")
    assert project == "  project demo; policy standard, version 1"
    assert of_round == "  round good: 90 items, 3 raters; the present version"
    assert alpha.startswith("    krippendorff_alpha of round 0.97")
    assert alpha.endswith(": reliable (cut-offs 0.8 and 0.667)")


def test_verify_says_what_bytes_alone_cannot_prove(stored, capsys):
    store, good, _ = stored
    alone = "The files cannot prove who released it, or that it is in force: add --store or"
    assert alone in said(capsys, good)[1]
    assert json.loads(said(capsys, good, "--format", "json")[1])["vouched_by"] == []
    text = said(capsys, good, "--store", store.root, "--format", "json")[1]
    assert json.loads(text)["vouched_by"] == ["log"]


def test_a_waived_release_names_who_waived_and_is_told_apart_by_status(stored, capsys):
    _, good, waived = stored
    status, words = said(capsys, waived)
    assert status == 0
    assert f"waived by Ann Lee until {UNTIL}: krippendorff_alpha of round (a pilot" in words
    assert said(capsys, good, "--no-waivers")[0] == 0
    status, words = said(capsys, waived, "--no-waivers")
    assert status == 21
    assert "refused (release_waived)" in words
    with pytest.raises(ReleaseInvalidError, match="found 1 waiver, the first of kripp"):
        open_release(waived, require=Demands(without_waivers=True))


def test_verify_gives_the_same_as_json(stored, capsys):
    store, _, waived = stored
    status, text = said(capsys, waived, "--store", store.root, "--format", "json")
    found = json.loads(text)
    assert status == 0
    assert (found["project"], found["policy"], found["policy_version"]) == ("demo", "standard", 1)
    of_round = found["rounds"]["waived"]
    assert (of_round["items"], of_round["raters"], of_round["present"]) == (90, 3, True)
    assert of_round["waivers"][0]["who"] == "Ann Lee"
    assert of_round["verdicts"][0]["low"] < 0.667 < of_round["verdicts"][0]["reliable"]
    status, text = said(capsys, waived, "--no-waivers", "--format", "json")
    assert (status, json.loads(text)["code"]) == (21, "release_waived")


@pytest.mark.parametrize(
    ("demand", "status"),
    [
        ("raters>=3", 0),
        ("raters>=4", 19),
        ("items>=90", 0),
        ("items>=91", 19),
        ("policy=standard@1", 2),
        ("policy=standard@2", 19),
        ("policy=other", 19),
        ("cohen_kappa of pair>=0.7", 0),
        ("cohen_kappa of pair>=0.99", 19),
        ("cohen_kappa of nothing>=0.7", 2),
        ("policy=", 2),
        ("raters>=many", 2),
    ],
)
def test_a_trainer_can_require_more_than_alpha(stored, capsys, demand, status):
    assert said(capsys, stored[1], "--require", demand)[0] == status


def test_demands_are_met_by_every_round(stored):
    with pytest.raises(ReleaseHeldError, match="found round good with 3 raters, fewer than 5"):
        open_release(
            stored[1], require=Demands(Policy("p", 1, (Rule("krippendorff_alpha"),)), {"raters": 5})
        )


def test_a_superseded_release_says_so(tmp_path, capsys):
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    store = Store(tmp_path / "store", project="demo")
    store.ingest("r1", make_ratings(2), tmp_path / "export.csv")
    old = release_round(store, "r1", POLICY, CONTRACT, project="demo").path
    assert "superseded" not in said(capsys, old, "--store", store.root)[1]
    store.ingest("r1", make_ratings(1), tmp_path / "export.csv")
    release_round(store, "r1", POLICY, CONTRACT, project="demo")
    status, words = said(capsys, old, "--store", store.root)
    assert status == 0
    assert "90 items, 3 raters; superseded by a newer version" in words


def rewritten(data, *, metadata=None, **options):
    """The same rows under a footer that says more."""
    table = pq.read_table(io.BytesIO(data))
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table)
        if metadata:
            writer.add_key_value_metadata(metadata)
    return sink.getvalue()


NAMES = json.dumps({"info": {"features": {"label": {"names": ["yes", "no"]}}}})
FOOTERS = {
    "statistics": {"write_statistics": True},
    "page index": {"write_statistics": False, "write_page_index": True},
    "sorting columns": {
        "write_statistics": False,
        "sorting_columns": [pq.SortingColumn(0, descending=True)],
    },
    "unknown key": {"write_statistics": False, "metadata": {"approved by": "the board"}},
    "other names of labels": {"write_statistics": False, "metadata": {"huggingface": NAMES}},
}


def exchange(release, data):
    """Put another table into a release, and into its manifest."""
    (release / TRAIN).write_bytes(data)
    manifest = json.loads((release / "manifest.json").read_text())
    manifest["files"][TRAIN] = {"sha256": digest_of(data), "bytes": len(data)}
    (release / "manifest.json").write_bytes(as_json(manifest))


@pytest.mark.parametrize("name", FOOTERS)
def test_a_footer_that_says_more_than_the_rows_is_refused(copy, name):
    exchange(copy, rewritten((copy / TRAIN).read_bytes(), **FOOTERS[name]))
    with pytest.raises(ReleaseInvalidError, match="rows of data/train") as refusal:
        open_release(copy)
    assert refusal.value.code == "release_not_derived"


def test_a_release_is_written_without_statistics(stored):
    for path in stored[1].rglob("*.parquet"):
        metadata = pq.ParquetFile(path).metadata
        chunk = metadata.row_group(0).column(0)
        assert not chunk.is_stats_set
        assert set(metadata.metadata) <= {b"ARROW:schema", b"huggingface"}
