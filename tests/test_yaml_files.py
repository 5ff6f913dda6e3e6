"""Every mistake of a file is named once, with its line."""

import re
from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, Strict, field_validator

from agreement_pipeline import yaml_files
from agreement_pipeline.errors import AgreementError, PolicyError
from agreement_pipeline.models import load_identity
from agreement_pipeline.policy import load_policy, load_waiver
from agreement_pipeline.projects import load_project
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings


@dataclass(frozen=True)
class Size:
    rows: Annotated[int, Strict(), Field(ge=1)] = 1
    named: tuple[str, ...] = ()

    def __post_init__(self):
        if self.rows == 7:
            raise ValueError("found rows 7; expected another number. Correct it.")


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    share: Annotated[float, Strict(), Field(gt=0, lt=1)] = 0.5


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    kind: Literal["one", "two"] = "one"
    size: Size = Size()
    entries: list[Entry] = []
    values: list[str | float] = []
    by_name: dict[str, Entry | None] = {}
    exact: bool = False

    @field_validator("name")
    @classmethod
    def _short(cls, value):
        if len(value) > 3:
            raise ValueError(f"found {value!r}; expected three letters. Shorten it.")
        return value


def checked(folder, text):
    path = folder / "s.yaml"
    path.write_text(text)
    return validate_settings(Settings, *read_yaml(path, PolicyError), PolicyError)


def mistakes(folder, text):
    with pytest.raises(PolicyError) as caught:
        checked(folder, text)
    return [part for part in re.split(rf" ?{re.escape(str(folder))}/", str(caught.value)) if part]


def test_a_file_without_a_mistake_gives_the_settings(tmp_path):
    found = checked(tmp_path, "name: abc\nsize: {rows: 2, named: [a]}\nvalues: [x, 1.5]\n")
    assert found == Settings(name="abc", size=Size(2, ("a",)), values=["x", 1.5])
    assert hash(found.size) == hash(Size(2, ("a",)))


def test_all_mistakes_are_named_with_their_lines_in_the_order_of_the_file(tmp_path):
    text = """
kind: three
nmae: abcd
size:
  rows: true
  named: ana
  cols: 3
entries:
  - name: 5
  - share: 1
    name: x
values: [null]
exact: 7
"""
    assert mistakes(tmp_path, text) == [
        "s.yaml:2: name: found nothing; expected a value. Add the key name.",
        "s.yaml:2: kind: found 'three'; expected 'one' or 'two'. Correct the value.",
        "s.yaml:3: nmae: found an unknown key; expected one of ['name', 'kind', 'size', 'entries', "
        "'values', 'by_name', 'exact']. Did you mean 'name'?",
        "s.yaml:5: rows: found True; expected a whole number. Correct the value.",
        "s.yaml:6: named: found 'ana'; expected a list. Correct the value.",
        "s.yaml:7: cols: found an unknown key; expected one of ['rows', 'named']. "
        "Correct the spelling, or remove the key.",
        "s.yaml:9: entries[0].name: found 5; expected text. Correct the value.",
        "s.yaml:10: entries[1].share: found 1; expected a number under 1.0. Correct the value.",
        "s.yaml:12: values[0]: found None; expected text or a number. Correct the value.",
        "s.yaml:13: exact: found 7; expected true or false. Correct the value.",
    ]


def test_the_known_keys_are_told_once_where_several_are_unknown(tmp_path):
    found = mistakes(tmp_path, "name: abc\nsize: {}\nwho: x\nwhy: y\nrows: 3\n")
    among = "['name', 'kind', 'size', 'entries', 'values', 'by_name', 'exact']"
    assert found == [
        f"s.yaml:3: who: found an unknown key; expected one of {among}. "
        "Correct the spelling, or remove the key.",
        "s.yaml:4: why: found an unknown key; expected one of the same keys. "
        "Correct the spelling, or remove the key.",
        "s.yaml:5: rows: found an unknown key; expected one of the same keys. "
        "Correct the spelling, or remove the key.",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: abcd\n", "s.yaml:1: name: found 'abcd'; expected three letters. Shorten it."),
        (
            "name: abc\nsize:\n  rows: 7\n",
            "s.yaml:2: size: found rows 7; expected another number. Correct it.",
        ),
        (
            "name: yes\n",
            "s.yaml:1: name: found True; expected text. Put yes, no, true and false in quotes.",
        ),
        (
            "name: abc\nentries: [{name: a, shares: 1}]\n",
            "s.yaml:2: entries[0].shares: found an unknown key; expected one of ['name', 'share']. "
            "Did you mean 'share'?",
        ),
        (
            "name: abc\nby_name: {x: {nam: a, name: b}}\n",
            "s.yaml:2: nam: found an unknown key; expected one of ['name', 'share']. "
            "Did you mean 'name'?",
        ),
        (
            "- name\n",
            "s.yaml:1: found ['name']; expected a mapping of keys and values. Correct the value.",
        ),
        ("", "s.yaml: found None; expected a mapping of keys and values. Correct the value."),
        (
            f"name: abc\nkind: [{'x' * 90}]\n",
            f"s.yaml:2: kind: found ['{'x' * 58}…; expected 'one' or 'two'. Correct the value.",
        ),
    ],
)
def test_one_mistake_reads_like_every_other_error(tmp_path, text, words):
    assert mistakes(tmp_path, text) == [words]


