"""The web application: pages, REST and jobs on the same core as the command line; no statistics.

settings    where it lives and what it allows
tables      what the database holds; store opens it and brings it up to date (migrations/)
accounts, sessions, tokens, throttle    who is who
projects, policies, datasets, releases  what they work on
audit       who did what, in a chain that shows an edit
jobs/       long work, one process each
app         all of it as one FastAPI application: api/ is REST, pages/ the walk
"""
