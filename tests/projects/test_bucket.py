"""An inbox in a bucket, against a server that speaks S3: what is listed, fetched and refused."""

import gzip
from pathlib import Path

import fsspec
import pandas as pd
import pytest

from agreement_pipeline.errors import MissingExtraError, ProjectError, RatingsError, StoreError
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.store import objects as objects_module

TABLE = pd.DataFrame(
    [(f"i{n}", rater, "ab"[n % 2]) for n in range(4) for rater in ("ana", "ben")],
    columns=["item", "rater", "label"],
)
CSV = TABLE.to_csv(index=False).encode()
SAID = {"project": "p", "policy": "standard", "scale": {"categories": ["a", "b"]}}


class Inbox:
    """A folder of a bucket, and the project whose inbox it is."""

    def __init__(self, url: str, root: Path) -> None:
        self.url, self.root = f"{url}/inbox", root
        self.files = fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)

    def put(self, name: str, data: bytes = CSV) -> None:
        self.files.pipe_file(f"{self.url}/{name}", data)

    def project(self, **settings: object) -> Project:
        said = {**SAID, "inbox": self.url, "root": str(self.root), **settings}
        return Project(ProjectSettings(**said))


@pytest.fixture
def inbox(bucket, tmp_path):
    return Inbox(bucket, tmp_path)


def decided(project: Project, name: str) -> None:
    """Keep a round, and write the entry of a decision on it."""
    version = project.keep(*project.delivered(name))
    entry = {
        "decision": "admitted",
        "tentative": False,
        "ratings_digest": version.ratings_digest,
        "policy_digest": "0",
        "contract_digest": "0",
        "settings_digest": version.settings_digest,
        "code_version": "0",
        "waivers": [],
        "version": 1,
        "verdicts": [],
        "findings": [],
        "policy": {"policy": "standard", "version": 1},
    }
    project.store.record("decided", name, **entry)


def test_an_object_is_a_round_and_a_hidden_one_or_the_mark_of_a_folder_is_none(inbox):
    for name in ("w2.csv", "w1.csv.gz", ".w3.csv", "w4/a.csv", "w4/deeper/b.csv"):
        inbox.put(name)
    inbox.files.pipe_file(f"{inbox.url}/w5/", b"")
    inbox.files.pipe_file(f"{inbox.url}elsewhere/w6.csv", CSV)
    found = inbox.project().look().deliveries
    assert list(found) == ["w1", "w2", "w4"]
    assert str(found["w2"].path) == f"{inbox.url}/w2.csv"
    assert [each.name for each in found["w4"].files] == ["w4/a.csv", "w4/deeper/b.csv"]


def test_the_root_of_a_bucket_can_be_the_inbox(inbox):
    root = inbox.url.removesuffix("/store/inbox")
    inbox.files.pipe_file(f"{root}/w1.csv", CSV)
    for url in (root, f"{root}/"):
        assert len(inbox.project(inbox=url).delivered("w1")[1]) == 8


def test_what_is_fetched_is_read_and_kept_byte_for_byte(inbox):
    packed = gzip.compress(CSV)
    inbox.put("w1.csv.gz", packed)
    project = inbox.project()
    delivery, ratings = project.delivered("w1")
    assert len(ratings) == 8
    version = project.keep(delivery, ratings)
    kept = project.store.storage.read(f"originals/{version.original_digest}/w1.csv.gz")
    assert kept == packed


def test_a_folder_of_objects_is_one_round(inbox):
    half = len(TABLE) // 2
    inbox.put("w1/a.csv", TABLE[:half].to_csv(index=False).encode())
    inbox.put("w1/deeper/b.csv", TABLE[half:].to_csv(index=False).encode())
    project = inbox.project()
    delivery, ratings = project.delivered("w1")
    assert len(ratings) == 8
    version = project.keep(delivery, ratings)
    assert project.store.storage.names(f"originals/{version.original_digest}/w1") == (
        "a.csv",
        "deeper/b.csv",
    )


def test_a_page_of_a_list_is_one_request_and_no_object_is_asked_for(inbox, requests):
    for number in range(101):
        inbox.put(f"w{number:04}.csv", b"x")
    project = inbox.project()
    requests.clear()
    assert len(project.due()) == 101
    assert [method for method, _ in requests] == ["GET", "GET"]
    assert all("list-type=2" in url for _, url in requests)
    requests.clear()
    with pytest.raises(RatingsError):
        project.delivered("w0007")
    lists = [url for _, url in requests if "list-type=2" in url]
    assert len(lists) == 2
    assert all("w0007" in url for url in lists)
    assert [url.rpartition("/")[2] for _, url in requests if url not in lists] == ["w0007.csv"]


def test_a_round_is_due_until_it_is_decided_and_again_when_its_bytes_change(inbox):
    inbox.put("w1.csv")
    assert [each.round for each in inbox.project().due()] == ["w1"]
    decided(inbox.project(), "w1")
    assert inbox.project().due() == ()
    inbox.put("w1.csv")
    assert inbox.project().due() == ()
    inbox.put("w1.csv", CSV.replace(b"ben", b"chi"))
    assert [each.round for each in inbox.project().due()] == ["w1"]


