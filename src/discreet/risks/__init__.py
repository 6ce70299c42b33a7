"""One adversary a file. A risk measure never imports a masking method or a loss measure."""
