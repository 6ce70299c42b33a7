"""Class sizes for an intruder who knows the original values, where a null of the release agrees with anything.

On the release alone a blanked cell lets a record agree with its neighbours. Whoever knows the true value sees more: the
neighbours' cells say something else, so only the blanked row fits. The size of a record's class is then the number of released
records whose cells agree with its true key values, its own row among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import build_classes
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_SETS = 0.9  # an epsilon above every probability below: the family holds the empty set alone, and only all keys are counted
_KNOWN = 0.5


def informed_class_sizes(
    data: Microdata, original: Microdata, keys: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the release that have an original, and for each the number of released records that agree with its true keys.

    A key whose released cell does not hold its true value (because it was perturbed) is left out for that record: an intruder
    who relies on it does not find the record at all.
    """
    names = [name for name in keys if name in original.columns]
    rows = np.flatnonzero(require_original_rows(data, original, "k_anonymity") >= 0)
    attributes = {name: data.attribute(name).model_copy(update={"known": _KNOWN, "sensitivity": 0.0}) for name in names}
    known = data.with_policy(data.policy.with_(attributes=attributes))
    tree = family([_KNOWN] * len(names), _NO_SETS, 1)
    classes, queries, ordered = build_classes(known, names, tree, rows, "wildcard", original)
    with Counter(classes, queries) as counter:
        return rows, counter.count_all(len(ordered))
