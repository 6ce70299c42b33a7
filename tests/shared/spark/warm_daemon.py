"""The process that Spark forks its Python workers from, with their modules imported once instead of once per worker.

Spark puts zip files of itself first on the path of its workers. Python keeps no compiled form of their modules, and every worker
reads their directories again for each of its importers: a second of processor time. Here they are left out, and the installed
package is used. Only imports are done: a thread pool that has run before the fork would not work after it.
"""

from __future__ import annotations

import gc
import sys

sys.path[:] = [place for place in sys.path if not place.endswith((".zip", ".jar"))]
sys.path_importer_cache.clear()

import pandas  # noqa: E402, F401 - imported before the fork
import pyspark.sql.pandas.serializers  # noqa: E402
import pyspark.worker  # noqa: E402, F401
from numba.core.registry import cpu_target  # noqa: E402
from pyspark.daemon import manager  # noqa: E402

import discreet.engine.known_sets.kernels  # noqa: E402
import discreet.engine.known_sets_spark.sums  # noqa: E402, F401

# what numba loads before the first kernel
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

# Spark's workers collect garbage after each task, which would look at every object of these modules each time
gc.collect()
gc.freeze()

if __name__ == "__main__":
    manager()
