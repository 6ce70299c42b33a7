"""The engine on Apache Spark: rows stay on the cluster, and the compiled kernels of the local engine run beside them.

    session, source, source_types, target   start or attach to Spark, read and write tables
    microdata, hidden_columns, numbering    the distributed table and the numbers of its records
    arrow, batches, caching                 functions on whole partitions in Arrow; masking batch by batch
    joins, comparable, value_counts, ...    counting and comparing rows by their values
    score                                   a score whose per-record values stay on the cluster
    gaps                                    what several plug-ins cannot do here; needs no Spark to be read

Nothing here is about a single measure or method: a plug-in declares its own function (:mod:`discreet.model.engine_work`). Only
``gaps`` and ``source_types`` are imported before a Spark source is used, and no module imports pyspark on top.
"""
