"""Sampling: releasing some of the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata


class Sampling(MaskingMethod):
    """A simple random sample without replacement of exactly round(fraction x n) records, in their old order.

    >>> from discreet.engine.random import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": list(range(10))}, key=["age"])
    >>> len(Sampling(fraction=0.8).mask(data, [], KeyedDraw(7)))
    8
    """

    name: ClassVar[str] = "sampling"
    citation: ClassVar[str] = "Cochran, W. G. (1977). Sampling Techniques, 3rd ed. Wiley."
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value of the records kept; means and shares in expectation."

    fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        examples=[0.8], description="share of the records to release, the sampling factor sf"
    )

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        wanted = round(self.fraction * len(data))
        return data.take(np.sort(draw.order(data.records)[:wanted]))
