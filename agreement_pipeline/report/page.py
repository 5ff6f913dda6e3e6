"""A page as HTML: one file, which loads nothing from a network."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from agreement_pipeline.contract import Contract
from agreement_pipeline.evidence import Page, RoundBefore, RoundLine, judge_page
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import NO_WAIVERS, Policy, Waivers
from agreement_pipeline.ratings import Ratings, Trains
from agreement_pipeline.report.drawing import draw_key, draw_strip, draw_svg
from agreement_pipeline.text import interval
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).with_name("templates")
MADE_BY = (
    f"Made by agreement-pipeline {__version__}. "
    "This page is one file. It loads nothing from a network."
)

Render = Callable[[Page], str]


def render_html(page: Page) -> str:
    style, script = (
        _read_template_file("figures.css") + _read_template_file("page.css"),
        _read_template_file("page.js"),
    )
    return _load_template().render(
        page=page,
        style=style,
        style_digest=_csp_digest(style),
        has_pictures=any(figure.picture for _, answer in page.parts for figure in answer.figures),
        script=script,
        script_digest=_csp_digest(script),
        made_by=MADE_BY,
    )


@cache
def _load_template() -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.globals["svg"] = lambda figure, name: Markup(draw_svg(figure, name))
    environment.globals["strip"] = _strip
    environment.globals["key"] = lambda sign: Markup(draw_key(sign))
    return environment.get_template("page.html.jinja")


def _strip(line: RoundLine, trend: Sequence[float]) -> str:
    from markupsafe import Markup

    attributes = f" class='strip' role='img' aria-label='{interval(line.low, line.high)}'"
    return Markup(draw_strip(line, trend, attributes))


def _csp_digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read_template_file(name: str) -> str:
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def report_page(  # noqa: PLR0913  # a page has many parts, each given by its name
    ratings: Ratings,
    policy: Policy,
    *,
    name: str = "ratings",
    project: str = "",
    contract: Contract | None = None,
    waivers: Waivers = NO_WAIVERS,
    also: Sequence[Finding] = (),
    version: int | None = None,
    names: Mapping[str, str] | None = None,
    before: RoundBefore | None = None,
    links: Mapping[str, str] = MappingProxyType({}),
    in_commands: tuple[str, str] = ("", ""),
    images: Path | None = None,
    warnings: Sequence[str] = (),
    trains: Trains | None = None,
    render: Render = render_html,
) -> str:
    """Judge ratings, and write the page that shows the decision and its evidence.

    Parameters
    ----------
    name, project
        What the page calls the ratings, and their project if they are a round of one.
    contract
        What was agreed of the delivery. Of ratings alone, nothing can be asked.
    also, version
        What the gate itself finds of a round in a store, and how many different ratings came.
    names
        What the page calls each rater. None: raters are numbered. An empty mapping shows
        the names as they are.
    in_commands
        What commands call the table and the policy: their files. Empty: as they are called here.
    images
        The folder with the images that raters marked. Small pictures of some come into the page.
    warnings
        What may be a mistake in the table, as its reading told. It names no rater.
    trains
        The label that trains. None: the plurality of categories, or the mean of numbers.
    render
        Shows the page: as HTML, or by `as_text` as text for a terminal.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline import load_policy, read_ratings
    >>> rows = [(item, rater, item % 2) for item in range(9) for rater in ("ana", "ben")]
    >>> ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    >>> "ana" in report_page(ratings, load_policy("standard"))
    False
    """
    return render(
        judge_page(
            ratings,
            policy,
            name=name,
            project=project,
            contract=contract,
            waivers=waivers,
            also=also,
            version=version,
            names=names,
            before=before,
            links=links,
            in_commands=in_commands,
            images=images,
            warnings=warnings,
            trains=trains,
        )
    )
