"""Growth of scores with training: rows, their trends, and predictions that a longer run can test."""
