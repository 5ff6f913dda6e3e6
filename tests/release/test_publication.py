"""What a release says of itself to others, and the file that names a dataset's present release."""

import json
import shutil
from datetime import date

import pyarrow.parquet as pq
import pytest
import yaml

from agreement_pipeline.errors import ProjectError, ReleaseInvalidError
from agreement_pipeline.release import (
    Publication,
    judge_round,
    open_release,
    release_dataset,
    release_round,
    verify_release,
)
from agreement_pipeline.release import decisions as decisions_module
from agreement_pipeline.store import Store
from tests.release.forging import edit, refused
from tests.release.rounds import CONTRACT, POLICY, STRICTER, bytes_of, make_ratings

PUBLICATION = Publication("CC-BY-4.0", "The board of posts (2026), *Posts*. https://example.org")
PASSPORT = Publication(
    license="CC-BY-4.0",
    cite_as="The board of posts (2026)",
    use_cases="Filters for a forum; not decisions about people.",
    limitations="English posts of 2026 alone.",
    biases="Young authors write most of them.",
    social_impact="May silence dialects.",
    personal_data="Names of users were replaced.",
    synthetic_data=False,
    derived_from=("https://example.org/posts", "The archive of the forum"),
    collected="Drawn at random from all posts of a week.",
)
TRAIN = "data/train-00000-of-00001.parquet"


@pytest.fixture
def set_day(monkeypatch):
    def set_it(day):
        monkeypatch.setattr(decisions_module, "today", lambda: date.fromisoformat(day))

    return set_it


def release(store, **more):
    return release_round(store, "r1", POLICY, CONTRACT, project="demo", **more)


def pointed_to(store, name):
    """The file that names the present release, or None."""
    path = store.root / "current" / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


# Day, version, licence and citation


@pytest.mark.filterwarnings("ignore")  # of that package and of what it imports
def test_the_authors_of_croissant_miss_nothing_that_they_recommend(store, original, set_day):
    croissant = pytest.importorskip("mlcroissant")
    set_day("2026-11-28")
    store.ingest("r1", make_ratings(), original)
    path = release(store, publication=PUBLICATION).path
    verify_release(path)
    described = croissant.Dataset(path / "croissant.json").metadata
    assert not described.ctx.issues.warnings
    assert not described.ctx.issues.errors
    manifest = json.loads((path / "manifest.json").read_text())
    version = f"2026.11.28+{manifest['files'][TRAIN]['sha256'][:12]}"
    assert (described.version, described.license) == (version, ["CC-BY-4.0"])
    assert described.cite_as == PUBLICATION.cite_as
    assert described.date_published.date() == date(2026, 11, 28)
    card = (path / "README.md").read_text()
    assert yaml.safe_load(card.split("---")[1])["license"] == "cc-by-4.0"
    assert f"Version {version}, released on 2026-11-28. Licence: CC-BY-4.0." in card


@pytest.mark.filterwarnings("ignore")  # of that package and of what it imports
def test_what_a_conference_asks_of_a_dataset_is_in_its_description_and_on_its_card(store, original):
    """The eight properties that the dataset track of NeurIPS 2026 calls required."""
    croissant = pytest.importorskip("mlcroissant")
    store.ingest("r1", make_ratings(), original)
    path = release(store, publication=PASSPORT).path
    assert verify_release(path).edition.publication == PASSPORT
    described = json.loads((path / "croissant.json").read_text())
    assert described["rai:dataLimitations"] == PASSPORT.limitations
    assert described["rai:dataBiases"] == PASSPORT.biases
    assert described["rai:personalSensitiveInformation"] == PASSPORT.personal_data
    assert described["rai:dataUseCases"] == PASSPORT.use_cases
    assert described["rai:dataSocialImpact"] == PASSPORT.social_impact
    assert described["rai:hasSyntheticData"] is False
    assert described["prov:wasDerivedFrom"] == [
        {"@id": "https://example.org/posts"},
        {"prov:label": "The archive of the forum"},
    ]
    assert [activity["description"] for activity in described["prov:wasGeneratedBy"]] == [
        PASSPORT.collected,
        "See rai:dataAnnotationProtocol and rai:dataAnnotationAnalysis.",
    ]
    read = croissant.Dataset(path / "croissant.json").metadata
    assert not read.ctx.issues.warnings
    assert not read.ctx.issues.errors
    assert read.data_biases == [PASSPORT.biases]
    card = (path / "README.md").read_text()
    assert "Limitations: English posts of 2026 alone." in card
    assert "Generated texts or labels: none" in card
    assert json.loads((path / "manifest.json").read_text())["dataset"]["synthetic_data"] is False


