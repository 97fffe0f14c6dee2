"""The claims of the paper, and what measurements say of each."""

from isoglot.report.claims.all_claims import QUESTIONS, claims

__all__ = ["QUESTIONS", "claims"]
