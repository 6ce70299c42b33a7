"""Long work, one process each.

queue       jobs in the database: submitted, looked at, cancelled
kinds       what each kind of job needs, and what becomes of its result
supervisor  a thread of the server: starts a process for each job, watches it, and alone says how it went
worker      the process; work is what it does
events      progress for browsers and programs, as it happens
"""
