"""Regular expressions of a suite, which are looked at before they are searched for."""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|P[=>]|<?[=!]|[a-zA-Z-]*[:)]|[^)]*\))?|"
    r"[*+?][?+]?|\{\d*,?\d*\}[?+]?|.",
    re.DOTALL,
)
REPEATED = re.compile(r"[*+]|\{\d*,\}|\{\d*,?\d{2,}\}|\{\d*,?[2-9]\}")
"""A repeat that may come more than once."""
VARIABLE = re.compile(r"[*+?]|\{\d*,\d*\}")
"""A repeat that may come in several numbers."""


@dataclass
class _Group:
    firsts: list[str] = field(default_factory=list)
    repeats: bool = False
    at_start: bool = True

    @property
    def is_ambiguous(self) -> bool:
        literal = all(token.isalnum() for token in self.firsts)
        are_distinct = literal and len(set(self.firsts)) == len(self.firsts)
        return self.repeats or (len(self.firsts) > 1 and not are_distinct)

    def begin(self, token: str) -> None:
        if self.at_start:
            self.firsts.append(token)
            self.at_start = False


def may_be_endless(pattern: str) -> bool:
    r"""True if a repeated group can take one text in several ways, or may do so.

    Python then tries twice as many ways for each further letter.

    >>> [may_be_endless(each) for each in ("(a+)+$", "(a|ab)*c", r"(\w+\s?)*$", "(?:(a*)b?)*")]
    [True, True, True, True]
    >>> [may_be_endless(each) for each in (r"[^@]+@[^@]+", "(ab|cd)+", r"(\d{2}-)+x", "[(]+[)]+")]
    [False, False, False, False]
    """
    open_groups, closed = [_Group()], None
    for token in TOKEN.findall(pattern):
        inner = open_groups[-1]
        if REPEATED.match(token) and closed is not None and closed.is_ambiguous:
            return True
        inner.repeats |= bool(VARIABLE.match(token))
        if token.startswith("(") and not token.endswith(")"):
            inner.begin("(")
            open_groups.append(_Group())
            continue
        if token == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1].repeats |= closed.repeats
            continue
        if token == "|":
            inner.at_start = True
        elif token[0] not in "*+?{":
            inner.begin(token)
        closed = None
    return False