def test_of_very_many_mistakes_the_first_are_named_and_the_rest_counted(tmp_path):
    with pytest.raises(PolicyError) as caught:
        checked(tmp_path, "name: abc\n" + "".join(f"key{n}: 1\n" for n in range(5_000)))
    text = str(caught.value)
    assert text.count("found an unknown key") == yaml_files.MAX_MISTAKES
    assert text.endswith(f"And {5_000 - yaml_files.MAX_MISTAKES:,} more mistakes.")


def test_a_file_of_very_many_keys_is_refused_with_the_line_from_which_it_is_too_long(tmp_path):
    with pytest.raises(PolicyError, match=r":20001: found more than 40,000 keys and values"):
        checked(tmp_path, "name: abc\n" + "".join(f"key{n}: 1\n" for n in range(20_100)))


def test_data_without_lines_are_named_by_their_source():
    with pytest.raises(PolicyError, match=r"^here: name: found 3; expected text\. Correct the va"):
        validate_settings(Settings, {"name": 3}, Place("here"), PolicyError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1\n", "s.yaml:2: found text that is not readable as YAML ("),
        (
            "a: 1\nmin_items: 010\n",
            "s.yaml:2: found 010, which YAML 1.1 reads as 8; expected a number that everybody "
            "reads alike. Write 10 or 8, whichever you mean, or put a text in quotes.",
        ),
        (
            "a: [1, -0_17]\n",
            "s.yaml:1: found -0_17, which YAML 1.1 reads as -15; expected a number that everybody "
            "reads alike. Write -17 or -15, whichever you mean, or put a text in quotes.",
        ),
        (
            "1:30: 2\n",
            "s.yaml:1: found 1:30, which YAML 1.1 reads as 90; expected a number that everybody "
            "reads alike. Write 90, or put a text in quotes.",
        ),
        ("a: 1:30.5\n", "s.yaml:1: found 1:30.5, which YAML 1.1 reads as 90.5;"),
        ("a: 1\nb: 2\na: 3\n", "s.yaml:3: found key 'a' twice; expected each key once. Remove"),
        ("a: &x 1\n", "s.yaml:1: found an anchor or alias; expected values written out. Write"),
        ("\na: !!str 1\n", "s.yaml:2: found tag 'tag:yaml.org,2002:str'; expected values without"),
        (f"{'[' * 51}{']' * 51}", "s.yaml:1: found values nested 51 deep; expected at most 50."),
        ("a: \ud800", "s.yaml: found a file that cannot be read ("),
        ("a: " + "x" * 1_000_000, "s.yaml: found 1000003 bytes; expected at most 1000000. Keep"),
    ],
)
def test_yaml_that_hides_something_is_refused_with_its_line(tmp_path, text, words):
    path = tmp_path / "s.yaml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(PolicyError) as caught:
        read_yaml(path, PolicyError)
    assert str(caught.value).startswith(f"{tmp_path}/{words}")


def test_a_file_that_is_not_there_is_answered_with_the_nearest_one(tmp_path):
    (tmp_path / "moderation.yaml").write_text("project: moderation\n")
    for name, step in (("moderatoin.yaml", "Did you mean 'moderation.yaml'?"), ("x", "Check the")):
        with pytest.raises(
            PolicyError, match=r"found no such file; expected a YAML file\."
        ) as error:
            read_yaml(tmp_path / name, PolicyError)
        assert step in str(error.value)


FILES = {
    "a project": "project: p\ninbox: i\nscale: {categories: [a, b]}\npolicy: standard\n",
    "a policy": "policy: p\nversion: 1\nrules:\n  - measure: krippendorff_alpha\n",
    "a waiver": "project: p\nround: r\nuntil: 2027-01-31\n",
    "a classifier": "name: judge\nmodel: gpt\n",
}
READ = {
    "a project": load_project,
    "a policy": load_policy,
    "a waiver": load_waiver,
    "a classifier": load_identity,
}


@pytest.mark.parametrize(("found", "expected"), list(permutations(FILES, 2)))
def test_the_file_of_another_kind_is_named_as_such(tmp_path, found, expected):
    path = tmp_path / "p.yaml"
    path.write_text(FILES[found])
    with pytest.raises(AgreementError) as refused:
        READ[expected](path)
    words = f"found the file of {found}; expected that of {expected}. Name another file."
    assert str(refused.value) == f"{path}: {words}"
