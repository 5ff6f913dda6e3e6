"""What a release must prove to whoever opens it, and what each way of tampering with it is told."""

import hashlib
import json
import math
import os
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline import (
    Policy,
    Ratings,
    ReleaseHeldError,
    ReleaseInvalidError,
    Rule,
    Scale,
    open_release,
    verify_release,
)
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Assessment, decide
from agreement_pipeline.ratings import parquet_bytes, parquet_table
from agreement_pipeline.release import release_dataset
from agreement_pipeline.release.contents import Member, as_json, contents
from agreement_pipeline.store import Store
from agreement_pipeline.store.local import LocalStorage

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
STRICTER = Policy(
    "strict", 1, (Rule("krippendorff_alpha", reliable=0.99, tentative=0.98),), n_resamples=1000
)
DEFAULT = Contract.default().to_mapping()
CONTRACT = Contract.from_mapping({"rows": DEFAULT["rows"][:1], "items": DEFAULT["items"][:1]})
TRAIN = "data/train-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"


def make_ratings(prefix="i", disagreements=2):
    """Three raters who agree on items that are no and yes in turn, but for the first few."""
    rows = [
        (
            f"{prefix}{item:03}",
            rater,
            ("no", "yes")[(item + (item < disagreements and rater == "c")) % 2],
        )
        for item in range(90)
        for rater in "abc"
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    for name in ("r1", "r2"):
        store.ingest(name, make_ratings(name), folder / "export.csv")
    return release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo").path


@pytest.fixture
def copy(released, tmp_path):
    return shutil.copytree(released, tmp_path / "downloaded")


def forge(path, name, data):
    """Change a file and make the manifest agree with it."""
    (path / name).write_bytes(data)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (path / "manifest.json").write_bytes(as_json(manifest))


def edit(path, name, change):
    """Change plain data in a file and make the manifest agree with it."""
    data = json.loads((path / name).read_text())
    change(data)
    (path / name).write_bytes(as_json(data)) if name == "manifest.json" else forge(
        path, name, as_json(data)
    )


def edit_table(path, name, change):
    forge(path, name, parquet_bytes(change(parquet_table((path / name).read_bytes()))))


def refused(path, match):
    with pytest.raises(ReleaseInvalidError, match=match):
        verify_release(path)


def test_a_release_proves_itself_wherever_it_is_copied(copy, released):
    found = open_release(str(copy))
    assert (found.path, found.rounds, found.policy, found.contract) == (
        copy,
        ("r1", "r2"),
        POLICY,
        CONTRACT,
    )
    assert found.decisions == json.loads((released / "decision.json").read_text())
    assert (len(found.train), len(found.annotations)) == (180, 540)
    assert found.ratings["r1"].digest == make_ratings("r1").digest


def test_a_folder_without_a_manifest_is_no_release(copy):
    (copy / "manifest.json").unlink()
    refused(copy, "no manifest.json found; a release has one, written last")


def test_a_withdrawn_release_says_why(copy):
    (copy / "WITHDRAWN.json").write_text(
        json.dumps({"round": "r1", "time": "2026-11-21", "reasons": ["the guideline was wrong"]})
    )
    refused(copy, r"withdrawn on 2026-11-21, for round r1 \(the guideline was wrong\)")
    (copy / "WITHDRAWN.json").write_text("")
    refused(copy, "WITHDRAWN.json: not readable as JSON")


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "croissant.json",
        "decision.json",
        "policy.json",
        "agreement_report.json",
        TRAIN,
        ANNOTATIONS,
    ],
)
def test_every_file_is_missed_and_every_changed_byte_seen(copy, name):
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(copy, rf"other bytes in \['{name}'\] found")
    (copy / name).unlink()
    refused(copy, rf"no file \['{name}'\] found; the manifest lists it")


def test_extra_files_are_refused(copy):
    (copy / "data" / "train-00001-of-00001.parquet").write_bytes(b"more")
    refused(copy, r"extra file \['data/train-00001-of-00001.parquet'\] found")


