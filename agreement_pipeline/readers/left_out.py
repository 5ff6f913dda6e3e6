"""Columns of a wide table that hold labels, and that nothing names."""

from pathlib import Path

from agreement_pipeline.ratings import Scale, coded
from agreement_pipeline.ratings.limits import LIMITS, Limits
from agreement_pipeline.readers.cells import file_cells
from agreement_pipeline.readers.columns import OPTIONAL, Columns
from agreement_pipeline.readers.packed import unpacked
from agreement_pipeline.readers.registry import TABLE as NAME
from agreement_pipeline.readers.registry import reader_of


def labels_left_out(
    path: Path, columns: Columns, scale: Scale, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The columns of a wide table that are not read although all their cells are labels.

    One may be a rater whose dissent is missing, or a settled label. Only people know.
    """
    with unpacked(path, limits) as place:
        if scale.categories is None or reader_of(place).name != NAME:
            return ()
        table = file_cells(place, limits)
        named = {*columns.named.values(), *columns.raters, *columns.models.values(), *OPTIONAL}
        free = [name for name in table.header if name not in named]
        labels = set(map(str, scale.categories))
        texts = {name: set(coded(table.read([name])[name]).texts) for name in free}
    return tuple(name for name in free if texts[name] and texts[name] <= labels)
