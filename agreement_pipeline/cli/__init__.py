"""The command line."""

from collections.abc import Sequence

from agreement_pipeline.errors import report_crash


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command with the words after the program's name, by default those of this process.

    Returns
    -------
    int
        0 if all is well. 1 if a round is held or a release is refused. 2 if nothing could be
        judged. 70 if the program itself failed. A refused release also has a status of its own,
        from 10 to 24.
    """
    try:
        from agreement_pipeline.cli.app import run

        return run(arguments)
    except Exception as error:
        return report_crash(error)


__all__ = ["main"]