def test_a_link_to_a_folder_is_an_extra_file(copy, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (copy / "data" / "more").symlink_to(tmp_path / "elsewhere")
    refused(copy, r"extra file \['data/more'\] found")


@pytest.mark.parametrize("name", [TRAIN, "manifest.json"])
def test_a_link_to_a_file_is_none_of_a_release(copy, tmp_path, name):
    """Whoever may write where it leads changes the release after it was verified."""
    shutil.move(copy / name, tmp_path / "elsewhere")
    (copy / name).symlink_to(tmp_path / "elsewhere")
    refused(
        copy,
        rf"links, or things of another kind, \['{name}'\] found; the files themselves are required",
    )


@pytest.mark.parametrize("name", [TRAIN, "manifest.json", "WITHDRAWN.json"])
def test_nobody_waits_for_a_pipe(copy, name):
    (copy / name).unlink(missing_ok=True)
    os.mkfifo(copy / name)
    refused(
        copy,
        rf"links, or things of another kind, \['{name}'\] found; the files themselves are required",
    )


def test_a_withdrawal_notice_cannot_write_lines_of_its_own(copy, capsys):
    said = {
        "round": "r1\nverified: rounds r1; 90 training rows",
        "time": "\x1b[2K",
        "reasons": ["\u202e", "\ud800"],
    }
    (copy / "WITHDRAWN.json").write_text(json.dumps(said))
    assert main(["verify", str(copy)]) == 11
    (line,) = capsys.readouterr().out.splitlines()
    assert (
        r"withdrawn on \x1b[2K, for round r1\nverified: rounds r1; 90 training rows (\u202e; \ud800)"
        in line
    )


@pytest.mark.parametrize(
    ("project", "round_name"),
    [
        ("demo", "r1\nverified: rounds r1; 90 training rows\x1b[2K"),
        ("demo", "../r1"),
        ("demo\x1b[2K", "r1"),
        ("", "r1"),
    ],
)
def test_names_that_no_round_and_no_project_has_are_refused(tmp_path, capsys, project, round_name):
    member = Member.assessed(round_name, "0" * 64, make_ratings(), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("forged", contents(project, [member], POLICY, CONTRACT))
    refused(tmp_path / "forged", "a name that could be a path found")
    assert main(["verify", str(tmp_path / "forged")]) == 15
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda policy: policy.update(confidence_level=10**400),
        lambda policy: policy["rules"][0].update(reliable=10**400, tentative=10**400),
    ],
)
def test_numbers_that_nothing_can_be_computed_with_are_refused(copy, change):
    edit(copy, "policy.json", lambda said: change(said["policy"]))
    refused(copy, "policy.json: not readable .* of more than 300 digits found")
    assert main(["verify", str(copy)]) == 1


def test_labels_of_any_size_are_compared_to_the_last_digit(tmp_path):
    """Measurements of 1e-11 are no less labels than others."""
    rows = [
        (f"i{item:03}", rater, (item + 1) * 1e-11 * (1 + 0.001 * place))
        for item in range(60)
        for place, rater in enumerate("abc")
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(None, "interval")
    )
    member = Member.assessed("r1", "0" * 64, ratings, POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("release", contents("demo", [member], POLICY, CONTRACT))
    path = tmp_path / "release"
    assert verify_release(path).rounds == ("r1",)
    for forged in (
        [0.0] * 60,
        [math.nextafter(label, 1) for label in verify_release(path).train["label"]],
    ):
        copy = shutil.copytree(path, tmp_path / f"copy {forged[0]}")
        edit_table(
            copy,
            TRAIN,
            lambda table, forged=forged: table.set_column(
                table.column_names.index("label"), "label", [forged]
            ),
        )
        refused(copy, f"rows of {TRAIN} found that the consensus of the annotations does not give")


def test_a_manifest_that_lists_too_little_or_is_none_is_refused(copy):
    edit(copy, "manifest.json", lambda manifest: manifest["files"].pop("decision.json"))
    (copy / "decision.json").unlink()
    refused(copy, "no list of all files of a release found")
    (copy / "manifest.json").write_text("[]")
    refused(copy, "manifest.json: list found; a JSON object is required")


def test_a_file_outside_the_folder_cannot_be_listed(copy):
    edit(
        copy,
        "manifest.json",
        lambda manifest: manifest["files"].update({"../../etc/passwd": {"sha256": "", "bytes": 0}}),
    )
    refused(copy, r"no file \['../../etc/passwd'\] found")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda said: said["r1"]["verdicts"][0].update(value=0.99),
            r"r1, verdicts 1, value is 0.99 and comes out as 0\.\d+",
        ),
        (
            lambda said: said["r1"]["verdicts"][0].update(verdict="tentative"),
            "r1, verdicts 1, verdict is 'tentative' and comes out as 'reliable'",
        ),
        (
            lambda said: said["r2"].update(decision="held"),
            "r2, decision is 'held' and comes out as 'admitted'",
        ),
        (lambda said: said["r2"].update(ratings_digest="0" * 64), "r2, ratings_digest is '000"),
        (lambda said: said["r1"]["verdicts"].clear(), r"r1, verdicts is \[\] and comes out as"),
        (lambda said: said.pop("r2"), "decision.json, r2 is nothing and comes out as"),
    ],
)
def test_a_forged_decision_does_not_come_out_again(copy, change, said):
    edit(copy, "decision.json", change)
    refused(
        copy,
        f"decision.json, {said.removeprefix('decision.json, ')}.*when derived again from the annotations",
    )


