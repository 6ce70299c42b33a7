"""Long work, one process each.

queue       jobs in the database: submitted, looked at, cancelled; kinds says what each may be told
supervisor  a thread of the server: starts a process for each job, watches it, and alone says how it went
            (briefs: what the process is told; process: its pipes; running: what it said; endings: how it went;
            settling: the rows that a result becomes)
worker      the process; voice is how it speaks, work what it does (measuring, releasing, labels)
events      progress for browsers and programs, as it happens
exporting   a table in another format, in a process of its own
"""
