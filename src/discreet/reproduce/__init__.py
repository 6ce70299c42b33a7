"""Tables and figures of the five papers, recomputed on generated data: one module per paper, ``papers`` lists them."""
