"""Stores and releases that older versions wrote are read as those versions said.

`tools/golden/write.py` wrote them, run with each version, and kept what the version itself said.
"""

import json
import re
from pathlib import Path
from shutil import copytree

import pytest

from agreement_pipeline import __version__, open_release, survey, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.policy import load_policy
from agreement_pipeline.release import judge_round, reassess, release_round
from agreement_pipeline.store import Store
from tools.golden.write import FORUM, LAB, MEASURES, NOTES, PROJECT, SIZES, Round

GOLDEN = Path(__file__).parents[1] / "golden"
BUILDS = ("f39a52d", "1d52570", "91b21cb", "bcac661")
"""Builds before 0.6.0, whose words and contract were others."""
READ = (*BUILDS, "0.6.0")
STORES = ("forum", "others")
ADVICE = re.compile(
    r"; about \d+ more clusters of items would decide with an even chance, if agreement stays "
    r"the same, but an unplanned second look raises the risk of a wrong admission from 2\.5% to as "
    r"much as 6\.2%|; a fresh round of about \d+ clusters of items like these would decide with a "
    r"chance of \d+%"
)
ITEMS_TO_ADD = {"forum-1": ["7", "22"]}
ITEMS_OF_FRESH_ROUND = {"forum-1": ["35", "240"]}
"""What the reasons of the kept decision on a round named: the latter in the last version."""
P_OF_UPPER_CUTOFF = {"forum-2": 5, "forum-3": 5}
"""How often the kept decision says p beside a finding on the lower cut-off, in each version."""
UNDECIDED = {"forum-2": 2, "forum-3": 1}
"""How many verdicts of the kept decision have the lower cut-off inside the interval, and a value
under the upper one, in each version."""
SOURCES = (
    *(Round(name, f"{name}.csv", **FORUM) for name in ("forum-1", "forum-2")),
    Round("forum-3", "forum-3-again.csv", **FORUM),
    LAB,
    NOTES,
    SIZES,
)


def said(commit, name):
    return json.loads((GOLDEN / commit / f"{name}.json").read_text(encoding="utf-8"))


def contract(commit):
    """The built-in contract of a version, which it asked of rows and items, as a release has it."""
    path = next((GOLDEN / commit).rglob("policy.json"))
    return Contract.from_mapping(json.loads(path.read_bytes())["contract"])


def policy(commit):
    return load_policy(GOLDEN / "policies" / f"{commit}.yaml")


def assert_alike(now, then):
    """All that was said then is said now. Only the last digits may depend on the machine."""
    if isinstance(then, dict):
        for key, value in then.items():
            assert_alike(now[key], value)
    elif isinstance(then, list):
        for one, other in zip(now, then, strict=True):
            assert_alike(one, other)
    else:
        assert now == (pytest.approx(then, rel=1e-12) if isinstance(then, float) else then)


def without_advice(decision, items_to_add):
    """Reasons named the items to add. Now the step that follows names the size of a fresh round."""
    plain = json.dumps(decision)
    advice = ADVICE.findall(plain)
    assert [re.search(r"about (\d+)", each)[1] for each in advice] == items_to_add
    return json.loads(ADVICE.sub("", plain))


def with_named_cutoff(decision, n_reasons):
    """Beside a finding on the lower cut-off, p did not say that it is of the upper one."""
    beside_lower = r"(could be under 0\.667 and could be above|the upper limit is under 0\.667) "
    plain, n_named = re.subn(
        beside_lower + r"\((p [<>=] [\d.]+)\)", r"\1 (\2 at 0.8)", json.dumps(decision)
    )
    assert n_named == n_reasons
    return json.loads(plain)


