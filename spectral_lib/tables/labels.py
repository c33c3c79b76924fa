"""Labels of rows and columns with several levels, in the order in which they are given."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import pandas as pd


def ordered_index(labels: Iterable[tuple[Hashable, ...]], names: list[str]) -> pd.MultiIndex:
    """Return an index whose levels are sorted by first appearance, not by the alphabet.

    pandas would otherwise call a table in the order of the kinds unsorted and warn at each look-up.
    """
    columns = list(zip(*labels, strict=True))
    levels = [list(dict.fromkeys(column)) for column in columns]
    places = [{label: place for place, label in enumerate(level)} for level in levels]
    codes = [[place[x] for x in column] for place, column in zip(places, columns, strict=True)]
    return pd.MultiIndex(levels=levels, codes=codes, names=names)
