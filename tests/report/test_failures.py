"""What is told at the end of a run that could not make everything."""

from isoglot.report.progress import failures_in_brief


def test_each_cause_is_told_once() -> None:
    failed = [("a, seed 0", "no room"), ("b", "damaged: delete it"), ("a, seed 1", "no room"), ("a, seed 2", "no room")]
    assert failures_in_brief(failed, num_skipped=6).splitlines() == [
        "4 failed, 6 skipped for want of that:",
        "  a, seed 0 and 2 more: no room",
        "  b: damaged: delete it",
    ]
