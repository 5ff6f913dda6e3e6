from pathlib import Path

import click

from agreement_pipeline.cli.options import command
from agreement_pipeline.cli.output import say
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.report import align_table
from agreement_pipeline.text import suggest_name

PACKAGE = Path(__file__).parents[1]


@command("agreement-pipeline guide", "agreement-pipeline guide planning")
@click.argument(
    "topic",
    required=False,
    shell_complete=lambda _context, _parameter, begun: [
        name for name, _ in guide_pages() if name.startswith(begun)
    ],
    help="A page. By default, all are listed.",
)
def guide(topic: str | None) -> int:
    """Print a page of the guide, or the list of pages.

    The pages come with the package, so they are about the installed version.
    """
    pages = guide_pages()
    if topic is None:
        rows = []
        for name, page in pages:
            lines = page.read_text(encoding="utf-8").splitlines()
            title = next(line for line in lines if line.startswith("# "))
            rows.append([name, title.removeprefix("# ")])
        say(align_table(["topic", "page"], rows))
        return 0
    page_path = dict(pages).get(topic)
    if page_path is None:
        listing_hint = "`agreement-pipeline guide` lists all."
        raise AgreementError(
            f"guide: found {topic!r}; expected a topic. "
            f"{suggest_name(topic, dict(pages), listing_hint)}"
        )
    say(page_path.read_text(encoding="utf-8").rstrip())
    return 0


def guide_pages() -> list[tuple[str, Path]]:
    packaged = PACKAGE / "docs"
    docs = packaged if packaged.is_dir() else PACKAGE.parent / "docs"
    return [
        (page.stem, page)
        for folder in ("", "guide", "proofs")
        for page in sorted((docs / folder).glob("*.md"))
    ]
