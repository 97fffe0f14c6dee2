"""The report as one HTML page: escaped text, figures in two widths, tables, and a section for every exhibit."""
