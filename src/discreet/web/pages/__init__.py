"""The pages of the web application: one module per page or step of the workflow; ``routes`` has all of their routes."""
