import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from agreement_pipeline.cli.output import say_aside
from agreement_pipeline.errors import PASSING, AgreementError, machine_fault_sentence, report_crash
from agreement_pipeline.version import __version__

NAME = "agreement-pipeline"
UNJUDGED = 2
SETTINGS = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "show_default": True,
}
PURPOSES = {
    "demo": "Run bundled projects on simulated rounds, in a folder of their own.",
    "init": "Write a project file and a policy for an export.",
    "measure": "Print the agreement in a table, with intervals.",
    "compare": "Print how far two tables, classifiers or raters differ, with intervals.",
    "judge": "Print the decision on a table under a policy.",
    "release": "Release the training data of a round that the policy admits.",
    "report": "Write a page that says what was decided, why, and who disagrees.",
    "plan": "Print how many items a round needs, so that a policy can decide.",
    "pull": "Fetch rounds from a labelling server or a database.",
    "run": "Judge what is new in your projects, and release what is admitted.",
    "ui": "Open the Dagster UI on your projects.",
    "history": "Print the log of a store.",
    "reassess": "Judge the rounds of a project again by today's policy.",
    "disputed": "Write the disputed items of a round as tasks for a labelling tool.",
    "draw": "Draw items that a panel labels, from a population that a model labelled.",
    "correct": "Print the shares of a population, corrected by the labels of drawn items.",
    "certify": "Certify, for a limited time, that a classifier agrees with a panel.",
    "to-date": "Print the agreement of all rounds of a store together.",
    "verify": "Check a release from its own bytes.",
    "guide": "Print a page of the guide, or the list of pages.",
    "store": "Give a store to another code location, or erase a rater or an item.",
}
COMPLETION = """\b
Completion of commands, options and measures in bash (in zsh: zsh_source):
  eval "$(_AGREEMENT_PIPELINE_COMPLETE=bash_source agreement-pipeline)"
"""


class Later(click.Command):
    """A command whose name and purpose are known before its module, of the same name, is loaded."""

    def __init__(self, name: str, purpose: str) -> None:
        super().__init__(name, short_help=purpose)

    @property
    def loaded(self) -> click.Command:
        """Its import makes no garbage, so nobody looks for it meanwhile."""
        name = str(self.name).replace("-", "_")
        gc.disable()
        command: click.Command = getattr(import_module(f"agreement_pipeline.cli.{name}"), name)
        gc.enable()
        return command

    def make_context(self, *words: Any, **extra: Any) -> click.Context:
        return self.loaded.make_context(*words, **extra)


class Program(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AgreementError as error:
            return _report_error(str(error))
        except PASSING as error:
            return _report_error(machine_fault_sentence(error))
        except SystemExit as error:  # a library may not choose the exit status
            return report_crash(error)


@click.group(cls=Program, context_settings=SETTINGS, no_args_is_help=False, epilog=COMPLETION)
@click.version_option(__version__, message=f"{NAME} %(version)s")
def program() -> None:
    """May this version of this dataset be trained on?

    The exit status is 0 if the round is admitted or the command succeeded, 1 if a round is
    held, 2 if nothing could be judged, and 70 if the program failed. The statuses of
    `verify` are in `guide reasons`.
    """


for name, purpose in PURPOSES.items():
    program.add_command(Later(name, purpose))


def run(arguments: Sequence[str] | None = None) -> int:
    ended: list[int] = []
    if arguments is None:
        atexit.register(_exit_after_command, ended)
    try:
        ended.append(program.main(arguments, prog_name=NAME, standalone_mode=False))
    except click.UsageError as error:
        ended.append(_report_error(_usage_message(error)))
    except click.Abort as error:
        raise error.__cause__ or error from None
    return ended[0]


def _exit_after_command(ended: Sequence[int]) -> None:
    """The process ends with the status of its command, after all that ends with it.

    To look for garbage then takes half a second, and DuckDB warns if nobody looks.
    """
    if ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended[0])


def _report_error(message: str) -> int:
    say_aside(f"error: {message}")
    return UNJUDGED


def _usage_message(error: click.UsageError) -> str:
    message, place = error.format_message(), error.ctx.command_path if error.ctx else NAME
    if isinstance(error, click.BadParameter) and error.param:
        detail = error.message or "found nothing; expected a value."
        message = f"{error.param.human_readable_name}: {detail}"
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See {place} --help."
