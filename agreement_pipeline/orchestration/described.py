"""What the docstring of a class says of each attribute."""

import re
from inspect import getdoc


def descriptions(described: type) -> dict[str, str]:
    """The text below each name in the section *Attributes* of a docstring, by name.

    >>> class Box:
    ...     \"\"\"A box.
    ...
    ...     Attributes
    ...     ----------
    ...     width, height
    ...         In metres.
    ...     \"\"\"
    >>> descriptions(Box)
    {'width': 'In metres.', 'height': 'In metres.'}
    """
    _, _, section = (getdoc(described) or "").partition("Attributes\n----------\n")
    found = re.findall(r"^(\S.*)\n((?:[ ]{4}.*(?:\n|\Z))+)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}
