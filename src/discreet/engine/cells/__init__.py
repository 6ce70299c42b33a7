"""The meaning of a released cell, read in one place for every measure.

``positions`` maps values of an ordered kind to positions on an axis, ``reader`` reads each distinct value of a column as a value
or a cell, and ``atoms`` turns the cells of several columns into sets of atoms of one domain, on which agreement and containment
are decided.
"""