def test_the_copy_is_removed_when_another_round_is_fetched_and_at_the_end(inbox):
    for name in ("w1", "w2"):
        inbox.put(f"{name}.csv")
    project = inbox.project()
    first = project.delivered("w1")[0].path
    assert first.read_bytes() == CSV
    second = project.delivered("w2")[0].path
    assert not first.parent.exists()
    assert second.exists()
    del project
    assert not second.parent.exists()


def test_an_error_names_the_object_and_the_row(inbox):
    inbox.put("w1.csv", CSV + b"i9,ana,maybe\n")
    inbox.put("w2/a.csv", CSV + b"i9,ana,maybe\n")
    project = inbox.project()
    for name in ("w1.csv", "w2"):
        with pytest.raises(RatingsError, match="maybe") as found:
            project.delivered(name.removesuffix(".csv"))
        assert str(found.value).startswith(f"{inbox.url}/{name}")
        assert "agreement-" not in str(found.value)
    assert str(found.value).count("a.csv") == 1
    assert set(project.unjudged()) == {"w1", "w2"}


def test_an_object_that_changes_while_it_is_fetched_is_fetched_again_later(inbox, monkeypatch):
    inbox.put("w1.csv")
    project = inbox.project()
    real = type(project._inbox._bucket).fetch

    def meanwhile(self, name, to):
        real(self, name, to)
        inbox.put(name, CSV + b"i9,ana,a\n")

    with monkeypatch.context() as changing:
        changing.setattr(type(project._inbox._bucket), "fetch", meanwhile)
        with pytest.raises(ProjectError, match=r"w1\.csv: found a change while it") as found:
            project.delivered("w1")
    assert found.value.may_pass
    assert len(project.delivered("w1")[1]) == 9


def test_an_object_that_was_replaced_after_it_was_fetched_is_not_kept(inbox):
    inbox.put("w1.csv")
    project = inbox.project()
    read = project.delivered("w1")
    inbox.put("w1.csv", CSV + b"i9,ana,a\n")
    with pytest.raises(ProjectError, match=r"found another delivery of round w1") as refused:
        project.keep(*read)
    assert refused.value.may_pass
    assert project.store.history() == ()
    assert project.keep(*project.delivered("w1")).round == "w1"


def test_a_round_in_two_objects_is_refused(inbox):
    for name in ("w1.csv", "w1.tsv", "w2.csv"):
        inbox.put(name)
    project = inbox.project()
    assert list(project.look().deliveries) == ["w2"]
    assert "found round 'w1' in more than one file" in project.look().refused["w1"]
    with pytest.raises(ProjectError, match="found round 'w1' in more than one file"):
        project.delivered("w1")


@pytest.mark.parametrize(
    "names",
    [["w1/../../w2.csv"], ["w1//a.csv"], ["w1/./a.csv"], ["w1/a", "w1/a/b"], ["w1", "w1/a"]],
)
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(names):
    """The server of the tests cannot be made to hold all of these."""
    from upath import UPath

    from agreement_pipeline.projects.inbox import Inbox
    from agreement_pipeline.store import Listed

    class Lists:
        def listed(self, start):
            return dict.fromkeys([*names, "w3.csv"], Listed(1, "tag", 0.0))

    url = "s3://bucket/inbox"
    inbox = Inbox(UPath(url), ProjectSettings(**SAID, inbox=url))
    inbox.__dict__["_bucket"] = Lists()
    found = inbox.look()
    assert list(found.deliveries) == ["w3"]
    assert "found an object whose name is no path of a file" in found.refused["w1"]


def test_a_name_that_is_too_long_for_a_file_is_refused(inbox):
    inbox.put(f"w1/{'x' * 256}")
    assert "expected no empty part" in inbox.project().look().refused["w1"]


def test_a_bucket_that_is_not_there_is_a_missing_inbox(inbox):
    project = inbox.project(inbox="s3://no-such-bucket-at-all/inbox")
    words = "inbox: s3://no-such-bucket-at-all/inbox: found no such bucket; expected the inbox of p"
    with pytest.raises(ProjectError, match=words):
        project.checked()
    assert inbox.project().checked().look().deliveries == {}


def test_without_credentials_one_error_says_so(inbox, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_EC2_METADATA_DISABLED", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "true")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    with pytest.raises(StoreError, match="expected a bucket that answers, and credentials") as no:
        inbox.project().checked()
    assert inbox.url in str(no.value)


def test_credentials_that_may_not_list_are_refused(inbox, monkeypatch):
    def denied(*_, **__):
        raise PermissionError("Access Denied")

    project = inbox.project()
    monkeypatch.setattr(project._inbox._bucket._objects, "find", denied)
    with pytest.raises(StoreError, match=r"found no permission to list it \(Access Denied\)"):
        project.due()


def test_without_the_extra_one_error_names_it(inbox, monkeypatch):
    path = objects_module.UPath

    def absent(url, **options):
        if options:  # those of a file system
            raise ImportError("no s3fs")
        return path(url)

    monkeypatch.setattr(objects_module, "UPath", absent)
    with pytest.raises(MissingExtraError, match=r"Install agreement-pipeline\[s3\]"):
        inbox.project().checked()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"inbox": "gs://bucket/inbox"}, "expected a folder, a file, or a URL such as s3://bucket"),
        (
            {"inbox": "s3://bucket/inbox", "columns": {"round": "week"}},
            "expected an object or a folder of objects for each round",
        ),
    ],
)
def test_a_project_that_no_bucket_can_serve_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        ProjectSettings(**{**SAID, **settings})
