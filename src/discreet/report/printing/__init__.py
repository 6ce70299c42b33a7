"""Reports as PDF: the HTML page of a report as a tree of elements, typeset without a browser."""
