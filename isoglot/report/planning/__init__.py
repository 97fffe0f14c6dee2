"""The cost of a study before it runs, what fits into a time, and how far it is."""
