"""What a release must prove, and how each forgery is refused."""

import pyarrow as pa
import pytest

from agreement_pipeline import ReleaseInvalidError
from agreement_pipeline.cli import main
from agreement_pipeline.release.decisions import today
from agreement_pipeline.release.folder import read_folder
from agreement_pipeline.release.opening import prove_release
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import digest_of
from agreement_pipeline.store.local import LocalStorage
from tests.release.forging import (
    ANNOTATIONS,
    CONTRACT,
    POLICY,
    TRAIN,
    edit,
    edit_table,
    forge,
    make_ratings,
    refused,
)
from tests.release.rounds import contents_of


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
    member = Member(round_name, "0" * 64, make_ratings(), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("forged", contents_of(project, member, POLICY, CONTRACT))
    refused(tmp_path / "forged", "found a name that is not allowed")
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
    cut = "1" + "0" * 59 + "…"
    refused(
        copy, rf"policy.json: found content that .* \(policy: .*: found {cut}; expected 0\.\d+ "
    )
    assert main(["verify", str(copy)]) == 1


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
        f"decision.json, {said.removeprefix('decision.json, ')}"
        ".*when derived again from the annotations",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda said: said.update(written_by="The Pope"),
            "found written_by 'The Pope'; expected the versions of libraries by name",
        ),
        (
            lambda said: said["written_by"].update(numpy={"by": "the board"}),
            "found written_by .*; expected the versions of libraries by name",
        ),
        (
            lambda said: said.pop("written_by"),
            "found written_by None; expected the versions of libraries by name",
        ),
        (
            lambda said: said["rounds"][0].update(original_digest={"a": 1}),
            "do not give rounds that can be judged .*original_digest",
        ),
        (
            lambda said: said["rounds"][0].update(original_digest="approved"),
            "do not give rounds that can be judged .*original_digest",
        ),
        (
            lambda said: said["rounds"][0].update(version=True),
            "do not give rounds that can be judged .*version",
        ),
        (
            lambda said: said["rounds"][0].update(version=0),
            "do not give rounds that can be judged .*version",
        ),
        (
            lambda said: said.update(schema="agreement-release/0"),
            "do not give rounds that can be judged .*schema",
        ),
    ],
)
def test_what_a_manifest_alone_says_has_its_form(copy, change, said):
    edit(copy, "manifest.json", change)
    refused(copy, said)


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
    refused(
        copy,
        "policy.json: found content that cannot be used .*; "
        "expected a policy, a contract and a scale",
    )
    edit(copy, "policy.json", lambda data: data.pop("scale"))
    refused(copy, "policy.json: found content that cannot be used")


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


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.set_column(3, "label", [["no"] * len(table)]),
        lambda table: table.set_column(4, "label_id", [[1] * len(table)]),
        lambda table: table.set_column(4, table.schema.field(4), pa.nulls(len(table), pa.int64())),
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
        lambda table: table.set_column(9, "entropy_bits", [[0.5] * len(table)]),
    ],
)
def test_training_rows_that_the_annotations_do_not_give_are_refused(copy, change):
    edit_table(copy, TRAIN, change)
    refused(copy, f"found rows of {TRAIN} that the consensus of the annotations does not give")


@pytest.mark.parametrize(
    "column",
    ["id", "label", "n_raters", "soft_label", "votes", "entropy_bits", "resolution"],
)
def test_training_data_with_a_value_missing_are_refused(copy, column):
    def change(table):
        at = table.column_names.index(column)
        field = table.schema.field(at)
        left = pa.array([None, *table[column].to_pylist()[1:]], field.type)
        return table.set_column(at, field, left)

    edit_table(copy, TRAIN, change)
    # Before version 25, Arrow cannot read a list of fixed length that is missing.
    unread = f"{TRAIN}: Parquet file: found one that cannot be read"
    other = f"found rows of {TRAIN} that the consensus of the annotations does not give"
    refused(copy, f"({unread}|{other})" if column in ("soft_label", "votes") else other)


def test_a_log_does_not_vouch_for_other_words_in_a_release_of_this_version(copy):
    forge(copy, "README.md", (copy / "README.md").read_bytes() + b"Ask nobody.\n")
    logged = {digest_of((copy / "manifest.json").read_bytes())}
    with pytest.raises(ReleaseInvalidError, match=r"README\.md"):
        prove_release(read_folder(copy), copy, today(), logged)


def test_a_row_put_among_the_unresolved_is_refused(copy):
    forge(copy, "unresolved/unresolved-00000-of-00001.parquet", (copy / TRAIN).read_bytes())
    refused(copy, "found rows of unresolved/unresolved-00000-of-00001.parquet that the consensus")
