"""A project's images lie behind the boxes of its rounds' pages."""

from datetime import date

from PIL import Image

from agreement_pipeline.projects import Project, load_project, round_page
from tests.readers.drawings import SIZE, label_studio_boxes

SETTINGS = """
project: pets
inbox: inbox
units: {kind: boxes}
scale: {categories: [none, cat, dog]}
columns: {item: name}
policy: standard
settle_seconds: 0
images: photos
"""


def test_the_page_of_a_round_shows_the_images_of_the_project(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", SIZE, "red").save(tmp_path / "photos" / "i1.png")
    (tmp_path / "configs" / "projects").mkdir(parents=True)
    path = tmp_path / "configs" / "projects" / "pets.yaml"
    path.write_text(SETTINGS)
    project = Project(load_project(path))
    label_studio_boxes(tmp_path / "inbox")
    project.keep(*project.delivered("boxes"))
    page = round_page(project, "boxes", on=date(2026, 1, 5))
    assert page.count("data:image/jpeg;base64,") == 1
