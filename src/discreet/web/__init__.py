"""The web application: pages, REST interface and jobs, on the same library as the command line. It computes no statistics itself.

settings    data directory, database and limits of a server
db/         database schema (tables), connections and migrations (store), hash-chained audit log (audit)
auth/       accounts, sessions, API tokens, throttling of failed logins, checks of every request (security)
projects/   projects, their policies, datasets and releases
jobs/       long-running work, one process per job
api/        the REST interface
pages/      the HTML pages
app         the FastAPI application that combines them
"""