def with_present_words(decision, n_undecided):
    """What an interval around the lower cut-off says, and what more items would not change."""
    plain = json.dumps(decision)
    for before, now in (
        (
            r"could be under 0\.667 and could be above",
            "0.667 lies inside the interval, so the data cannot decide",
        ),
        (
            r"; more (items|clusters of items) would not reach 0\.8, if agreement stays the same",
            r"; with more \1 like these, the lower limit would not reach 0.8",
        ),
    ):
        plain, n_replaced = re.subn(before, now, plain)
        assert n_replaced == n_undecided
    return json.loads(plain)


RELEASES = [
    (commit, name, called, facts)
    for commit in READ
    for name in STORES
    for called, facts in said(commit, name)["releases"].items()
]
ROUNDS = [
    (commit, name, one, digest)
    for commit in READ
    for name in STORES
    for one, digest in said(commit, name)["rounds"].items()
]


@pytest.fixture
def copied(tmp_path):
    def copy(commit, name):
        return Store(str(copytree(GOLDEN / commit / name, tmp_path / commit / name)))

    return copy


def test_every_state_of_a_round_is_among_them():
    for commit in READ:
        kept = [said(commit, name) for name in STORES]
        decided = {
            each["decision"] for one in kept for of in one["decisions"].values() for each in of
        }
        refused = {facts.get("refused") for one in kept for facts in one["releases"].values()}
        assert (decided, refused) == ({"admitted", "held"}, {None, "release_withdrawn"})


def test_no_file_names_a_folder_of_the_machine_that_wrote_it():
    for path in GOLDEN.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(name in data for name in (b"/tmp", b"/home", b"/root", b"C:\\")), path


@pytest.mark.parametrize(("commit", "name", "called", "facts"), RELEASES)
def test_a_release_opens_as_it_was(commit, name, called, facts, copied):
    store = copied(commit, name)
    path = store.root / "releases" / called
    if "refused" in facts:
        with pytest.raises(ReleaseInvalidError) as refusal:
            open_release(path, store=store)
        assert refusal.value.code == facts["refused"]
        return
    release = open_release(path, store=store)
    assert release.manifest_digest == facts["manifest_digest"]
    assert {one: each.digest for one, each in release.ratings.items()} == facts["rounds"]


