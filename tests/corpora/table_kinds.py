"""Every kind of table, with kept anchors where it needs them."""

from hypothesis import strategies as st

from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind

orders = st.sampled_from(AnchorOrder)
some_anchors = st.builds(KeptAnchors, share=st.floats(0.01, 1), order=orders, seed=st.integers(0, 3))
whole_kinds = st.sampled_from([kind for kind in TableKind if kind is not TableKind.PARTIAL])
kinds = st.tuples(whole_kinds, st.none()) | st.tuples(st.just(TableKind.PARTIAL), some_anchors)
Kind = tuple[TableKind, KeptAnchors | None]
