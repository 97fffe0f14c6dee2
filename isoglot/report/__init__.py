"""The results of a study for people: in the terminal and as a page."""