def test_a_text_about_a_dataset_that_was_edited_is_refused(store, original):
    store.ingest("r1", make_ratings(), original)
    path = release(store, publication=PASSPORT).path
    edit(path, "manifest.json", lambda said: said["dataset"].update(biases="none"))
    with pytest.raises(ReleaseInvalidError, match="worded again"):
        verify_release(path)


@pytest.mark.parametrize(
    ("license_", "front_matter"),
    [
        ("https://example.org/x", {"license": "other", "license_link": "https://example.org/x"}),
        ("Ours alone", {"license": "other", "license_name": "Ours alone"}),
        (None, {}),
    ],
)
def test_a_license_of_ones_own_is_another_one_for_hugging_face(
    store, original, license_, front_matter
):
    store.ingest("r1", make_ratings(), original)
    path = release(store, publication=Publication(license_)).path
    said = yaml.safe_load((path / "README.md").read_text().split("---")[1])
    assert {name: said[name] for name in said if name.startswith("license")} == front_matter
    verify_release(path)


def test_the_same_release_on_another_day_stays_as_it_is(store, original, set_day):
    set_day("2026-11-28")
    store.ingest("r1", make_ratings(), original)
    first = release(store)
    before = bytes_of(first.path)
    set_day("2026-12-24")
    again = release(store)
    assert (again.path, again.manifest_digest) == (first.path, first.manifest_digest)
    assert bytes_of(first.path) == before
    assert again.edition.released_at == date(2026, 11, 28)


def test_another_license_is_another_release_of_its_own_day(store, original, set_day):
    set_day("2026-11-28")
    store.ingest("r1", make_ratings(), original)
    first = release(store)
    set_day("2026-12-24")
    second = release(store, publication=PUBLICATION)
    assert second.path != first.path
    assert second.edition.released_at == date(2026, 12, 24)
    verify_release(first.path)
    assert verify_release(second.path).edition.publication == PUBLICATION
    assert pq.read_table(first.path / TRAIN).equals(pq.read_table(second.path / TRAIN))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"released_at": "20261128"}, "dataset, released_at is '20261128'"),
        ({"released_at": "soon"}, "do not give rounds that can be judged"),
        ({"approved_by": "the board"}, "do not give rounds that can be judged"),
        ({"license": "a\nb"}, "do not give rounds that can be judged"),
    ],
)
def test_what_a_manifest_says_of_the_dataset_has_one_form(store, original, change, said):
    store.ingest("r1", make_ratings(), original)
    path = release(store).path
    edit(path, "manifest.json", lambda manifest: manifest["dataset"].update(change))
    refused(path, said)


def test_a_day_in_the_manifest_alone_is_refused(store, original):
    store.ingest("r1", make_ratings(), original)
    path = release(store).path
    edit(path, "manifest.json", lambda said: said["dataset"].update(released_at="2020-01-01"))
    with pytest.raises(ReleaseInvalidError, match="worded again"):
        verify_release(path)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"license": "two\nlines"}, "license: found 'two\\\\nlines'; expected the identifier"),
        ({"license": " "}, "license: found ' '; expected the identifier"),
        ({"cite_as": 3}, "cite_as: found 3; expected a text"),
        ({"synthetic_data": "no"}, "synthetic_data: found 'no'; expected true or false"),
        ({"derived_from": "a"}, "derived_from: found 'a'; expected a list of URLs or names"),
        ({"biases": " "}, "biases: found ' '; expected a text"),
    ],
)
def test_a_publication_is_refused_with_its_mistake(said, expected):
    with pytest.raises(ProjectError, match=expected):
        Publication(**said)


