"""Small pictures of the images that raters marked, for a page that is one file.

A picture is drawn anew from the image's pixels. So nothing else of the file comes with it, such as
its place or its camera.
"""

import base64
import io
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from agreement_pipeline.errors import RatingsError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
WIDEST, TALLEST = 480, 480
MOST_PIXELS, MOST_BYTES = 50_000_000, 80_000
QUALITIES = (70, 45, 20)


class Picture(NamedTuple):
    """A small picture, and how large the image is.

    Attributes
    ----------
    address
        The picture itself, as a data URI.
    width, height
        The size of the image in pixels.
    """

    address: str
    width: float
    height: float


def picture_of(item: str, folder: Path) -> Picture | None:
    """The picture of an item, from the image in a folder that has its name.

    None if the folder has none, or if it is broken or too large.

    Raises
    ------
    RatingsError
        The library that reads images is not installed.
    """
    path = _image(item, folder)
    return None if path is None else _drawn_anew(path)


def _image(item: str, folder: Path) -> Path | None:
    """The file of the item's whole name or last name. No name leads out of the folder."""
    home = folder.resolve()
    for name in (item, PurePosixPath(item).name):
        try:
            path = (home / name).resolve()
            if path.is_relative_to(home) and path.is_file():
                return path
        except (OSError, ValueError):
            continue
    return None


def _drawn_anew(path: Path) -> Picture | None:
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as cause:
        raise RatingsError(
            "images: found no Pillow, which reads images; expected it. "
            "Install agreement-pipeline[images], or leave the images out."
        ) from cause
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            upright = ImageOps.exif_transpose(image)
            width, height = upright.size
            upright.thumbnail((WIDEST, TALLEST))
            address = _address(upright.convert("RGB"))
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return None
    return None if address is None else Picture(address, width, height)


def _address(image: "Image") -> str | None:
    """The pixels alone as a data URI, at the best quality that is small enough."""
    from PIL.Image import frombytes

    bare = frombytes("RGB", image.size, image.tobytes())
    for quality in QUALITIES:
        bytes_of = io.BytesIO()
        bare.save(bytes_of, "JPEG", quality=quality)
        if bytes_of.tell() <= MOST_BYTES:
            return f"data:image/jpeg;base64,{base64.b64encode(bytes_of.getvalue()).decode()}"
    return None
