"""Numbers and lists in words."""


def listed(values: object, limit: int = 5) -> str:
    """The first few of `values` in quotes, and how many more there are.

    >>> listed(["a", "b"])
    "['a', 'b']"
    >>> listed(range(9), limit=2)
    '[0, 1, … 7 more]'
    """
    every = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(value) for value in every[:limit])
    return f"[{shown}]" if len(every) <= limit else f"[{shown}, … {len(every) - limit} more]"
