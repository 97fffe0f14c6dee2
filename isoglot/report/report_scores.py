"""Everything that a report derives from its measurements, each part computed once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import Claim, claims, remarks
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.transfer_scores import TaskScores, transfer_scores
from isoglot.report.tables.table_1 import Table1, table_1


@dataclass(frozen=True)
class ReportScores:
    """The measurements of a report; terminal, files and page share what is derived from them."""

    measurements: Sequence[Measurement]

    @cached_property
    def tasks(self) -> tuple[TaskScores, ...]:
        return tuple(transfer_scores(self.measurements))

    @cached_property
    def transfer(self) -> Comparisons:
        return Comparisons.of_tasks(self.tasks)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Comparisons of transfer or, where no task has Default and others, of retrieval; the headline is theirs."""
        return self.transfer if self.transfer.conditions else Comparisons.of_retrieval(self.measurements)

    @cached_property
    def table_1(self) -> Table1 | None:
        """None if nothing of it is measured yet."""
        return table_1(self.tasks, self.transfer)

    @cached_property
    def claims(self) -> list[Claim]:
        return claims(self.measurements, self.transfer)

    @cached_property
    def claim_remarks(self) -> list[str]:
        return remarks(self.measurements, self.transfer)
