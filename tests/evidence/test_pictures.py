"""Pictures behind boxes: small, without what else an image's file tells, and from one folder."""

import base64
import io

import pytest
from PIL import Image

from agreement_pipeline.evidence import objects
from agreement_pipeline.evidence.objects import load_picture
from agreement_pipeline.report import report_page

from .test_objects import POLICY, answer_about_marked_objects, boxes, judged, ratings_of

SECRET = "Camera of Ana"


@pytest.fixture
def folder(tmp_path):
    notes = Image.Exif()
    notes[0x010F] = SECRET
    (tmp_path / "in").mkdir()
    Image.new("RGB", (900, 300), "red").save(tmp_path / "in" / "d05", "JPEG", exif=notes)
    Image.new("RGB", (9, 9)).save(tmp_path / "outside.png")
    return tmp_path / "in"


def bytes_of(picture):
    kind, _, said = picture.address.partition(",")
    assert kind == "data:image/jpeg;base64"
    return base64.b64decode(said)


def test_a_picture_is_small_and_has_the_pixels_alone(folder):
    assert SECRET.encode() in (folder / "d05").read_bytes()
    found = load_picture("d05", folder)
    assert (found.width, found.height) == (900, 300)
    data = bytes_of(found)
    assert SECRET.encode() not in data
    with Image.open(io.BytesIO(data)) as small:
        assert small.size == (480, 160)
        assert dict(small.getexif()) == {}
        assert small.getpixel((5, 5))[0] > 240


def test_a_turned_image_stands_upright(folder):
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.new("RGB", (300, 100)).save(folder / "turned.jpg", exif=turned)
    found = load_picture("turned.jpg", folder)
    assert (found.width, found.height) == (100, 300)


def test_an_image_is_found_by_its_last_name_too(folder):
    assert load_picture("/data/upload/7/d05", folder) == load_picture("d05", folder)


@pytest.mark.parametrize("item", ["../outside.png", "absent", "", ".", "a\0b", "x" * 5000])
def test_no_name_leads_out_of_the_folder(item, folder):
    assert load_picture(item, folder) is None


def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    assert load_picture("link.png", folder) is None


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"<svg onload='x'/>", b"\xff\xd8\xff\xe0 broken"])
def test_what_is_no_image_is_left_out(data, folder):
    (folder / "bad.jpg").write_bytes(data)
    assert load_picture("bad.jpg", folder) is None


def test_a_picture_that_is_too_large_is_left_out(folder, monkeypatch):
    monkeypatch.setattr(objects, "MOST_PIXELS", 900 * 300 - 1)
    assert load_picture("d05", folder) is None
    monkeypatch.undo()
    monkeypatch.setattr(objects, "MOST_BYTES", 300)
    assert load_picture("d05", folder) is None


def test_a_page_shows_pictures_only_where_they_are_at_hand(folder):
    ratings = ratings_of("boxes", boxes)
    (figure,) = answer_about_marked_objects(judged(ratings, folder)).figures
    assert figure.picture == load_picture("d05", folder)
    page = report_page(ratings, POLICY, images=folder)
    assert page.count(figure.picture.address) == 1
    assert "; img-src data:" in page
    without = report_page(ratings, POLICY)
    assert "img-src" not in without
    assert "<image" not in without
