"""The standard normal distribution function and its inverse, on arrays.

Inverse: Wichura, M. J. (1988). Algorithm AS 241: The Percentage Points of the Normal Distribution. Applied Statistics 37(3),
477-484: rational approximations (PPND16) with a relative error of about 1e-16. SciPy has the same functions, but these two alone
would make it a requirement of every installation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# numerator and denominator of each region, highest power first, with the names of the paper
_CENTRAL = (  # a and b, in 0.180625 - (p - 1/2)^2
    (
        2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
        13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
    ),
    (
        5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
        5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
    ),
)  # fmt: skip
_MIDDLE = (  # c and d, in r - 1.6 with r = sqrt(-log(min(p, 1 - p))) up to 5
    (
        7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
        3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
        0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0,
    ),
)  # fmt: skip
_FAR = (  # e and f, in r - 5
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
        0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
        0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0,
    ),
)  # fmt: skip
_CENTRAL_WIDTH, _CENTRAL_OFFSET = 0.425, 0.180625
_MIDDLE_OFFSET, _FAR_OFFSET = 1.6, 5.0


def normal_quantile(probability: ArrayLike) -> NDArray[np.float64]:
    """The value below which a standard normal variable lies with the given probability.

    >>> [round(float(value), 6) for value in normal_quantile([0.025, 0.5, 0.975])]
    [-1.959964, 0.0, 1.959964]
    """
    shares = np.asarray(probability, dtype=np.float64)
    offset = shares - 0.5
    result = np.empty_like(shares)
    central = np.abs(offset) <= _CENTRAL_WIDTH
    inner = offset[central]
    result[central] = inner * _ratio(_CENTRAL, _CENTRAL_OFFSET - inner * inner)
    outer = offset[~central]
    with np.errstate(divide="ignore", invalid="ignore"):  # infinite at 0 and 1, NaN beyond
        tail = np.sqrt(-np.log(np.where(outer < 0, shares[~central], 1.0 - shares[~central])))
        far = np.where(tail <= _FAR_OFFSET, _ratio(_MIDDLE, tail - _MIDDLE_OFFSET), _ratio(_FAR, tail - _FAR_OFFSET))
    result[~central] = np.copysign(np.where(np.isinf(tail), np.inf, far), outer)
    return result


def normal_probability(value: ArrayLike) -> NDArray[np.float64]:
    """The probability that a standard normal variable lies below the value.

    >>> [round(float(share), 6) for share in normal_probability([-1.959964, 0.0, 1.959964])]
    [0.025, 0.5, 0.975]
    """
    scaled = np.asarray(value, dtype=np.float64) * -math.sqrt(0.5)
    return np.asarray(0.5 * _erfc(scaled), dtype=np.float64)


_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], at: NDArray[np.float64]) -> NDArray[np.float64]:
    numerator, denominator = (np.polyval(np.array(part), at) for part in coefficients)
    return np.asarray(numerator / denominator)
