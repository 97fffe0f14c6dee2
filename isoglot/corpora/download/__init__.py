"""Official data sets: fetched, checked and unpacked."""