# The present release


def test_the_present_release_is_the_last_one_that_is_in_force(store, original):
    store.ingest("r1", make_ratings(), original)
    first = release(store)
    found = pointed_to(store, "r1")
    assert store.root / found["release"] == first.path
    assert found["manifest_digest"] == first.manifest_digest
    assert found["version"].startswith(found["released_at"].replace("-0", "-").replace("-", "."))
    assert open_release(store.root / found["release"], store=store).rounds == ("r1",)
    second = release(store, publication=PUBLICATION)
    found = pointed_to(store, "r1")
    assert store.root / found["release"] == second.path
    assert found["license"] == "CC-BY-4.0"


def test_a_round_that_is_held_leaves_the_release_of_the_others_the_present_one(store, original):
    store.ingest("r1", make_ratings(), original)
    store.ingest("r2", make_ratings(prefix="j", disagreements=4), original)
    by = {"project": "demo"}
    first = release_dataset(store, ["r1"], POLICY, CONTRACT, **by)
    second = release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, **by)
    assert store.root / pointed_to(store, "demo.dataset")["release"] == second.path
    _, withdrawn = judge_round(store, "r2", STRICTER, CONTRACT)
    assert withdrawn
    assert store.root / pointed_to(store, "demo.dataset")["release"] == first.path
    store.ingest("r1", make_ratings(disagreements=60), original)
    judge_round(store, "r1", POLICY, CONTRACT)
    assert pointed_to(store, "demo.dataset") is None
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(first.path)


@pytest.mark.parametrize("killed_at", ["keep", "record"])
def test_a_withdrawal_that_is_killed_leaves_no_name_of_a_withdrawn_release(
    store, original, monkeypatch, killed_at
):
    store.ingest("r1", make_ratings(), original)
    release(store)
    store.ingest("r1", make_ratings(disagreements=60), original)
    record, keep = Store.record, type(store.storage).keep

    def record_or_die(self, event, *names, **facts):
        if killed_at == "record" and event == "withdrawn":
            raise KeyboardInterrupt
        return record(self, event, *names, **facts)

    def keep_or_die(self, name, content, **more):
        if killed_at == "keep" and name.endswith("WITHDRAWN.json"):
            raise KeyboardInterrupt
        return keep(self, name, content, **more)

    monkeypatch.setattr(Store, "record", record_or_die)
    monkeypatch.setattr(type(store.storage), "keep", keep_or_die)
    with pytest.raises(KeyboardInterrupt):
        judge_round(store, "r1", POLICY, CONTRACT)
    assert pointed_to(store, "r1") is None
    monkeypatch.undo()
    judge_round(store, "r1", POLICY, CONTRACT)
    assert pointed_to(store, "r1") is None
    assert not store.in_force()


def test_a_notice_that_the_log_does_not_have_ends_the_name_too(store, original):
    store.ingest("r1", make_ratings(), original)
    path = release(store).path
    notice = {"round": "r1", "reasons": ["by hand"], "time": "2026-11-28T00:00:00+00:00"}
    (path / "WITHDRAWN.json").write_text(json.dumps(notice))
    judge_round(store, "r1", POLICY, CONTRACT)
    assert pointed_to(store, "r1") is None
    assert store.root / release(store).path == store.root / pointed_to(store, "r1")["release"]


def test_a_store_without_the_file_gets_it_with_the_next_release(store, original):
    store.ingest("r1", make_ratings(), original)
    path = release(store).path
    shutil.rmtree(store.root / "current")
    assert release(store).path == path
    assert store.root / pointed_to(store, "r1")["release"] == path
