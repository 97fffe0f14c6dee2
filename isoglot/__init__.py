"""isoglot: a laboratory for how cross-lingual structure emerges in pretrained language models."""

__version__ = "0.1.0"