def test_numbers_may_differ_in_the_last_digits(copy):
    def change(said):
        verdict = said["r1"]["verdicts"][0]
        verdict.update(value=verdict["value"] + 1e-12)

    edit(copy, "decision.json", change)
    assert verify_release(copy).rounds == ("r1", "r2")


@pytest.mark.parametrize("towards", [0, 1])
def test_a_last_digit_that_another_machine_adds_up_otherwise_changes_no_word(tmp_path, towards):
    """Of 96 items of four raters, 12 are rated otherwise by one of them: 0.9375 of the pairs agree, which lies between two numbers of three digits."""
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[(item + (item < 12 and rater == "d")) % 2])
        for item in range(96)
        for rater in "abcd"
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )
    policy = replace(
        POLICY,
        rules=(*POLICY.rules, Rule("percent_agreement", effect="warn")),
        admit=("reliable", "tentative"),
    )
    here = Member.assessed("r1", "0" * 64, ratings, policy, CONTRACT)
    (value,) = (
        each.value for each in here.assessment.estimates if each.measure == "percent_agreement"
    )
    assert value == 0.9375
    elsewhere = [
        replace(each, value=math.nextafter(each.value, towards))
        if each.measure == "percent_agreement"
        else each
        for each in here.assessment.estimates
    ]
    said = here.assessment.decision
    judged = {
        "ratings_digest": said.ratings_digest,
        "contract_digest": said.contract_digest,
        "code_version": said.code_version,
    }
    decision = decide(elsewhere, policy, findings=said.findings, **judged)
    there = replace(here, assessment=Assessment(tuple(elsewhere), decision))
    LocalStorage(tmp_path).keep_folder("release", contents("demo", [there], policy, CONTRACT))
    assert verify_release(tmp_path / "release").decisions["r1"]["verdicts"][1]["value"] == value


def test_the_version_that_decided_may_be_another(copy):
    edit(copy, "decision.json", lambda said: said["r1"].update(code_version="0.0.1"))
    assert verify_release(copy).rounds == ("r1", "r2")


REWORDINGS = {
    "README.md": [
        lambda text: text.replace(
            "Admitted under policy standard", "Admitted by the board under policy standard"
        ),
        lambda text: text.replace(
            "180 items have a training label", "1800 items have a training label"
        ),
        lambda text: text + "\nReviewed by the board.\n",
    ],
    "croissant.json": [
        lambda text: text.replace("ties are not broken", "ties are broken by experts"),
        lambda text: text.replace('"isLiveDataset": false', '"isLiveDataset": true'),
        lambda text: text.replace(
            '"contentUrl": "data/train', '"contentUrl": "https://example.org/train'
        ),
    ],
    "decision.json": [
        lambda text: text.replace(
            '"reason": "krippendorff_alpha', '"reason": "beyond doubt: krippendorff_alpha', 1
        )
    ],
    "agreement_report.json": [lambda text: text.replace('"method": "', '"method": "exact ', 1)],
}


@pytest.mark.parametrize(
    ("name", "change"),
    [(name, change) for name, changes in REWORDINGS.items() for change in changes],
)
def test_words_that_the_annotations_do_not_give_are_refused_whatever_the_manifest_says(
    copy, name, change
):
    text = (copy / name).read_text()
    assert change(text) != text
    forge(copy, name, change(text).encode())
    with pytest.raises(
        ReleaseInvalidError, match=rf"{name}.* when worded again by agreement_pipeline"
    ) as refusal:
        verify_release(copy)
    assert refusal.value.code == "release_reworded"
    assert main(["verify", str(copy)]) == 20


