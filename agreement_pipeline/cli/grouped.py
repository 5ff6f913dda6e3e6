"""Commands whose help lists options under headings, and that read a value once."""

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from agreement_pipeline.cli.progress import progress

OTHER = "Other"


class Option(click.Option):
    """An option that stands under a heading of the help.

    Attributes
    ----------
    group
        The heading.
    """

    def __init__(self, *declarations: Any, group: str, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.group = group


class Command(click.Command):
    """A command with options under headings; an option of one value is given once.

    Attributes
    ----------
    examples
        Command lines that stand at the end of the help.
    """

    def __init__(self, *arguments: Any, examples: Sequence[str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises
        ------
        UsageError
            They do not fit the command, or an option of one value is given twice.
        """
        try:
            if not ctx.resilient_parsing:
                self._refuse_twice(ctx, list(args))
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. If it takes long, a terminal says so."""
        with progress(str(ctx.info_name)):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, in the order of the command."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                groups.setdefault(getattr(param, "group", OTHER), []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each on a line of its own."""
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")

    def _refuse_twice(self, ctx: click.Context, args: list[str]) -> None:
        _, _, given = self.make_parser(ctx).parse_args(args)
        single = [param for param in given if isinstance(param, Option) and not param.multiple]
        for param in single:
            if single.count(param) > 1:
                raise click.BadParameter(
                    "found twice; expected once at most. Leave one of them out.", ctx, param
                )


def given_options(ctx: click.Context, *groups: str) -> list[str]:
    """Names of the options under these headings that the command line gives."""
    return [
        longest_name(param)
        for param in ctx.command.params
        if isinstance(param, Option)
        and param.group in groups
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]


def longest_name(param: click.Parameter) -> str:
    """The name of a parameter as the help shows it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.human_readable_name
