"""The stages that a study needs, and the numbers that come out of them."""