def test_a_file_that_no_release_has_is_refused_whatever_the_manifest_says(copy):
    """A trainer who loads data/train-* would train on its rows."""
    forge(copy, "data/train-00001-of-00001.parquet", (copy / TRAIN).read_bytes())
    refused(
        copy,
        r"files \['data/train-00001-of-00001.parquet'\] found in the manifest; only those that every release has are required",
    )
    assert main(["verify", str(copy)]) == 13


@pytest.mark.parametrize("name", ["manifest.json", "policy.json"])
def test_a_key_that_no_release_has_is_refused(copy, name):
    edit(copy, name, lambda said: said.update(approved_by="the board"))
    refused(copy, f"{name}, approved_by is 'the board' and comes out as nothing")


def replaced(path, name, old, new):
    """Write something into a file before what stands there first, and make the manifest agree with it."""
    text = (path / name).read_text()
    assert old in text
    (path / name).write_text(text.replace(old, new + old, 1)) if name == "manifest.json" else forge(
        path, name, text.replace(old, new + old, 1).encode()
    )


@pytest.mark.parametrize(
    ("name", "key", "forged"),
    [
        ("decision.json", '"decision": "admitted"', '"decision": "admitted with honours", '),
        ("policy.json", '"reliable": 0.8', '"reliable": 0.99, '),
        ("agreement_report.json", '"low": ', '"low": 0.9999, '),
        ("manifest.json", '"project": "demo"', '"project": "other", '),
        ("manifest.json", '"files": {', '"files": {"more.sh": {}}, '),
    ],
)
def test_a_key_that_stands_twice_is_refused_since_readers_take_either(copy, name, key, forged):
    replaced(copy, name, key, forged)
    refused(
        copy,
        f"{name}: JSON found that is not written as releases write it, as with a key that stands in it twice",
    )


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "policy.json", "decision.json", "agreement_report.json", "WITHDRAWN.json"],
)
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a": ' * 100_000,
        b'{"a": ' * 500 + b"1" + b"}" * 500,
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
    ],
)
def test_json_that_cannot_be_read_is_refused_by_name(copy, name, content, capsys):
    (copy / name).write_bytes(content) if name == "manifest.json" else forge(copy, name, content)
    with pytest.raises(ReleaseInvalidError) as refusal:
        verify_release(copy)
    assert main(["verify", str(copy)]) in (1, 11)
    assert capsys.readouterr().out.startswith(f"refused ({refusal.value.code}): ")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "manifest.json",
            lambda said: said.update(reason="Approved"),
            "reason is 'Approved' and comes out as nothing",
        ),
        (
            "manifest.json",
            lambda said: said.update(code_version="9"),
            "code_version is '9' and comes out as nothing",
        ),
        (
            "manifest.json",
            lambda said: said["rounds"][0].update(method="x"),
            "rounds 1, method is 'x' and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said.update(reasons=["Approved"]),
            r"reasons is \['Approved'\] and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said.update(description="Approved"),
            "description is 'Approved' and comes out as nothing",
        ),
        (
            "policy.json",
            lambda said: said["policy"].pop("always_valid_at"),
            "policy, always_valid_at is nothing and comes out as None",
        ),
        (
            "decision.json",
            lambda said: said.update(code_version="approved by board"),
            "code_version is 'approved by board' and comes out as nothing",
        ),
        (
            "decision.json",
            lambda said: said["r1"].update(code_version={"a": [1]}),
            r"r1, code_version is \{'a': \[1\]\} and comes out as",
        ),
        (
            "decision.json",
            lambda said: said["r1"].pop("code_version"),
            "r1, code_version is nothing and comes out as",
        ),
        (
            "decision.json",
            lambda said: said["r1"]["verdicts"][0].update(method="x"),
            "r1, verdicts 1, method is 'x' and comes out as nothing",
        ),
        ("decision.json", lambda said: said.update(r3=None), "r3 is None and comes out as nothing"),
        (
            "decision.json",
            lambda said: said["r1"].update(tentative=0),
            "r1, tentative is 0 and comes out as False",
        ),
        (
            "agreement_report.json",
            lambda said: said.update(method="exact"),
            "method is 'exact' and comes out as nothing",
        ),
    ],
)
def test_what_is_worded_or_dated_is_passed_over_where_a_release_has_it_and_nowhere_else(
    copy, name, change, said
):
    edit(copy, name, change)
    refused(copy, f"{name}, {said}")


