"""A delivered Parquet file, looked at before a library opens it."""

from pathlib import Path

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Footer, FooterError
from agreement_pipeline.readers.files import WAIT


def footer_of(path: Path) -> Footer:
    """What a Parquet file says of itself.

    Raises
    ------
    RatingsError
        It contradicts itself. Arrow could end the process on it.
    """
    try:
        return Footer.of(path)
    except FooterError as error:
        raise RatingsError(
            f"{path.name}: found no whole Parquet file ({error}); expected a finished one whose "
            f"footer and pages agree. {WAIT}"
        ) from None
