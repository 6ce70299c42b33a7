"""What a released cell stands for: the one reader that every measure asks.

``positions`` places values of a kind on an axis, ``reader`` finds the cell behind each distinct value of a column, ``atoms``
turns the cells of several columns into sets of atoms of one domain, on which agreement and containment are decided.
"""
