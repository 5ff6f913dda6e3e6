"""A release says which export its rounds came from, and is judged by that too."""

import json
from dataclasses import replace

import pytest

from agreement_pipeline.ratings import COLUMNS_NOT_READ, Origin
from agreement_pipeline.release import release_round, verify_release
from agreement_pipeline.store import Store
from tests.release.forging import CONTRACT, POLICY, edit, make_ratings, refused

ASKING = replace(POLICY, requires=("drafts",), description="The customer's own cut-off.")
ORIGIN = Origin.build("argilla", ["raters", "drafts"], {"draft": 2, "excluded rater": 31})


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    ratings = replace(make_ratings(), origin=ORIGIN)
    store.ingest("r1", ratings, folder / "export.csv")
    assert store.ratings("r1").origin == ORIGIN
    return release_round(store, "r1", ASKING, CONTRACT, project="demo").path


def test_it_is_proved_from_its_own_bytes(released):
    assert verify_release(released).ratings["r1"].origin == ORIGIN


def test_the_card_says_what_is_no_rating_and_what_is_not_known(released):
    card = (released / "README.md").read_text()
    assert "- r1, read as argilla. No ratings: draft 2, excluded rater 31." in card
    assert "The export cannot show: times, skips, gold, reviews," in card


def test_the_card_shows_an_apostrophe_as_one(released):
    card = (released / "README.md").read_text()
    assert "The customer's own cut-off." in card
    assert "&#x27;" not in card
    assert "#x27;" not in card


def test_an_export_that_is_said_to_show_less_is_held(copy):
    def lessened(manifest):
        manifest["rounds"][0]["origin"]["shows"] = ["raters"]

    edit(copy, "manifest.json", lessened)
    refused(copy, "decision.json, r1, ")


@pytest.mark.parametrize("wrong", [{"reader": "x"}, {**ORIGIN.to_mapping(), "part": "colour"}])
def test_an_origin_that_no_round_has_is_refused(copy, wrong):
    edit(copy, "manifest.json", lambda said: said["rounds"][0].update(origin=wrong))
    refused(copy, "origin: found")


def test_the_part_of_units_is_kept_and_is_not_said_of_other_ratings():
    origin = Origin.build("cvat", ["raters"], {}, "naming").with_left_out(COLUMNS_NOT_READ, 2)
    assert Origin.from_mapping(origin.to_mapping()) == origin
    assert origin.part == "naming"
    assert "part" not in ORIGIN.to_mapping()


def test_the_manifest_says_it_once(released):
    manifest = json.loads((released / "manifest.json").read_text())
    assert manifest["rounds"][0]["origin"] == ORIGIN.to_mapping()
