"""What the operator of a server watches: metrics, structured logs, and ids that tie both to what people report."""
