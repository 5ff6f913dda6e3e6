"""Commands that are loaded when they are called."""

import gc
from importlib import import_module
from typing import Any

import click


class Later(click.Command):
    """A command whose name and purpose are known before its module is loaded.

    The module has the name of the command, with underscores.
    """

    def __init__(self, name: str, purpose: str) -> None:
        super().__init__(name, short_help=purpose)

    @property
    def loaded(self) -> click.Command:
        """The command itself. Its import makes no garbage, so nobody looks for it meanwhile."""
        name = str(self.name).replace("-", "_")
        gc.disable()
        command: click.Command = getattr(import_module(f"agreement_pipeline.cli.{name}"), name)
        gc.enable()
        return command

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the words of the command itself, which then runs."""
        return self.loaded.make_context(info_name, args, parent, **extra)
