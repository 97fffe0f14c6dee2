"""Growth of scores with training: rows, the curves through them, and predictions that a longer run can test."""