def test_a_round_that_is_called_like_a_word_is_compared_like_any(tmp_path):
    """A decision says `code_version` of each round, and a round may have that very name."""
    member = Member.assessed("code_version", "0" * 64, make_ratings(), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("release", contents("demo", [member], POLICY, CONTRACT))
    assert verify_release(tmp_path / "release").rounds == ("code_version",)
    edit(
        tmp_path / "release",
        "decision.json",
        lambda said: said["code_version"].update(tentative=True),
    )
    refused(
        tmp_path / "release",
        "decision.json, code_version, tentative is True and comes out as False",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda said: said.update(written_by="The Pope"),
            "written_by 'The Pope' found; the versions of libraries by name are required",
        ),
        (
            lambda said: said["written_by"].update(numpy={"by": "the board"}),
            "written_by .* found; the versions of libraries by name are required",
        ),
        (
            lambda said: said.pop("written_by"),
            "written_by None found; the versions of libraries by name are required",
        ),
        (
            lambda said: said["rounds"][0].update(original_digest={"a": 1}),
            "do not give rounds that can be judged .*original_digest",
        ),
        (
            lambda said: said["rounds"][0].update(original_digest="approved"),
            "do not give rounds that can be judged .*original_digest",
        ),
    ],
)
def test_what_a_manifest_alone_says_has_its_form(copy, change, said):
    edit(copy, "manifest.json", change)
    refused(copy, said)


def test_what_nothing_in_a_release_gives_is_known_to_the_log_of_its_store(copy, released):
    """A policy's description decides nothing, and its author's words cannot be derived: the manifest that was let out can be asked for."""
    store = Store(released.parents[2], salt=b"a salt for tests")
    assert open_release(copy, store=store).rounds == ("r1", "r2")
    edit(copy, "manifest.json", lambda manifest: manifest["written_by"].update(numpy="1.0"))
    assert verify_release(copy).rounds == ("r1", "r2")
    with pytest.raises(
        ReleaseInvalidError, match="no such release in force found in the log"
    ) as refusal:
        open_release(copy, store=store)
    assert refusal.value.code == "release_not_in_log"


def test_forged_estimates_do_not_come_out_again(copy):
    edit(
        copy,
        "agreement_report.json",
        lambda report: report["rounds"]["r1"]["estimates"][0].update(low=0.999),
    )
    refused(
        copy,
        r"agreement_report.json, rounds, r1, estimates 1, low is 0.999 and comes out as 0\.\d+",
    )


def test_a_policy_that_was_relaxed_afterwards_does_not_give_the_decision(copy):
    edit(copy, "policy.json", lambda data: data["policy"]["rules"][0].update(reliable=0.7))
    refused(copy, "manifest.json, policy_digest is .* and comes out as .* when derived again")


def test_a_policy_contract_or_scale_that_is_none_is_refused(copy):
    edit(copy, "policy.json", lambda data: data["policy"].update(rules=[]))
    refused(copy, "policy.json: not readable .*; a policy, a contract and a scale are required")
    edit(copy, "policy.json", lambda data: data.pop("scale"))
    refused(copy, "policy.json: not readable")


def test_edited_annotations_do_not_give_the_digest(copy):
    edit_table(copy, ANNOTATIONS, lambda table: table.set_column(4, "label", [["no"] * len(table)]))
    refused(
        copy,
        r"manifest.json, rounds 1, ratings_digest is .* and comes out as .* when derived again",
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.set_column(4, "label", [["perhaps"] * len(table)]),
        lambda table: table.drop_columns(["round"]),
        lambda table: table.drop_columns(["kind"]),
        lambda table: table.set_column(0, "round", [["r3"] * len(table)]),
        lambda table: table.slice(0, 300).set_column(0, "round", [["r1"] * 300]),
    ],
)
def test_annotations_that_are_no_rounds_are_refused(copy, change):
    edit_table(copy, ANNOTATIONS, change)
    refused(copy, "do not give rounds that can be judged")


