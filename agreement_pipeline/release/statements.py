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
VERIFIED = "https://in-toto.io/attestation/svr/v0.2"
HELD = "urn:agreement-pipeline:held:1"
"""This one is ours, since a Simple Verification Result knows no held rounds."""

ADMITTED, WITHOUT_WAIVERS, NOT_TENTATIVE = (
    f"AGREEMENT_{name}" for name in ("ADMITTED", "WITHOUT_WAIVERS", "NOT_TENTATIVE")
)
STANDARD = str.maketrans("-_", "+/")
"""An envelope may have the safe alphabet of base64 or the usual one."""
HOW = "Sign the statement that verify writes with --statement."


def statement(
    subjects: Mapping[str, str],
    decisions: Mapping[str, Mapping[str, Any]],
    policy: Policy,
    when: datetime,
    read: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """An envelope without signatures, with the statement on decisions under a policy.

    Its predicate is in-toto's Simple Verification Result 0.2 if every decision admits, else one of
    our own. `subjects` has the SHA-256 of each file, and `read` how it was read, since options may
    leave a part of it out of the decision.
    """
    named = {"name": f"{policy.policy}, version {policy.version}"}
    ours: dict[str, Any] = {
        "verifier": {
            "id": f"urn:agreement-pipeline:{__version__}",
            "policies": [{**named, "digest": {"sha256": policy.digest}}],
        },
        "timeCreated": f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
    every = decisions.values()
    admitted = all(each["decision"] == "admitted" for each in every)
    properties = {
        ADMITTED: True,
        WITHOUT_WAIVERS: not any(each["waivers"] for each in every),
        NOT_TENTATIVE: not any(each["tentative"] for each in every),
    }
    found = {"properties": [name for name, holds in properties.items() if holds]}
    said = {
        "_type": STATEMENT,
        "subject": [
            {
                "name": name,
                "digest": {"sha256": it},
                **({"annotations": {"read": read[name]}} if name in read else {}),
            }
            for name, it in subjects.items()
        ],
        "predicateType": VERIFIED if admitted else HELD,
        "predicate": {**ours, **(found if admitted else {"decisions": dict(decisions)})},
    }
    payload = base64.b64encode(as_json(said)).decode()
    return as_json({"payloadType": PAYLOAD, "payload": payload, "signatures": []})


def statement_of(release: Release, when: datetime) -> bytes:
    return statement({MANIFEST: release.manifest_digest}, release.decisions, release.policy, when)


@dataclass(frozen=True)
class Signed:
    """The demand that somebody signed the statement on a release.

    The key is the signer's public one as PEM: Ed25519, or ECDSA on a curve of NIST.
    """

    envelope: Path
    key: Path

    def refuse_unsigned(self, release: Release) -> None:
        said = self._payload()
        try:
            predicate, subjects = said["predicate"], _digests(said["subject"])
            properties = predicate.get("properties")
            policies = _digests(predicate["verifier"]["policies"])
            checks = {
                "a statement of in-toto": said["_type"] == STATEMENT,
                "a result of a verification": said["predicateType"] == VERIFIED,
                "an admitted release": isinstance(properties, list) and ADMITTED in properties,
                "the policy of this release": release.policy.digest in policies,
                "this release": release.manifest_digest in subjects,
            }
        except MISREAD as cause:
            raise self._refusal(f"a signed statement that cannot be read ({cause!r})") from None
        if wrong := [what for what, holds in checks.items() if not holds]:
            raise self._refusal(f"a signed statement that is not about {wrong[0]}")

    def _payload(self) -> Any:
        try:
            found = json.loads(self.envelope.read_bytes())
            payload = base64.b64decode(found["payload"].translate(STANDARD), validate=True)
            kind = found["payloadType"]
            sent = [each["sig"].translate(STANDARD) for each in found["signatures"]]
            signatures = [base64.b64decode(each) for each in sent]
            signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
            said = json.loads(payload, object_pairs_hook=_once)
        except (OSError, *MISREAD) as cause:
            raise self._refusal(f"no envelope that can be read ({cause})") from None
        if kind != PAYLOAD or not any(self._is_by_key(each, signed) for each in signatures):
            raise self._refusal(f"no signature by {self.key} among {len(signatures)}")
        return said

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
            raise MissingExtraError.of("signed statements", "cryptography", "signing") from None
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

    def _refusal(self, found: str) -> ReleaseInvalidError:
        return ReleaseInvalidError(
            f"{self.envelope}: found {found}; expected the statement that this release was "
            f"verified, signed by {self.key}. {HOW}",
            "release_not_signed",
        )


def _digests(described: Any) -> list[Any]:
    return [each["digest"]["sha256"] for each in described]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Another reader may take the first of two equal keys."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object of {len(pairs)} keys has only {len(found)} different ones")
    return found
