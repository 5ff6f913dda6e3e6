"""Two classifiers are two if a part of what is known of them differs, whatever their name."""

import hashlib
from dataclasses import replace
from datetime import date

import pytest

from agreement_pipeline.errors import CertificateError
from agreement_pipeline.models import Identity, load_identity

WHOLE = Identity(
    "judge", "m", "3", "a" * 64, "b" * 64, {"temperature": 0, "stop": ["x"]}, date(2026, 1, 1)
)


def written(folder, text):
    (folder / "judge.txt").write_text("Is it rude?", encoding="utf-8")
    path = folder / "judge.yaml"
    path.write_text(text, encoding="utf-8")
    return load_identity(path)


def test_a_prompt_and_a_rubric_are_bound_by_their_bytes(tmp_path):
    found = written(tmp_path, "name: judge\nprompt: judge.txt\nrubric: judge.txt\n")
    digest = hashlib.sha256(b"Is it rude?").hexdigest()
    assert (found.prompt_digest, found.rubric_digest) == (digest, digest)
    assert found.absent == ("model", "version", "parameters", "date")
    before = found.digest
    (tmp_path / "judge.txt").write_text("Is it rude ?", encoding="utf-8")
    assert load_identity(tmp_path / "judge.yaml").digest != before


def test_a_file_says_all_of_it(tmp_path):
    text = (
        "name: judge\nmodel: m\nversion: '3'\n"
        f"prompt_digest: {'a' * 64}\nrubric_digest: {'b' * 64}\n"
        "parameters: {stop: [x], temperature: 0.0}\ndate: 2026-01-01\n"
    )
    assert written(tmp_path, text).digest == WHOLE.digest


def test_plain_data_make_it_again():
    assert Identity.from_mapping(WHOLE.to_mapping()).digest == WHOLE.digest
    assert Identity.from_mapping(Identity("judge").to_mapping()) == Identity("judge")


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("name", "jury"),
        ("model", None),
        ("version", "4"),
        ("prompt_digest", "c" * 64),
        ("rubric_digest", None),
        ("parameters", {"temperature": 0}),
        ("parameters", {"temperature": 0, "stop": ["y"]}),
        ("date", date(2026, 1, 2)),
    ],
)
def test_each_part_makes_another_classifier(part, other):
    changed = replace(WHOLE, **{part: other})
    assert changed.digest != WHOLE.digest
    with pytest.raises(CertificateError) as caught:
        changed.refuse_other(WHOLE)
    assert caught.value.code == f"certificate_other_{part.removesuffix('_digest')}"
    WHOLE.refuse_other(WHOLE)


def test_what_is_not_known_of_a_classifier_is_not_called_none():
    unknown = replace(WHOLE, model=None)
    for one, other in ((unknown, WHOLE), (WHOLE, unknown)):
        with pytest.raises(CertificateError) as caught:
            one.refuse_other(other)
        assert "no model" in str(caught.value)
        assert "None" not in str(caught.value)
    with pytest.raises(CertificateError, match="Another parameter is another classifier"):
        replace(WHOLE, parameters={"temperature": 0}).refuse_other(WHOLE)


def test_the_order_of_parameters_and_the_form_of_numbers_say_nothing():
    same = replace(WHOLE, parameters={"stop": ["x"], "temperature": 0.0})
    assert same.digest == WHOLE.digest


def test_true_is_not_one():
    assert Identity("j", parameters={"a": True}).digest != Identity("j", parameters={"a": 1}).digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model: m\n", "Add the key name"),
        ("name: ' '\n", "expected text"),
        ("name: judge\nmodle: m\n", "Did you mean 'model'"),
        ("name: judge\nprompt: other.txt\n", "yaml:2: prompt: found 'other.txt'"),
        (
            f"name: j\nprompt: {'Is it rude? ' * 50}\n",
            r"yaml:2: prompt: found 'Is it rude\?.{48}…; ex",
        ),
        (f"name: j\nprompt: judge.txt\nprompt_digest: {'a' * 64}\n", "no prompt_digest beside"),
        ("name: judge\nprompt_digest: abc\n", "64 hexadecimal digits"),
        (f"name: judge\nprompt_digest: {'A' * 64}\n", "64 hexadecimal digits in lower case"),
        ("name: judge\nparameters: {a: .nan}\n", "finite numbers"),
        ("name: judge\nparameters: {a: 2026-01-01}\n", "finite numbers"),
        ("name: judge\nparameters: [a]\n", "finite numbers"),
        ("name: judge\ndate: soon\n", "a day, as 2027-01-31"),
        ("- judge\n", "a mapping"),
    ],
)
def test_what_is_no_identity_is_refused(tmp_path, text, words):
    with pytest.raises(CertificateError, match=words):
        written(tmp_path, text)


def test_false_is_not_the_parameter_0():
    of_false, of_0 = (Identity("judge", parameters={"seed": seed}) for seed in (False, 0))
    with pytest.raises(CertificateError, match=r"found parameters .*[Ff]alse.*; expected .*0"):
        of_false.refuse_other(of_0)
