"""How evidence is shown: as HTML, as text for a terminal, as Markdown, and drawn."""

from agreement_pipeline.report.drawing import (
    svg_file as svg_file,
    strip_data_url as strip_data_url,
    svg_data_url as svg_data_url,
)
from agreement_pipeline.report.page import (
    Render as Render,
    render_html as render_html,
    report_page as report_page,
)
from agreement_pipeline.report.tables import (
    align_table as align_table,
    markdown_text as markdown_text,
    printable as printable,
)
from agreement_pipeline.report.terminal import (
    render_text as render_text,
    steps_as_markdown as steps_as_markdown,
    steps_as_text as steps_as_text,
)
