"""Long-running work, one process per job.

queue       jobs in the database: submit, list, cancel (job_types: the parameters of each kind of job)
supervisor  a thread of the server that starts a process per job and records its outcome
            (inputs: what the process receives; process: its pipes; running: its messages so far; outcomes: final states;
            results: the rows that a result becomes)
worker      the process of a job (messages: how it reports; work: what it does, with measuring, releasing and labels)
events      progress for browsers and programs, as server-sent events
exporting   a masked table in another format, written by a job (downloading: what waits for it)
fairness    whose job runs next, and which one gives way
"""
