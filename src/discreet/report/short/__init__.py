"""The short report: two pages for a data protection officer and a regulator, drawn from the evidence of the full one."""
