"""Tables of a report: Table 1 and its notes, vocabularies and conditions, for terminal, page and files."""
