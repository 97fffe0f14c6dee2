"""The steps that a pass over a model is written in, for each kind of device."""
