"""The data sets of the paper's study: what there is, how it is fetched, unpacked and checked."""
