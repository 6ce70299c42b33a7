"""Wilson's score interval of a proportion."""

from __future__ import annotations

import math

from discreet.engine.statistics.normal import normal_quantile


def wilson_interval(hits: float, number: int, confidence: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion: Wilson, E. B. (1927). JASA 22, 209-212.

    >>> [round(bound, 4) for bound in wilson_interval(5, 10, 0.95)]
    [0.2366, 0.7634]
    """
    if not number:
        return 0.0, 1.0
    z = float(normal_quantile(0.5 + confidence / 2))
    share = hits / number
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    # at 0 and at 1 the bound equals the share, which rounding would miss
    half = z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return (0.0 if hits <= 0 else max(0.0, middle - half)), (1.0 if hits >= number else min(1.0, middle + half))
