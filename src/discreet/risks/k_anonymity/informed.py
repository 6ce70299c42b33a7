"""Class sizes for an intruder who knows the original values, where a null of the release agrees with anything.

On the release alone, a suppressed cell lets a record agree with its neighbours. An intruder who knows the original value sees
that the neighbours have other values, so that only the suppressed row fits. The class size of a record is then the number of
released records whose cells agree with its original key values, its own row included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.perturbed import with_perturbed_values
from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.known_sets.counter import Counter
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import build_classes
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_SETS = 0.9  # an epsilon above every probability: the family holds only the empty set, so only the set of all keys is counted
_KNOWN = 0.5


def informed_class_sizes(
    data: Microdata, original: Microdata, keys: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the release that have an original, and for each the number of released records that agree with its original keys.

    A key whose released cell does not contain the original value is asked by its released value: whoever knows that ages are
    rounded to tens, or cut off at 90, rounds and cuts off what he knows. Of random perturbation he does not know the result; the
    class is then no larger than the one that he sees.
    """
    names = [name for name in keys if name in original.columns]
    original = with_perturbed_values(original, data, names)
    rows = np.flatnonzero(require_original_rows(data, original, "k_anonymity") >= 0)
    attributes = {name: data.attribute(name).model_copy(update={"known": _KNOWN, "sensitivity": 0.0}) for name in names}
    known = data.with_policy(data.policy.with_(attributes=attributes))
    tree = family([_KNOWN] * len(names), _NO_SETS, 1)
    classes, queries, ordered = build_classes(known, names, tree, rows, "wildcard", original)
    with Counter(classes, queries) as counter:
        return rows, counter.count_all(len(ordered))
