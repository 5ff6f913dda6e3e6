"""Readers and measures of other packages, which name them as entry points."""

from importlib.metadata import entry_points

from agreement_pipeline.errors import AgreementError


def load_extensions(group: str) -> None:
    """Import what installed packages name in a group. Their modules register what they add.

    A package that cannot be loaded is an error, since a round could otherwise be read or judged
    without what its project rests on.
    """
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist else "a package"
            raise AgreementError(
                f"entry point {point.name} = {point.value} of {package}: found "
                f"{type(error).__name__} ({error}); expected a module that registers what it adds "
                f"to {group}. Correct the package, or remove it."
            ) from error