def test_annotations_that_are_no_table_are_refused(copy):
    forge(copy, ANNOTATIONS, b"PAR1 not really")
    refused(copy, "Parquet file: .*; a readable one is required")


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.set_column(2, "label", [[1] * len(table)]),
        lambda table: table.slice(1),
        lambda table: table.take([1, 0, *range(2, len(table))]),
        lambda table: table.drop_columns(["votes"]),
        lambda table: table.replace_schema_metadata(
            {
                b"huggingface": table.schema.metadata[b"huggingface"].replace(
                    b'["no", "yes"]', b'["yes", "no"]'
                )
            }
        ),
        lambda table: table.set_column(6, "entropy_bits", [[0.5] * len(table)]),
    ],
)
def test_training_rows_that_the_annotations_do_not_give_are_refused(copy, change):
    edit_table(copy, TRAIN, change)
    refused(copy, f"rows of {TRAIN} found that the consensus of the annotations does not give")


def test_a_row_put_among_the_unresolved_is_refused(copy):
    forge(copy, "data/unresolved-00000-of-00001.parquet", (copy / TRAIN).read_bytes())
    refused(copy, "rows of data/unresolved-00000-of-00001.parquet found")


def test_a_release_that_is_consistent_and_not_admitted_is_refused(tmp_path):
    """As somebody would make it who has the code and leaves out the lock."""
    held = Member.assessed("r1", "0" * 64, make_ratings(disagreements=60), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("forged", contents("demo", [held], POLICY, CONTRACT))
    refused(
        tmp_path / "forged",
        r"round r1 is not admitted \(krippendorff_alpha 0\.\d+.*an admitted one is required",
    )


def test_a_stricter_policy_can_be_required(copy):
    assert open_release(copy, require=POLICY).policy == POLICY
    with pytest.raises(
        ReleaseHeldError, match=r"round r1 held under policy strict version 1 \(krippendorff_alpha"
    ):
        open_release(copy, require=STRICTER)


@pytest.fixture(scope="module")
def judged_at_any_time(tmp_path_factory):
    folder = tmp_path_factory.mktemp("any time")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    table = pd.concat([make_ratings(prefix, disagreements=1).table for prefix in "abcde"])[
        ["item", "rater", "label"]
    ]
    store.ingest("r1", Ratings.from_frame(table, Scale(("no", "yes"))), folder / "export.csv")
    policy = Policy(
        "filling",
        1,
        (Rule("krippendorff_alpha"), Rule("gwet_ac1")),
        n_resamples=20_000,
        familywise="holm",
        always_valid_at=400,
    )
    return release_dataset(store, ["r1"], policy, CONTRACT, project="demo").path


def test_a_release_judged_at_any_time_and_together_proves_itself_and_says_so(judged_at_any_time):
    found = verify_release(judged_at_any_time)
    manner = (
        "Judged at any time, with always valid limits that are tightest at 400 items "
        "(or clusters). All verdicts together have 95 % confidence (Holm)."
    )
    assert found.decisions["r1"]["manner"] == found.policy.manner == manner
    assert (
        "Judged at any time, with always valid limits that are tightest at 400 items (or clusters)"
        in (judged_at_any_time / "README.md").read_text()
    )


@pytest.mark.parametrize(
    ("key", "value"), [("familywise", "none"), ("always_valid_at", None), ("always_valid_at", 300)]
)
def test_a_release_whose_policy_says_it_was_judged_otherwise_is_refused(
    judged_at_any_time, tmp_path, key, value
):
    copy = shutil.copytree(judged_at_any_time, tmp_path / "downloaded")
    edit(copy, "policy.json", lambda data: data["policy"].update({key: value}))
    with pytest.raises(ReleaseInvalidError, match="derived again"):
        verify_release(copy)


def test_a_decision_that_says_it_was_judged_otherwise_is_refused(judged_at_any_time, tmp_path):
    copy = shutil.copytree(judged_at_any_time, tmp_path / "downloaded")
    edit(
        copy,
        "decision.json",
        lambda data: data["r1"].update(manner="Judged once. Each verdict has its own 95 % confidence."),
    )
    with pytest.raises(ReleaseInvalidError, match="manner"):
        verify_release(copy)
