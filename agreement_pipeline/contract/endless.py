"""Regular expressions that can take for ever on a short text.

Python tries every way to part a text among repeats. Where a repeated group can take one text in
several ways, there are twice as many ways for each further letter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|P[=>]|<?[=!]|[a-zA-Z-]*[:)]|[^)]*\))?|"
    r"[*+?][?+]?|\{\d*,?\d*\}[?+]?|.",
    re.DOTALL,
)
MANY = re.compile(r"[*+]|\{\d*,\}|\{\d*,?\d{2,}\}|\{\d*,?[2-9]\}")
"""A repeat that may come more than once."""
VARIABLE = re.compile(r"[*+?]|\{\d*,\d*\}")
"""A repeat that may come in several numbers."""


@dataclass
class _Group:
    """What was read of a group: the first tokens of its branches, and if a repeat is in it."""

    firsts: list[str] = field(default_factory=list)
    repeats: bool = False
    at_start: bool = True

    @property
    def is_ambiguous(self) -> bool:
        """True if the group, repeated, may take one text in several ways."""
        literal = all(first.isalnum() for first in self.firsts)
        branches = len(self.firsts) > 1
        return self.repeats or (
            branches and not (literal and len(set(self.firsts)) == len(self.firsts))
        )


def may_be_endless(pattern: str) -> bool:
    r"""True if a repeated group can take one text in several ways, or may do so.

    >>> [may_be_endless(each) for each in ("(a+)+$", "(a|ab)*c", r"(\w+\s?)*$", "(?:(a*)b?)*")]
    [True, True, True, True]
    >>> [may_be_endless(each) for each in (r"[^@]+@[^@]+", "(ab|cd)+", r"(\d{2}-)+x", "[(]+[)]+")]
    [False, False, False, False]
    """
    open_groups, closed = [_Group()], None
    for token in _tokens(pattern):
        inner = open_groups[-1]
        if MANY.match(token) and closed is not None and closed.is_ambiguous:
            return True
        inner.repeats |= bool(VARIABLE.match(token))
        if token.startswith("(") and not token.endswith(")"):
            open_groups.append(_Group())
            _begin(inner, "(")
            continue
        if token == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1].repeats |= closed.repeats
            continue
        if token == "|":
            inner.at_start = True
        elif token[0] not in "*+?{":
            _begin(inner, token)
        closed = None
    return False


def _tokens(pattern: str) -> Iterator[str]:
    return (each.group() for each in TOKEN.finditer(pattern))


def _begin(group: _Group, token: str) -> None:
    """Note the first token of a branch."""
    if group.at_start:
        group.firsts.append(token)
        group.at_start = False
