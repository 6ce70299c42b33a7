"""The Initial Microdata Analyzer (seed 002, section 3): proposes a policy, with a reason for each attribute."""
