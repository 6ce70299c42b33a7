"""The engine on Apache Spark: rows stay on the cluster, and the compiled kernels of the local engine run beside them.

    session     start or attach: a classic master, or a server of Spark Connect
    source      tables and files as SparkMicrodata; failures in one sentence
    microdata   the distributed table: a Spark frame, its policy, and the numbers of its records
    numbering   a number a record that no partitioning changes
    gaps        what several plug-ins cannot do here; needs no Spark to be read
    score       a score whose records stay on the cluster
    kernels     functions on whole partitions in Arrow

Nothing here is imported before a Spark source is used.
"""
