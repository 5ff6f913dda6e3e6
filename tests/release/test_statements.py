"""A statement on a release is signed by somebody else, and a release is bound to it."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.release import Demands, Signed, open_release, statement, statement_of
from agreement_pipeline.store import Store, digest_of
from tests.cli.rounds import unanimous
from tests.release.rounds import make_ratings, released

ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")

NOW = datetime(2026, 11, 26, 9, 30, tzinfo=UTC)
MAKERS = {
    "Ed25519": ed25519.Ed25519PrivateKey.generate,
    "P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "P-384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "P-521": lambda: ec.generate_private_key(ec.SECP521R1()),
}
HASHES = {256: hashes.SHA256, 384: hashes.SHA384, 521: hashes.SHA512}


def encoded(kind, payload):
    """What DSSE signs, as its protocol says: each part with its length in ASCII."""
    parts = [b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload]
    return b" ".join(parts)


def signed(envelope, key):
    """The envelope with a signature, made by another library than the one that reads it."""
    found = json.loads(envelope)
    over = encoded(found["payloadType"].encode(), base64.b64decode(found["payload"]))
    of_curve = isinstance(key, ec.EllipticCurvePrivateKey)
    how = (ec.ECDSA(HASHES[key.curve.key_size]()),) if of_curve else ()
    signature = base64.b64encode(key.sign(over, *how)).decode()
    return json.dumps({**found, "signatures": [{"keyid": "team", "sig": signature}]})


def public(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release that no test of this file changes."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    store.ingest("r1", make_ratings(disagreements=2), folder / "export.csv")
    return open_release(released(store).path)


@pytest.fixture
def files(tmp_path):
    return tmp_path / "release.dsse.json", tmp_path / "team.pem"


def opened(release, files):
    return open_release(release.path, require=Demands(signed=Signed(*files)))


def said_in(envelope):
    return json.loads(base64.b64decode(json.loads(envelope)["payload"]))


@pytest.mark.parametrize("maker", MAKERS)
def test_a_release_opens_with_a_statement_that_the_key_signed(release, files, maker):
    key = MAKERS[maker]()
    envelope, pem = files
    envelope.write_text(signed(statement_of(release, NOW), key))
    pem.write_bytes(public(key))
    assert opened(release, files).rounds == release.rounds


def test_the_statement_is_a_simple_verification_result_of_the_manifest(release):
    found = said_in(statement_of(release, NOW))
    manifest = (Path(release.path) / "manifest.json").read_bytes()
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/svr/v0.2"
    assert found["subject"] == [
        {"name": "manifest.json", "digest": {"sha256": digest_of(manifest)}}
    ]
    predicate = found["predicate"]
    assert predicate["timeCreated"] == "2026-11-26T09:30:00Z"
    assert "AGREEMENT_ADMITTED" in predicate["properties"]
    assert predicate["verifier"]["policies"][0]["digest"]["sha256"] == release.policy.digest


def changed(**more):
    """A statement on the release with other words, signed as it should be."""

    def change(envelope):
        found = json.loads(envelope)
        said = json.loads(base64.b64decode(found["payload"]))
        for path, value in more.items():
            *way, last = path.split("__")
            place = said
            for each in way:
                place = place[int(each) if each.isdecimal() else each]
            place[last] = value
        return json.dumps(
            {**found, "payload": base64.b64encode(json.dumps(said).encode()).decode()}
        )

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (changed(_type="https://in-toto.io/Statement/v0.1"), "a statement of in-toto"),
        (changed(predicateType="urn:agreement-pipeline:held:1"), "a result of a verification"),
        (changed(predicate__properties=[]), "an admitted release"),
        (changed(predicate__properties="NOT_AGREEMENT_ADMITTED"), "an admitted release"),
        (changed(predicate__properties={"AGREEMENT_ADMITTED": False}), "an admitted release"),
        (changed(predicate__verifier__policies=[]), "the policy of this release"),
        (changed(subject=[]), "this release"),
        (changed(subject__0__digest={"sha256": "0" * 64}), "this release"),
        (changed(subject=None), "a signed statement that cannot be read"),
        (changed(predicate=[]), "a signed statement that cannot be read"),
    ],
)
def test_a_signed_statement_on_something_else_is_refused(release, files, change, why):
    key = MAKERS["Ed25519"]()
    envelope, pem = files
    pem.write_bytes(public(key))
    envelope.write_text(signed(change(statement_of(release, NOW)), key))
    with pytest.raises(ReleaseInvalidError, match=why) as refusal:
        opened(release, files)
    assert refusal.value.code == "release_not_signed"


def test_an_envelope_may_be_in_the_alphabet_for_urls(release, files):
    key, (envelope, pem) = MAKERS["Ed25519"](), files
    pem.write_bytes(public(key))
    found = json.loads(signed(statement_of(release, NOW), key))
    over = base64.b64decode(found["payload"])
    safe = json.dumps({**json.loads(over), "more": "??>>~~\xff"}, ensure_ascii=False).encode()
    found = json.loads(
        signed(json.dumps({**found, "payload": base64.b64encode(safe).decode()}), key)
    )
    found["payload"] = base64.urlsafe_b64encode(safe).decode()
    (one,) = found["signatures"]
    one["sig"] = base64.urlsafe_b64encode(base64.b64decode(one["sig"])).decode()
    assert {*"-_"} & {*found["payload"]}
    envelope.write_text(json.dumps(found))
    assert opened(release, files).rounds == release.rounds


def test_a_statement_that_says_a_thing_twice_is_refused(release, files):
    key, (envelope, pem) = MAKERS["Ed25519"](), files
    pem.write_bytes(public(key))
    found = json.loads(statement_of(release, NOW))
    over = base64.b64decode(found["payload"]).decode()
    twice = over.replace("{", '{"predicateType": "urn:agreement-pipeline:held:1", ', 1)
    found["payload"] = base64.b64encode(twice.encode()).decode()
    envelope.write_text(signed(json.dumps(found), key))
    with pytest.raises(ReleaseInvalidError, match="has only 4 different ones"):
        opened(release, files)


def test_a_signed_statement_on_a_held_decision_admits_nothing(release, files):
    key, (envelope, pem) = MAKERS["Ed25519"](), files
    pem.write_bytes(public(key))
    held = {"r1": {**release.decisions["r1"], "decision": "held"}}
    on = {"manifest.json": release.manifest_digest}
    envelope.write_text(signed(statement(on, held, release.policy, NOW), key))
    with pytest.raises(ReleaseInvalidError, match="not about a result of a verification"):
        opened(release, files)


def with_other_payload(text):
    found = json.loads(text)
    said = base64.b64decode(found["payload"]).replace(b"AGREEMENT_ADMITTED", b"AGREEMENT_ADMITTEd")
    return json.dumps({**found, "payload": base64.b64encode(said).decode()})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (with_other_payload, "no signature by"),
        (lambda text: json.dumps({**json.loads(text), "signatures": []}), "no signature by"),
        (lambda text: json.dumps({**json.loads(text), "payloadType": "text"}), "no signature by"),
        (lambda text: text[:-9], "no envelope that can be read"),
        (lambda _: "[]", "no envelope that can be read"),
        (lambda _: '{"payload": 1}', "no envelope that can be read"),
        (lambda _: "[" * 200_000, "no envelope that can be read"),
    ],
)
def test_an_envelope_that_was_changed_after_it_was_signed_is_refused(release, files, change, why):
    key = MAKERS["P-256"]()
    envelope, pem = files
    pem.write_bytes(public(key))
    envelope.write_text(change(signed(statement_of(release, NOW), key)))
    with pytest.raises(ReleaseInvalidError, match=why):
        opened(release, files)


def test_another_key_and_no_key_sign_nothing(release, files):
    envelope, pem = files
    envelope.write_text(signed(statement_of(release, NOW), MAKERS["P-256"]()))
    for key, why in (
        (public(MAKERS["P-256"]()), "no signature by"),
        (public(rsa.generate_private_key(65537, 2048)), "neither Ed25519 nor ECDSA"),
        (b"no key", "no public key in"),
    ):
        pem.write_bytes(key)
        with pytest.raises(ReleaseInvalidError, match=why):
            opened(release, files)
    pem.unlink()
    with pytest.raises(ReleaseInvalidError, match="no public key in"):
        opened(release, files)


def test_verify_writes_a_statement_and_asks_for_its_signature(release, files, capsys):
    envelope, pem = files
    path, key = str(release.path), MAKERS["Ed25519"]()
    assert main(["verify", path, "--statement", str(envelope)]) == 0
    by = ["--signed", str(envelope), "--signed-by", str(pem)]
    pem.write_bytes(public(key))
    assert main(["verify", path, *by]) == 24
    assert "refused (release_not_signed)" in capsys.readouterr().out
    envelope.write_text(signed(envelope.read_bytes(), key))
    capsys.readouterr()
    assert main(["verify", path, *by]) == 0
    assert "A signature vouches for them. Only --store can tell" in capsys.readouterr().out
    assert main(["verify", path, *by[:2]]) == 2
    assert "expected both or none" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{}", b'{"payloadType": "text/plain"}', b"[1]", b"\xff"])
def test_a_statement_replaces_no_other_file(release, tmp_path, capsys, content):
    """The log of a store is a file as any other."""
    target = tmp_path / "000001.json"
    target.write_bytes(content)
    assert main(["verify", str(release.path), "--statement", str(target)]) == 2
    assert "which is no unsigned statement; expected a new file" in capsys.readouterr().err
    assert target.read_bytes() == content


def test_a_statement_replaces_an_unsigned_one_and_no_signed_one(release, files):
    envelope, _ = files
    asked = ["verify", str(release.path), "--statement", str(envelope)]
    assert (main(asked), main(asked)) == (0, 0)
    signed_statement = signed(envelope.read_bytes(), MAKERS["Ed25519"]())
    envelope.write_text(signed_statement)
    assert main(asked) == 2
    assert envelope.read_text() == signed_statement


def test_no_statement_is_written_into_a_release(release, capsys):
    target = Path(release.path) / "manifest.json"
    before = target.read_bytes()
    assert main(["verify", str(release.path), "--statement", str(target)]) == 2
    assert "expected a file beside it" in capsys.readouterr().err
    assert target.read_bytes() == before


@pytest.mark.parametrize(("n_items", "kind"), [(500, "svr/v0.2"), (12, "held:1")])
def test_judge_states_what_it_decided_on_the_bytes_of_a_table(tmp_path, n_items, kind):
    table, target = unanimous(tmp_path, n_items), tmp_path / "decision.dsse.json"
    asked = ["judge", str(table), "--exclude-rater", "c", "--policy", "standard"]
    main([*asked, "--statement", str(target)])
    found = said_in(target.read_bytes())
    assert found["predicateType"].endswith(kind)
    assert found["subject"] == [
        {
            "name": str(table),
            "digest": {"sha256": digest_of(table.read_bytes())},
            "annotations": {"read": f"{table} --exclude-rater c"},
        }
    ]
    held = found["predicate"].get("decisions", {})
    assert [each["codes"] for each in held.values()] == [["too_few_items"]] * (n_items == 12)


def test_what_was_not_judged_has_no_statement(tmp_path, capsys):
    target = tmp_path / "decision.dsse.json"
    (tmp_path / "bad.csv").write_text("item,rater,label\ni1,ana\n")
    words = ["--policy", "standard", "--statement", str(target)]
    assert main(["judge", str(unanimous(tmp_path, 500)), str(tmp_path / "bad.csv"), *words]) == 2
    assert main(["judge", "-", *words]) == 2
    assert "expected tables in files with it" in capsys.readouterr().err
    assert not target.exists()


def test_a_statement_is_not_written_over_a_table(tmp_path, capsys):
    table = unanimous(tmp_path, 12)
    before = table.read_bytes()
    over = f"{tmp_path}/../{tmp_path.name}/{table.name}"
    assert main(["judge", str(table), "--policy", "standard", "--statement", over]) == 2
    assert "expected another file" in capsys.readouterr().err
    assert table.read_bytes() == before


def test_nothing_is_admitted_by_a_statement_with_a_held_decision(release):
    held = {"r2": {**release.decisions["r1"], "decision": "held"}}
    found = said_in(statement({"a": "b"}, release.decisions | held, release.policy, NOW))
    assert found["predicateType"] == "urn:agreement-pipeline:held:1"
    assert "properties" not in found["predicate"]
