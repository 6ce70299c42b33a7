"""The masking method ``min_risk_disclosure``: ``method`` is the plug-in, the other modules are its own."""