@pytest.mark.parametrize(("commit", "name", "called", "facts"), RELEASES)
def test_verify_says_of_a_release_what_was_said(commit, name, called, facts, copied, capsys):
    store = copied(commit, name)
    path = str(store.root / "releases" / called)
    status = main(["verify", path, "--store", str(store.root), "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], status == 0) == ("refused" not in facts, "refused" not in facts)
    assert found.get("code") == facts.get("refused")


@pytest.mark.parametrize(("commit", "name", "called", "facts"), RELEASES)
def test_without_a_log_only_a_release_under_an_earlier_contract_is_refused(
    commit, name, called, facts, copied, capsys
):
    path = str(copied(commit, name).root / "releases" / called)
    code = facts.get("refused", "release_not_derived" if commit in BUILDS else None)
    status = main(["verify", path, "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["verified"], found.get("code")) == (code is None, code)
    assert status == {None: 0, "release_withdrawn": 11, "release_not_derived": 15}[code]
    if code == "release_not_derived":
        assert re.search(
            r"found a release in the form agreement-release/[234] under (a contract without a name|"
            r"contract default, version [35]), which agreement_pipeline .* wrote; expected a store "
            r"whose log has it",
            found["why"],
        )


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("commit", READ)
def test_the_log_says_what_happened_and_when(commit, name, copied, capsys):
    store, then = copied(commit, name), said(commit, name)
    happened = [[entry["event"], entry["round"], entry["time"]] for entry in store.history()]
    assert happened == then["history"]
    assert store.rounds() == tuple(sorted(then["rounds"]))
    for one in then["rounds"]:
        assert main(["history", one, "--store", str(store.root)]) == 0
        printed = capsys.readouterr().out
        own = [each for each in then["history"] if each[1] == one]
        assert all(event in printed for event, *_ in own)


@pytest.mark.parametrize(("commit", "name", "one", "digest"), ROUNDS)
def test_kept_ratings_are_judged_as_they_were(commit, name, one, digest, copied):
    store = copied(commit, name)
    assert store.ratings(one).digest == digest
    judged, withdrawn = judge_round(store, one, policy(commit), contract(commit))
    then = said(commit, name)["decisions"][one][-1]
    if commit in BUILDS:
        named = ITEMS_OF_FRESH_ROUND if commit == "bcac661" else ITEMS_TO_ADD
        then = without_advice(then, named.get(one, []))
        then = with_named_cutoff(then, P_OF_UPPER_CUTOFF.get(one, 0))
        then = with_present_words(then, UNDECIDED.get(one, 0))
    assert_alike(judged.decision.to_mapping(), {**then, "code_version": __version__})
    assert not withdrawn


@pytest.fixture(scope="module")
def read_now():
    """The digest and the estimates of each source, as they are today."""
    found = {}
    for one in SOURCES:
        ratings = one.ratings(GOLDEN / "sources")
        estimates = survey(ratings, MEASURES, scopes=("round", "classifier", "stratum"))
        found[one.name] = ratings.digest, [each.to_mapping() for each in estimates]
    return found


@pytest.mark.parametrize("name", [one.name for one in SOURCES])
@pytest.mark.parametrize("commit", READ)
def test_a_source_read_again_has_the_digest_and_the_estimates_that_it_had(commit, name, read_now):
    kept = [said(commit, store) for store in STORES]
    rounds = {key: digest for each in kept for key, digest in each["rounds"].items()}
    then = {digest: found for each in kept for digest, found in each["estimates"].items()}
    digest, estimates = read_now[name]
    # Units of marked objects now come with their documents, which the digest binds.
    assert (digest == rounds[name]) is (name != NOTES.name or commit in ("bcac661", "0.6.0"))
    assert_alike(estimates, then[rounds[name]])


@pytest.mark.parametrize("commit", READ)
def test_a_new_round_goes_on_top(commit, copied):
    store, then = copied(commit, "forum"), said(commit, "forum")
    source = GOLDEN / "sources" / "forum-1.csv"
    store.ingest("forum-4", store.ratings("forum-1"), source)
    made = release_round(store, "forum-4", policy(commit), Contract.none(), project=PROJECT)
    assert verify_release(made.path).ratings["forum-4"].digest == then["rounds"]["forum-1"]
    assert len(store.history()) == len(then["history"]) + 3
    assert store.history()[len(then["history"])]["event"] == "ingested"
    (standing,) = [called for called, facts in then["releases"].items() if "refused" not in facts]
    assert open_release(store.root / "releases" / standing, store=store)


@pytest.mark.parametrize("commit", BUILDS)
def test_a_round_is_judged_and_released_again_without_the_contract_of_then(commit, copied):
    store = copied(commit, "forum")
    (before,) = [entry["release"] for entry in store.in_force()]
    found = [*reassess(store, policy(commit), Contract.none())]
    assert not [each.error for each in found if each.error or each.withdrawn]
    decided = {each.round: each.judged.decision for each in found}
    then = said(commit, "forum")["decisions"]
    assert {name: decision.outcome for name, decision in decided.items()} == {
        name: decisions[-1]["decision"] for name, decisions in then.items()
    }
    made = release_round(store, "forum-1", policy(commit), Contract.none(), project=PROJECT)
    assert verify_release(made.path).contract == Contract.none()
    assert open_release(store.root / "releases" / before, store=store).rounds == ("forum-1",)


@pytest.mark.parametrize("commit", READ)
def test_a_store_goes_on_with_its_own_pseudonyms(commit, copied):
    store = copied(commit, "forum")
    (called,) = [entry["release"] for entry in store.in_force()]
    before = verify_release(store.root / "releases" / called, store=store).ratings["forum-1"]
    again = store.pseudonyms(store.ratings("forum-1"))
    assert set(before.raters) <= set(again.values())
