"""A good table as text, its scale, and markup that a browser would run."""

from agreement_pipeline.ratings import Scale

GOOD = "item,rater,label\ni1,ana,yes\ni1,ben,no\ni2,ana,no\n"
YES_NO = Scale(("no", "yes"))
MARKUP = '<img src=x onerror="alert(1)">[a](javascript:b)'
