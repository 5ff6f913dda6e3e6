"""The lock: what it lets out, what it holds, what it takes back."""

import json
import shutil
from functools import partial

import pandas as pd
import pytest
import yaml

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.orchestration.assets import release
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import contents as release_contents
from agreement_pipeline.release import (
    judge_round,
    open_release,
    release_dataset,
    release_round,
    verify_release,
)
from agreement_pipeline.release.lock import current_release
from agreement_pipeline.release.withdrawal import withdraw
from agreement_pipeline.report import (
    estimate_rows,
    history_figure,
    interval_figure,
    round_table,
    round_text,
)
from agreement_pipeline.store import Store

SCALE = Scale(("no", "yes", "<b>|maybe|</b>"))
POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
LENIENT = Policy(
    "lenient", 1, (Rule("krippendorff_alpha"),), admit=("reliable", "tentative"), n_resamples=1000
)
RATERS = ("ana-maria", "benedikt", "chiara")


def contract(*more):
    default = Contract.default().to_mapping()
    return Contract.from_mapping(
        {"rows": [*default["rows"][:1], *more], "items": default["items"][:1]}
    )


CONTRACT = contract()


def make_ratings(
    disagreements=2,
    n_items=90,
    scale=SCALE,
    prefix="i",
    raters=RATERS,
    shuffle=None,
    classifiers=(),
    **more,
):
    """Three raters who agree on all items but the first few, where the last rater takes the next category."""
    rows = [
        (
            f"{prefix}{item:03}",
            rater,
            scale.names[(item + (item < disagreements and rater == raters[-1])) % len(scale.names)],
            f"text {prefix}{item}",
        )
        for item in range(n_items)
        for rater in (*raters, *classifiers)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "text"]).assign(**more)
    return Ratings.from_frame(
        frame if shuffle is None else frame.sample(frac=1, random_state=shuffle),
        scale,
        classifiers=classifiers,
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", salt=b"a salt for tests")


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "export.csv"
    path.write_bytes(b"as delivered")
    return path


@pytest.fixture
def load_dataset(tmp_path, monkeypatch):
    """As somebody would load it who has never heard of this package."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets

    return partial(datasets.load_dataset, cache_dir=str(tmp_path / "cache"))


def released(store, policy=POLICY, name="r1", by=CONTRACT):
    return release_round(store, name, policy, by, project="demo")


def bytes_of(path):
    return {
        file.relative_to(path).as_posix(): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file()
    }


def test_an_admitted_round_is_released_under_the_digests_it_rests_on(store, original):
    ratings = make_ratings()
    store.ingest("r1", ratings, original)
    found = released(store)
    assert (
        found.path == store.root / "releases" / "r1" / f"{ratings.digest[:12]}-{POLICY.digest[:12]}"
    )
    assert (found.rounds, found.project, found.policy, found.tentative) == (
        ("r1",),
        "demo",
        POLICY,
        False,
    )
    assert (len(found.train), len(found.annotations), found.decisions["r1"]["decision"]) == (
        90,
        270,
        "admitted",
    )
    assert current_release(store, "r1") == found.path
    assert [(entry["event"], entry.get("release")) for entry in store.history()][1:] == [
        ("decided", None),
        ("released", f"r1/{found.path.name}"),
    ]


def test_another_version_of_the_package_words_a_release_of_its_own(store, original, monkeypatch):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    monkeypatch.setattr(release_contents, "__version__", "9.9")
    second = released(store)
    assert second.path.name == f"{first.path.name}-2"
    assert released(store).path == second.path
    assert [entry["release"] for entry in store.in_force()] == [
        f"r1/{first.path.name}",
        f"r1/{second.path.name}",
    ]
    assert all(open_release(each.path, store=store).rounds == ("r1",) for each in (first, second))


def test_a_release_loads_with_its_categories_in_order(store, original, load_dataset):
    store.ingest("r1", make_ratings(raters=(*RATERS, "dan"), disagreements=3), original)
    path = str(released(store).path)
    train = load_dataset(path, split="train")
    assert (train.features["label"].names, len(train)) == (list(SCALE.names), 90)
    assert train.features["label"].int2str(train[:3]["label"]) == ["no", "yes", "<b>|maybe|</b>"]
    assert train[0]["soft_label"] == [0.75, 0.25, 0]
    assert sorted(load_dataset(path, "annotations", split="train")[:4]["label"]) == [
        "no",
        "no",
        "no",
        "yes",
    ]
    assert load_dataset(
        "parquet", data_files=f"{path}/data/train-*.parquet", split="train"
    ).features["label"].names == list(SCALE.names)


def test_unresolved_items_are_a_configuration_of_their_own(store, original, load_dataset):
    store.ingest("r1", make_ratings(raters=("ana", "ben"), disagreements=2), original)
    found = released(store)
    assert set(found.train["id"]) == {f"i{n:03}" for n in range(2, 90)}
    unresolved = load_dataset(str(found.path), "unresolved", split="unresolved")
    assert (unresolved["id"][:], unresolved["label"][:], unresolved["resolution"][:]) == (
        ["i000", "i001"],
        [None, None],
        ["tie", "tie"],
    )


def test_equal_inputs_give_equal_bytes_in_different_stores(tmp_path, original):
    folders = []
    for name, shuffle in (("one", 1), ("other", 2)):
        store = Store(tmp_path / name, salt=b"a salt for tests")
        if name == "other":
            store.ingest("r0", make_ratings(prefix="j"), original)
        store.ingest("r1", make_ratings(shuffle=shuffle), original)
        folders.append(released(store).path)
    assert bytes_of(folders[0]) == bytes_of(folders[1])


def test_a_release_holds_no_name_of_a_rater_and_every_name_of_a_classifier(store, original):
    store.ingest("r1", make_ratings(classifiers=("gpt-x",)), original)
    found = released(
        store,
        Policy(
            "p",
            1,
            (
                Rule("krippendorff_alpha"),
                Rule("krippendorff_alpha", scope="without", effect="warn"),
            ),
            n_resamples=1000,
        ),
    )
    assert set(found.annotations["rater"]) == {*store.pseudonyms(make_ratings()).values(), "gpt-x"}
    assert found.annotations.groupby("kind")["rater"].nunique().to_dict() == {
        "classifier": 1,
        "panel": 3,
    }
    assert found.train["n_raters"].unique().tolist() == [3]
    texts = b"".join(
        data for name, data in bytes_of(found.path).items() if not name.endswith(".parquet")
    )
    assert not any(rater.encode() in texts for rater in RATERS)
    assert b"without rater-" in texts


def test_the_card_says_what_was_found_and_means_nothing_else(store, original):
    store.ingest("r1", make_ratings(disagreements=14), original)
    found = released(store, LENIENT)
    text = (found.path / "README.md").read_text()
    assert found.tentative
    assert "**Tentative.**" in text
    assert "&lt;b&gt;\\|maybe\\|&lt;/b&gt;" in text
    assert "<b>" not in text
    verdict = found.decisions["r1"]["verdicts"][0]
    assert (
        f"| {verdict['value']:.3f} | {verdict['low']:.3f} to {verdict['high']:.3f} | 90 | tentative |"
        in text
    )
    assert [
        config["config_name"] for config in yaml.safe_load(text.split("---")[1])["configs"]
    ] == ["default", "annotations"]


def test_a_held_round_leaves_no_folder_and_names_every_reason(store, original):
    store.ingest("r1", make_ratings(disagreements=60), original)
    policy = Policy(
        "p", 1, (Rule("krippendorff_alpha"), Rule("gwet_ac1", min_items=1000)), n_resamples=1000
    )
    with pytest.raises(
        ReleaseHeldError,
        match=r"round r1: held, since krippendorff_alpha 0\.\d+.*; gwet_ac1 .* the policy asks for 1000; an admitted decision",
    ):
        released(store, policy)
    assert not (store.root / "releases").exists()
    assert (store.history()[-1]["event"], store.history()[-1]["decision"]) == ("decided", "held")


def test_a_round_that_breaks_the_contract_is_held(store, original):
    store.ingest("r1", make_ratings(), original)
    large = {
        "type": "expect_table_row_count_to_be_between",
        "kwargs": {"min_value": 1000},
        "severity": "critical",
        "description": "many",
        "meta": {"check": "many"},
    }
    with pytest.raises(ReleaseHeldError, match="round r1: held, since contract: many"):
        released(store, by=contract(large))


def test_a_contract_on_the_raters_names_holds_since_a_release_has_none(store, original):
    store.ingest("r1", make_ratings(), original)
    known = {
        "type": "expect_column_values_to_be_in_set",
        "kwargs": {"column": "rater", "value_set": list(RATERS)},
        "severity": "critical",
    }
    by = contract({**known, "description": "known raters", "meta": {"check": "known"}})
    with pytest.raises(
        ReleaseHeldError, match="admitted under the raters' names and held under their pseudonyms"
    ):
        released(store, by=by)
    assert not (store.root / "releases").exists()


def test_worse_ratings_withdraw_every_release_the_round_is_in(store, original):
    for name in ("r1", "r2"):
        store.ingest(name, make_ratings(prefix=name), original)
    alone, other, together = (
        released(store),
        released(store, name="r2"),
        release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo"),
    )
    store.ingest("r1", make_ratings(prefix="r1", disagreements=60), original)
    with pytest.raises(ReleaseHeldError):
        released(store)
    for path in (alone.path, together.path):
        with pytest.raises(
            ReleaseInvalidError,
            match=r"withdrawn on 20\d\d.*for round r1 \(krippendorff_alpha 0\.\d+",
        ):
            verify_release(path)
    assert (
        current_release(store, "r1"),
        current_release(store, "demo.dataset"),
        current_release(store, "r2"),
    ) == (None, None, other.path)
    assert (alone.path / "data" / "train-00000-of-00001.parquet").exists()


def beside_a_model(n_items):
    """Of the seven items the model labelled the panel agrees on one, on all others always: in many draws S has nothing to reach."""
    rows = [
        (f"i{i:03}", rater, SCALE.names[(i + (place if i < 6 else 0)) % 3])
        for i in range(n_items)
        for place, rater in enumerate(RATERS)
    ]
    rows += [(f"i{i:03}", "model", SCALE.names[i % 3]) for i in range(7)]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE, classifiers=("model",)
    )


def test_an_interval_without_limit_is_told_and_a_round_with_one_is_released_held_and_withdrawn(
    store, original
):
    policy = Policy(
        "p",
        1,
        (Rule("krippendorff_alpha"), Rule("shah_s", scope="classifier", effect="warn")),
        n_resamples=1000,
    )
    store.ingest("r1", beside_a_model(400), original)
    found = released(store, policy)
    (said,) = (
        verdict for verdict in found.decisions["r1"]["verdicts"] if verdict["measure"] == "shah_s"
    )
    assert (said["value"], said["low"], said["high"]) == (1.0, None, 1.0)
    assert "interval no limit to 1.000" in said["reason"]
    assert "| 1.000 | no limit to 1.000 |" in (found.path / "README.md").read_text()
    store.ingest("r1", beside_a_model(20), original)
    with pytest.raises(ReleaseHeldError):
        released(store, policy)
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(found.path)
    assert not any(b"Infinity" in entry.read_bytes() for entry in (store.root / "log").iterdir())


def test_the_history_and_the_plots_show_that_an_interval_has_no_limit(store, original):
    ratings = beside_a_model(400)
    store.ingest("r1", ratings, original)
    with pytest.raises(ReleaseHeldError, match=r"interval no limit to 1\.000"):
        released(store, Policy("p", 1, (Rule("shah_s", scope="classifier"),), n_resamples=1000))
    rounds = round_table(store)
    assert round_text(rounds)["interval"].tolist() == ["no limit…1.000"]
    estimates = list(
        measure_ratings(ratings, ["shah_s"], Inference(n_resamples=1000), scopes=("classifier",))
    )
    assert estimate_rows(estimates)["interval"].tolist() == ["no limit … 1.00000"]
    assert history_figure(rounds).startswith("data:image/png")
    assert interval_figure(estimates).startswith("data:image/png")


def test_withdrawing_says_whether_there_was_a_release_and_hides_the_raters_names(store, original):
    store.ingest("r1", make_ratings(), original)
    assert not withdraw(store, "r1", ["nothing there"])
    path = released(store).path
    assert withdraw(
        store,
        "r1",
        ["self_agreement of rater ana-maria 0.2", "pair benedikt and chiara; benedikta, chiara-x"],
    )
    assert not withdraw(store, "r1", ["again"])
    names = store.pseudonyms(make_ratings())
    said = json.loads((path / "WITHDRAWN.json").read_text())["reasons"]
    assert said == [
        f"self_agreement of rater {names['ana-maria']} 0.2",
        f"pair {names['benedikt']} and {names['chiara']}; benedikta, chiara-x",
    ]
    assert [entry["event"] for entry in store.history()] == [
        "ingested",
        "decided",
        "released",
        "withdrawn",
    ]


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"rounds": [1]}'])
def test_a_release_nobody_can_read_is_in_no_others_way(store, original, manifest):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    broken = store.release_folder("broken", "v") / "manifest.json"
    broken.parent.mkdir(parents=True)
    broken.write_text(manifest)
    assert withdraw(store, "r1", ["a mistake"])
    assert (path / "WITHDRAWN.json").exists()
    assert not (broken.parent / "WITHDRAWN.json").exists()


def test_a_withdrawn_release_is_never_revived(store, original):
    store.ingest("r1", make_ratings(), original)
    paths = []
    for _ in range(3):
        paths.append(released(store).path)
        withdraw(store, "r1", ["a mistake in the guideline"])
    assert [path.name.split("-")[2:] for path in paths] == [[], ["2"], ["3"]]
    fresh = released(store).path
    assert current_release(store, "r1") == fresh
    assert {
        name: data for name, data in bytes_of(paths[0]).items() if name != "WITHDRAWN.json"
    } == bytes_of(fresh)


def test_the_same_release_again_is_verified_and_not_rewritten(store, original):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()}
    assert released(store).path == first.path
    assert {
        path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()
    } == before
    (first.path / "README.md").write_text("edited")
    with pytest.raises(ReleaseInvalidError, match=r"other bytes in \['README.md'\]"):
        released(store)


def manifest_with(change):
    def forge(path):
        said = json.loads((path / "manifest.json").read_text())
        change(said)
        (path / "manifest.json").write_bytes(release_contents.as_json(said))

    return forge


def forge_names(path):
    """The whole release written again from its own ratings, as given by somebody else."""
    found = verify_release(path)
    ratings = found.ratings["r1"].renamed({found.ratings["r1"].raters[0]: "rater-of-renown"})
    member = release_contents.Member.assessed("r1", "0" * 64, ratings, POLICY, CONTRACT)
    for name, data in release_contents.contents("demo", [member], POLICY, CONTRACT).items():
        (path / name).write_bytes(data)


FORGERIES = {
    "the delivered file": manifest_with(
        lambda said: said["rounds"][0].update(original_digest="f" * 64)
    ),
    "a library": manifest_with(lambda said: said["written_by"].update(numpy="1.0")),
    "a rater": forge_names,
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
@pytest.mark.parametrize("before", [True, False], ids=["standing", "put there first"])
def test_a_release_forged_in_its_place_is_never_entered_into_the_log(
    store, original, tmp_path, forge, before
):
    """It verifies by itself, since nothing in it gives what was forged; the next to release the round must not let it out."""
    home = store if before else Store(tmp_path / "other", salt=b"a salt for tests")
    for each in {store, home}:
        each.ingest("r1", make_ratings(), original)
    made = released(home).path
    path = store.release_folder("r1", made.name)
    if not before:
        shutil.copytree(made, path)
    forge(path)
    assert verify_release(path).rounds == ("r1",)
    let_out = [entry for entry in store.history() if entry["event"] == "released"]
    for step in (
        lambda: open_release(path, store=store),
        lambda: released(store),
        lambda: open_release(path, store=store),
    ):
        with pytest.raises(ReleaseInvalidError) as refusal:
            step()
        assert refusal.value.code == "release_not_in_log"
    assert [entry for entry in store.history() if entry["event"] == "released"] == let_out
    shutil.rmtree(path)
    assert released(store).path == path
    assert open_release(path, store=store).rounds == ("r1",)


@pytest.mark.parametrize(
    "manifest", [b"[" * 100_000, b'{"rounds": [1]}', b"\xff"], ids=["deep", "other", "no text"]
)
def test_a_manifest_in_its_place_that_nobody_can_read_is_refused(store, original, manifest):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    (path / "manifest.json").write_bytes(manifest)
    with pytest.raises(ReleaseInvalidError, match=r"manifest\.json"):
        released(store)


def test_a_release_of_equal_ratings_delivered_in_another_file_is_the_one_that_stands(
    store, original, tmp_path
):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    (tmp_path / "again.csv").write_bytes(b"as exported once more")
    store.ingest("r1", make_ratings(), tmp_path / "again.csv")
    assert (released(store).path, released(store).manifest_digest) == (
        first.path,
        first.manifest_digest,
    )


def test_a_release_in_words_that_this_version_no_longer_writes_gets_another_beside_it(
    store, original, monkeypatch
):
    store.ingest("r1", make_ratings(), original)
    former = release_contents.card
    with monkeypatch.context() as patch:
        patch.setattr(
            release_contents,
            "card",
            lambda *facts: former(*facts).replace("## Data", "## The data"),
        )
        first = released(store)
    second = released(store)
    assert second.path.name == f"{first.path.name}-2"
    assert released(store).path == second.path == current_release(store, "r1")
    assert open_release(second.path, store=store).rounds == ("r1",)


def test_another_contract_gets_a_folder_of_its_own(store, original):
    store.ingest("r1", make_ratings(), original)
    other = contract(Contract.default().to_mapping()["rows"][1])
    assert (
        released(store, by=other).path.name
        != released(store).path.name
        == f"{released(store, by=other).path.name}-2"
    )


def test_an_edited_round_is_refused(store, original):
    store.ingest("r1", make_ratings(), original)
    path = next(store.root.glob("rounds/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="the ratings were edited"):
        released(store)
    assert not (store.root / "releases").exists()


def test_a_round_ingested_anew_while_it_is_judged_is_not_released(store, original, monkeypatch):
    store.ingest("r1", make_ratings(), original)
    real = release.assess

    def meanwhile(*arguments):
        store.ingest("r1", make_ratings(disagreements=60), original)
        return real(*arguments)

    monkeypatch.setattr(release, "assess", meanwhile)
    with pytest.raises(StoreError, match="round r1: another version than the one judged found"):
        released(store)
    assert not (store.root / "releases").exists()


@pytest.mark.parametrize("name", ["../r1", "a/b", "", "..", "/tmp/x"])
def test_names_that_could_be_paths_are_refused(store, name):
    for step in (
        lambda: released(store, name=name),
        lambda: release_dataset(store, [name], POLICY, CONTRACT, project="demo"),
        lambda: release_dataset(store, ["r1"], POLICY, CONTRACT, project=name),
        lambda: withdraw(store, name, []),
    ):
        with pytest.raises(StoreError, match="a name that could be a path found"):
            step()


STRICTER = Policy(
    "stricter", 1, (Rule("krippendorff_alpha", reliable=0.94, tentative=0.9),), n_resamples=1000
)


def test_judging_says_what_is_decided_and_withdraws_what_is_held(store, original):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    assert judge_round(store, "r1", POLICY, CONTRACT)[0].admitted
    assert current_release(store, "r1") == path
    decision, withdrawn = judge_round(store, "r1", STRICTER, CONTRACT)
    assert (decision.admitted, withdrawn, current_release(store, "r1")) == (False, True, None)
    assert judge_round(store, "r1", STRICTER, CONTRACT) == (decision, False)
    assert [entry["event"] for entry in store.history()] == [
        "ingested",
        "decided",
        "released",
        "decided",
        "withdrawn",
    ]


@pytest.mark.parametrize(
    "act",
    [
        lambda store: judge_round(store, "r1", STRICTER, CONTRACT),
        lambda store: released(store, STRICTER),
    ],
)
def test_a_stricter_policy_withdraws_the_release_of_a_former_version_although_the_present_one_is_admitted(
    store, original, act
):
    store.ingest("r1", make_ratings(disagreements=3), original)
    store.ingest("r2", make_ratings(prefix="r2"), original)
    old, together = (
        released(store).path,
        release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo").path,
    )
    store.ingest("r1", make_ratings(disagreements=0), original)
    new = released(store).path
    assert verify_release(old).rounds == ("r1",), (
        "a former version that the policy admits stays in force"
    )
    act(store)
    for path in (old, together):
        with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
            verify_release(path)
    assert verify_release(new).rounds == ("r1",)
    assert current_release(store, "r1").name.startswith(make_ratings(disagreements=0).digest[:12])


def test_the_release_of_a_former_version_that_cannot_be_read_any_more_is_withdrawn(store, original):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    next(store.root.glob("rounds/*/*.parquet")).unlink()
    store.ingest("r1", make_ratings(disagreements=0), original)
    assert judge_round(store, "r1", POLICY, CONTRACT)[1]
    with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
        verify_release(path)


def test_a_notice_that_the_log_does_not_know_is_entered_by_the_next_to_judge(store, original):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    (path / "WITHDRAWN.json").write_text(
        json.dumps({"round": "r1", "reasons": ["a mistake"], "time": "2026-11-01"})
    )
    assert current_release(store, "r1") is None
    judge_round(store, "r1", POLICY, CONTRACT)
    last = store.history()[-1]
    assert (last["event"], last["round"], last["releases"], last["reasons"]) == (
        "withdrawn",
        "r1",
        [f"r1/{path.name}"],
        ["a mistake"],
    )
    assert released(store).path.name == f"{path.name}-2"


UNREADABLE = ["a WITHDRAWN.json that cannot be read"]
SPOILT_NOTICES = {
    "empty": ("", UNREADABLE),
    "list": ("[]", UNREADABLE),
    "path as round": ('{"round": "../r9", "reasons": []}', []),
    "numbers": ('{"round": 1, "reasons": 2}', UNREADABLE),
    "list as round": ('{"round": [], "reasons": ["why"]}', ["why"]),
    "one text": ('{"round": "r1", "reasons": "abc"}', UNREADABLE),
    "numbers as reasons": ('{"round": "r1", "reasons": [1]}', UNREADABLE),
    "half a character": ('{"round": "r1", "reasons": ["\\ud800"]}', UNREADABLE),
    "half a character as round": ('{"round": "\\ud800", "reasons": ["why"]}', ["why"]),
}


@pytest.mark.parametrize(("notice", "reasons"), SPOILT_NOTICES.values(), ids=SPOILT_NOTICES)
def test_a_notice_that_cannot_be_read_withdraws_too(store, original, notice, reasons):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    (path / "WITHDRAWN.json").write_text(notice)
    judge_round(store, "r1", POLICY, CONTRACT)
    last = store.history()[-1]
    assert (last["event"], last["round"], last["reasons"]) == ("withdrawn", "r1", reasons)
    with pytest.raises(ReleaseInvalidError):
        verify_release(path)
    assert released(store).path.name == f"{path.name}-2"


def test_a_notice_too_deep_to_be_read_withdraws_too(store, original):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    (path / "WITHDRAWN.json").write_text("[" * 100_000)
    judge_round(store, "r1", POLICY, CONTRACT)
    assert (store.history()[-1]["event"], store.history()[-1]["reasons"]) == (
        "withdrawn",
        UNREADABLE,
    )


def test_a_notice_that_somebody_removed_is_put_back_and_the_release_is_never_used_again(
    store, original
):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    withdraw(store, "r1", ["a mistake"])
    (path / "WITHDRAWN.json").unlink()
    assert current_release(store, "r1") is None
    assert released(store).path.name == f"{path.name}-2"
    with pytest.raises(
        ReleaseInvalidError, match=r"withdrawn on .*the store's log has the reasons"
    ):
        verify_release(path)


def test_a_round_decided_otherwise_while_its_release_is_made_is_not_released(
    store, original, monkeypatch
):
    store.ingest("r1", make_ratings(), original)
    real = release.contents

    def meanwhile(*arguments):
        judge_round(store, "r1", STRICTER, CONTRACT)
        return real(*arguments)

    monkeypatch.setattr(release, "contents", meanwhile)
    with pytest.raises(StoreError, match="round r1: another decision found, taken meanwhile"):
        released(store)
    assert not (store.root / "releases").exists()


def test_a_folder_that_holds_a_part_of_a_release_is_refused(store, original):
    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    (path / "manifest.json").unlink()
    with pytest.raises(StoreError, match=r"a part of a release found.*Remove the folder"):
        released(store)
    shutil.rmtree(path)
    assert released(store).path == path


def test_a_round_whose_former_release_is_withdrawn_is_shown_as_released(store, original):
    store.ingest("r1", make_ratings(disagreements=3), original)
    released(store)
    store.ingest("r1", make_ratings(disagreements=0), original)
    released(store)
    judge_round(store, "r1", STRICTER, CONTRACT)
    assert store.history()[-1]["event"] == "withdrawn"
    assert round_table(store)["release"].tolist() == ["released"]
    withdraw(store, "r1", ["a mistake"])
    assert round_table(store)["release"].tolist() == ["withdrawn"]
