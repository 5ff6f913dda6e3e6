"""Krippendorff's alphas for continua: texts and recordings in which raters mark units.

They are not registered: an interval needs many continua. Alpha of the positions of an item, which
is registered (see `agreement_pipeline.units`), is nearly `unitizing_alphas(...).nominal`. There one
thing in the chance is a position, and here it is a whole unit.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.ratings import Array
from agreement_pipeline.units import NONE, Marked, Segment, Span, extents_of, in_order


class Section(NamedTuple):
    start: float
    length: float
    category: str

    @property
    def end(self) -> float:
        return self.start + self.length


class UnitizingAlphas(NamedTuple):
    """The alphas of Krippendorff, Mathet, Bouvry and Widlöcher (2016).

    `nominal` (uα) is on where units are and what they are called, `binary` (|uα) on where they are,
    and `coding` (cuα) on what they are called where two raters marked one. `by_category` has the
    last for each category, (k)uα.
    """

    nominal: Coefficient
    binary: Coefficient
    coding: Coefficient
    by_category: Mapping[str, Coefficient]


def unitizing_alpha(marked: Sequence[Marked], category: str | None = None) -> Coefficient:
    r"""Alpha of the units of one continuum, of one category or of all.

    .. math:: {}_u\alpha_c = 1 - \frac{D_{oc}}{D_{ec}}, \qquad
       D_{oc} = \frac{\sum_i \sum_{j \ne i} \sum_g \sum_h \delta^2_{cigjh}}{m (m - 1) L^2}, \qquad
       D_{ec} = \frac{\frac{2}{L} \sum_{i,g} v_{cig} \left[ \frac{N_c - 1}{3} (2 l^3 - 3 l^2 + l)
       + l^2 \sum_{j,h} (1 - v_{cjh}) (l_{cjh} - l + 1)^+ \right]}{m L (m L - 1)
       - \sum_{i,g} v_{cig} l (l - 1)}

    L is the length of the continuum and m the number of raters. Rater i divides it into sections of
    length :math:`l = l_{cig}`, and v is 1 for a unit of category c and 0 for a gap. The difference
    :math:`\delta^2` of two sections that overlap is the squared distance of their starts plus that
    of their ends for two units, the squared length of a unit that lies wholly in a gap, and 0 for
    all others. Over all categories (None), the disagreements are averaged. The value is nan if
    nobody marked a unit.

    Raises
    ------
    RatingsError
        There is not one item of two raters, or units of a category overlap.

    References
    ----------
    Krippendorff, K. (2004), doi:10.1007/s11135-004-8107-7

    Examples
    --------
    >>> ana = Marked("d", "ana", (Span(2, 10, "A"), Span(14, 20, "A")), (24,))
    >>> ben = Marked("d", "ben", (Span(4, 8, "A"), Span(15, 17, "A")), (24,))
    >>> round(float(unitizing_alpha([ana, ben]).observed), 5)
    0.03125
    """
    length = _one_continuum(marked)
    wanted = _categories(marked) if category is None else [category]
    of_each = [[_sections(each, name) for each in marked] for name in wanted]
    d_o = np.mean([_observed(raters, length) for raters in of_each]) if of_each else 0.0
    d_e = np.mean([_expected(raters, length) for raters in of_each]) if of_each else 0.0
    return Coefficient(1 - ratio(d_o, d_e), observed=np.asarray(d_o), expected=np.asarray(d_e))


def unitizing_alphas(marked: Sequence[Marked]) -> UnitizingAlphas:
    r"""The four alphas of units and their categories, over one continuum or more.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad
       \ell_{ck} = \sum_i \sum_{j \ne i} \sum_{g,h} \frac{L(S_{ig} \cap S_{jh})}{m - 1}, \qquad
       \epsilon_{ck} = \ell_{..} \,
       \frac{\ell_{c.} \ell_{.k} - [c = k] \sum L(S_{igc})^2}{\ell_{..}^2 - \sum L(S_{ig})^2}

    :math:`\ell` are lengths on which sections of two raters meet, by their categories; gaps are a
    category too. A unit cannot meet itself by chance, so its squared length is taken off. Of a gap
    its length is, since each place of it may be one of another gap. For cuα and (k)uα, the length
    of a unit is what it adds to :math:`\ell`. Items with one rater are left out. A value is nan
    where nothing could disagree by chance.

    Raises
    ------
    RatingsError
        Units of a rater overlap.

    References
    ----------
    Krippendorff, K., Mathet, Y., Bouvry, S. & Widlöcher, A. (2016), doi:10.1007/s11135-015-0266-1
    Krippendorff, K. (2019). Content Analysis (4th ed.), section 12.6. Sage.

    Examples
    --------
    >>> ana = Marked("d", "ana", (Span(0, 1, "A"), Span(1, 2, "B")), (2,))
    >>> ben = Marked("d", "ben", (Span(0, 1, "A"), Span(1, 2, "A")), (2,))
    >>> float(unitizing_alphas([ana, ben]).coding.value)
    0.0
    """
    names = [NONE, *_categories(marked)]
    every = np.zeros((len(names), len(names)))
    own, of_units = np.zeros(len(names)), np.zeros(len(names))
    for raters in _items(marked):
        sections = [_sections(each) for each in raters]
        every += _meetings(sections, names)
        for who, mine in enumerate(sections):
            others = [units for place, units in enumerate(sections) if place != who]
            own += _alone(mine, names)
            of_units += _pairable(mine, others, names)
    by_chance = _chance(every, own)
    coded = every[1:, 1:]
    coded_by_chance = _chance(coded, of_units[1:])
    return UnitizingAlphas(
        _alpha(every, by_chance),
        _alpha(_merged(every), _merged(by_chance)),
        _alpha(coded, coded_by_chance),
        {name: _of_one(coded, coded_by_chance, k) for k, name in enumerate(names[1:])},
    )


def _one_continuum(marked: Sequence[Marked]) -> float:
    extents = extents_of(in_order(marked))
    if len(extents) != 1 or len(marked) < 2:
        raise RatingsError(
            f"unitizing alpha: found {len(marked)} raters of {len(extents)} items; expected two "
            "raters or more of one. Take each item by itself, or read unitizing_alphas."
        )
    return next(iter(extents.values()))[0]


def _items(marked: Sequence[Marked]) -> Iterator[list[Marked]]:
    found: dict[str, list[Marked]] = {item: [] for item in extents_of(in_order(marked))}
    for each in marked:
        found[each.item].append(each)
    yield from (raters for raters in found.values() if len(raters) > 1)


def _categories(marked: Sequence[Marked]) -> list[str]:
    return sorted({area.category for each in marked for area in each.areas})


def _sections(marked: Marked, category: str | None = None) -> list[Section]:
    units = sorted(
        (
            Section(area.start, area.end - area.start, area.category)
            for area in marked.areas
            if isinstance(area, Span | Segment) and category in (None, area.category)
        ),
        key=lambda unit: unit.start,
    )
    found, at = [], 0.0
    for unit in [*units, Section(marked.extent[0], 0, NONE)]:
        if unit.start < at:
            raise RatingsError(
                f"{marked.where}: found units of rater {marked.rater!r} that overlap at "
                f"{unit.start:g}; expected units side by side. Take each category by itself."
            )
        gap = Section(at, unit.start - at, NONE)
        found += [each for each in (gap, unit) if each.length > 0]
        at = unit.end
    return found


def _observed(raters: Sequence[Sequence[Section]], length: float) -> float:
    apart = sum(
        _difference(g, h)
        for one, other in permutations(raters, 2)
        for g in one
        for h in other
        if g.start < h.end and h.start < g.end
    )
    m = len(raters)
    return apart / (m * (m - 1) * length**2)


def _difference(g: Section, h: Section) -> float:
    if NONE not in (g.category, h.category):
        return (g.start - h.start) ** 2 + (g.end - h.end) ** 2
    if g.category == h.category:
        return 0.0
    unit, gap = (g, h) if h.category == NONE else (h, g)
    inside = gap.start <= unit.start and unit.end <= gap.end
    return unit.length**2 if inside else 0.0


def _expected(raters: Sequence[Sequence[Section]], length: float) -> float:
    every = [section for sections in raters for section in sections]
    units = np.array([each.length for each in every if each.category != NONE])
    gaps = np.array([each.length for each in every if each.category == NONE])
    apart = (len(units) - 1) / 3 * (2 * units**3 - 3 * units**2 + units)
    room = np.where(gaps >= units[:, None], gaps - units[:, None] + 1, 0).sum(1)
    whole = len(raters) * length
    pairs = whole * (whole - 1) - (units * (units - 1)).sum()
    return float(2 / length * (apart + units**2 * room).sum() / pairs)


def _meetings(raters: Sequence[Sequence[Section]], names: Sequence[str]) -> Array:
    found = np.zeros((len(names), len(names)))
    for one, other in permutations(raters, 2):
        for g in one:
            for h in other:
                found[names.index(g.category), names.index(h.category)] += _common(g, h)
    return found / (len(raters) - 1)


def _alone(sections: Sequence[Section], names: Sequence[str]) -> Array:
    """A unit would meet its squared length of itself. Shape (K,)."""
    found = dict.fromkeys(names, 0.0)
    for each in sections:
        found[each.category] += each.length if each.category == NONE else each.length**2
    return np.array(list(found.values()))


def _pairable(
    sections: Sequence[Section], others: Sequence[Sequence[Section]], names: Sequence[str]
) -> Array:
    found = dict.fromkeys(names, 0.0)
    units = [h for sections_of_one in others for h in sections_of_one if h.category != NONE]
    for each in sections:
        if each.category != NONE:
            found[each.category] += (sum(_common(each, h) for h in units) / len(others)) ** 2
    return np.array(list(found.values()))


def _common(g: Section, h: Section) -> float:
    return max(0.0, min(g.end, h.end) - max(g.start, h.start))


def _chance(meetings: Array, own: Array) -> Array:
    whole = meetings.sum()
    pairs = np.outer(meetings.sum(1), meetings.sum(0)) - np.diag(own)
    return np.asarray(whole * ratio(pairs, whole**2 - own.sum()))


def _merged(lengths: Array) -> Array:
    return np.array(
        [
            [lengths[0, 0], lengths[0, 1:].sum()],
            [lengths[1:, 0].sum(), lengths[1:, 1:].sum()],
        ]
    )


def _alpha(observed: Array, expected: Array) -> Coefficient:
    d_o, d_e = (
        ratio(lengths.sum() - np.trace(lengths), lengths.sum()) for lengths in (observed, expected)
    )
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)


def _of_one(observed: Array, expected: Array, k: int) -> Coefficient:
    d_o, d_e = (
        ratio(lengths[:, k].sum() - lengths[k, k], lengths[:, k].sum())
        for lengths in (observed, expected)
    )
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o, expected=d_e)
