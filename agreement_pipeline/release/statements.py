"""Statements about decisions that somebody can sign: in-toto, in an envelope of DSSE."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agreement_pipeline.errors import MISREAD, MissingExtraError, ReleaseInvalidError
from agreement_pipeline.policy import Policy
from agreement_pipeline.release.contents import MANIFEST, Release, as_json
from agreement_pipeline.version import __version__

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
VERIFIED_PREDICATE = "https://in-toto.io/attestation/svr/v0.2"
HELD_PREDICATE = "urn:agreement-pipeline:held:1"
"""This one is ours, since a Simple Verification Result knows no held rounds."""

ADMITTED, WITHOUT_WAIVERS, NOT_TENTATIVE = (
    f"AGREEMENT_{name}" for name in ("ADMITTED", "WITHOUT_WAIVERS", "NOT_TENTATIVE")
)
STANDARD = str.maketrans("-_", "+/")
"""An envelope may have the safe alphabet of base64 or the usual one."""
SIGNING_STEP = "Sign the statement that verify writes with --statement."


def statement(
    subjects: Mapping[str, str],
    decisions: Mapping[str, Mapping[str, Any]],
    policy: Policy,
    created_at: datetime,
    reading_by_file: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """An envelope without signatures, with the statement on decisions under a policy.

    Its predicate is in-toto's Simple Verification Result 0.2 if every decision admits, else one of
    our own. `subjects` has the SHA-256 of each file, and `reading_by_file` how it was read, since
    options may leave a part of it out of the decision.
    """
    policy_facts = {"name": f"{policy.policy}, version {policy.version}"}
    ours: dict[str, Any] = {
        "verifier": {
            "id": f"urn:agreement-pipeline:{__version__}",
            "policies": [{**policy_facts, "digest": {"sha256": policy.digest}}],
        },
        "timeCreated": f"{created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
    decision_values = decisions.values()
    admitted = all(decision["decision"] == "admitted" for decision in decision_values)
    properties = {
        ADMITTED: True,
        WITHOUT_WAIVERS: not any(decision["waivers"] for decision in decision_values),
        NOT_TENTATIVE: not any(decision["tentative"] for decision in decision_values),
    }
    result = {"properties": [name for name, holds in properties.items() if holds]}
    in_toto_statement = {
        "_type": STATEMENT,
        "subject": [
            {
                "name": name,
                "digest": {"sha256": digest},
                **(
                    {"annotations": {"read": reading_by_file[name]}}
                    if name in reading_by_file
                    else {}
                ),
            }
            for name, digest in subjects.items()
        ],
        "predicateType": VERIFIED_PREDICATE if admitted else HELD_PREDICATE,
        "predicate": {**ours, **(result if admitted else {"decisions": dict(decisions)})},
    }
    payload = base64.b64encode(as_json(in_toto_statement)).decode()
    return as_json({"payloadType": PAYLOAD, "payload": payload, "signatures": []})


def is_unsigned_statement(content: bytes) -> bool:
    """True for a file that `statement` wrote and nobody signed. Another one must not be lost."""
    try:
        envelope = json.loads(content)
        return bool(envelope["payloadType"] == PAYLOAD and envelope["signatures"] == [])
    except MISREAD:
        return False


def statement_of(release: Release, created_at: datetime) -> bytes:
    return statement(
        {MANIFEST: release.manifest_digest}, release.decisions, release.policy, created_at
    )


@dataclass(frozen=True)
class Signed:
    """The demand that somebody signed the statement on a release.

    The key is the signer's public one as PEM: Ed25519, or ECDSA on a curve of NIST.
    """

    envelope: Path
    key: Path

    def refuse_unsigned(self, release: Release) -> None:
        payload = self._payload()
        try:
            predicate, subjects = payload["predicate"], _subject_digests(payload["subject"])
            properties = predicate.get("properties")
            policies = _subject_digests(predicate["verifier"]["policies"])
            checks = {
                "a statement of in-toto": payload["_type"] == STATEMENT,
                "a result of a verification": payload["predicateType"] == VERIFIED_PREDICATE,
                "an admitted release": isinstance(properties, list) and ADMITTED in properties,
                "the policy of this release": release.policy.digest in policies,
                "this release": release.manifest_digest in subjects,
            }
        except MISREAD as cause:
            raise self._refusal(f"a signed statement that cannot be read ({cause!r})") from None
        if wrong := [expectation for expectation, holds in checks.items() if not holds]:
            raise self._refusal(f"a signed statement that is not about {wrong[0]}")

    def _payload(self) -> Any:
        try:
            envelope = json.loads(self.envelope.read_bytes())
            payload = base64.b64decode(envelope["payload"].translate(STANDARD), validate=True)
            kind = envelope["payloadType"]
            texts = [entry["sig"].translate(STANDARD) for entry in envelope["signatures"]]
            signatures = [base64.b64decode(text) for text in texts]
            signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
            payload_json = json.loads(payload, object_pairs_hook=_read_distinct_keys)
        except (OSError, *MISREAD) as cause:
            raise self._refusal(f"no envelope that can be read ({cause})") from None
        if kind != PAYLOAD or not any(
            self._is_by_key(signature, signed) for signature in signatures
        ):
            raise self._refusal(f"no signature by {self.key} among {len(signatures)}")
        return payload_json

    def _is_by_key(self, signature: bytes, signed: bytes) -> bool:
        try:
            from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
            from cryptography.hazmat.primitives.asymmetric.ec import (
                ECDSA,
                EllipticCurvePublicKey,
            )
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512
            from cryptography.hazmat.primitives.serialization import load_pem_public_key
        except ImportError:
            raise MissingExtraError.for_feature(
                "signed statements", "cryptography", "signing"
            ) from None
        try:
            key = load_pem_public_key(self.key.read_bytes())
        except (OSError, ValueError, UnsupportedAlgorithm) as cause:
            raise self._refusal(f"no public key in {self.key} ({cause})") from None
        try:
            if isinstance(key, Ed25519PublicKey):
                key.verify(signature, signed)
            elif isinstance(key, EllipticCurvePublicKey):
                hashed = {384: SHA384, 521: SHA512}.get(key.curve.key_size, SHA256)
                key.verify(signature, signed, ECDSA(hashed()))
            else:
                raise self._refusal(f"a key in {self.key} that is neither Ed25519 nor ECDSA")
        except InvalidSignature:
            return False
        return True

    def _refusal(self, problem: str) -> ReleaseInvalidError:
        return ReleaseInvalidError(
            f"{self.envelope}: found {problem}; expected the statement that this release was "
            f"verified, signed by {self.key}. {SIGNING_STEP}",
            "release_not_signed",
        )


def _subject_digests(described: Any) -> list[Any]:
    return [entry["digest"]["sha256"] for entry in described]


def _read_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Another reader may take the first of two equal keys."""
    json_object = dict(pairs)
    if len(json_object) < len(pairs):
        raise ValueError(
            f"an object of {len(pairs)} keys has only {len(json_object)} different ones"
        )
    return json_object
