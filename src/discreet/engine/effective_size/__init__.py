"""The effective class size of a record: among how many records it is hidden, over everything an intruder may know."""
