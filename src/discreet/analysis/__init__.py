"""The Initial Microdata Analyzer (Truta et al., section 3): proposes a policy, with a reason for each attribute."""
