from dataclasses import dataclass, replace

from isoglot.store import Difference, Stage, Store, Work, differences, run_plan
from tests.store.toy_stages import Count, Joined, Text


@dataclass(frozen=True, kw_only=True)
class Optimization:
    learning_rate: float = 0.1
    betas: tuple[float, ...] = (0.9, 0.98)


@dataclass(frozen=True, kw_only=True)
class Model(Stage):
    kind = "toy-model"
    optimization: Optimization = Optimization()
    streams: dict[str, Joined]

    def make(self, work: Work) -> None:
        (work.folder / "model").touch()


TEXT = Text()
MODEL = Model(streams={"en": Joined(texts=(TEXT,)), "fr": Joined(texts=(TEXT, Text(word="fr")))})


def between(store: Store, a: Stage, b: Stage) -> list[tuple[str, object, object]]:
    run_plan([a, b], store)
    return [(each.path, each.a, each.b) for each in differences(store.record(a), store.record(b), store.records())]


def test_nested_settings(store: Store) -> None:
    assert between(store, MODEL, replace(MODEL)) == []
    other = replace(MODEL, optimization=Optimization(learning_rate=0.2, betas=(0.9, 0.99, 1)))
    assert between(store, MODEL, other) == [
        ("optimization.learning_rate", 0.1, 0.2),
        ("optimization.betas.1", 0.98, 0.99),
        ("optimization.betas.2", "(absent)", 1),
    ]


def test_settings_of_inputs_are_found_through_their_records(store: Store) -> None:
    french = Joined(texts=(TEXT, Text(word="fr", lines=3)), separator="-")
    assert between(store, MODEL, replace(MODEL, streams=MODEL.streams | {"fr": french})) == [
        ("streams.fr > separator", " ", "-"),
        ("streams.fr > texts.1 > lines", 2, 3),
    ]


def test_an_input_shared_by_two_is_reported_once(store: Store) -> None:
    text = Text(lines=1)
    other = Model(streams={"en": Joined(texts=(text,)), "fr": Joined(texts=(text, Text(word="fr")))})
    assert between(store, MODEL, other) == [("streams.en > texts.0 > lines", 2, 1)]


def test_inputs_that_one_lacks_or_the_store_has_lost(store: Store) -> None:
    english = Joined(texts=(TEXT,))
    assert between(store, MODEL, Model(streams={"en": english})) == [
        ("streams.fr", MODEL.streams["fr"].digest[:16], "(absent)")
    ]
    other = Text(word="other")
    run_plan([Joined(texts=(other,))], store)
    store.folder(TEXT).rename(store.root.parent / "lost")
    a, b = store.record(english), store.record(Joined(texts=(other,)))
    assert differences(a, b, store.records()) == [Difference(path="texts.0", a=TEXT.digest[:16], b=other.digest[:16])]


def test_lists_of_other_lengths_are_shown_whole(store: Store) -> None:
    """Their first texts have the same place, and are no pair."""
    french = Joined(texts=(Text(word="fr"),))
    other = replace(MODEL, streams=MODEL.streams | {"fr": french})
    titles = [each.title for each in MODEL.streams["fr"].texts]
    assert between(store, MODEL, other) == [("streams.fr > texts", "; ".join(titles), titles[1])]


def test_kinds_and_versions(store: Store) -> None:
    @dataclass(frozen=True, kw_only=True)
    class NewerText(Text):
        kind = "toy-text"
        version = 2

    assert between(store, TEXT, NewerText()) == [("version", 1, 2)]
    joined = Joined(texts=(TEXT,))
    assert between(store, joined, Count(joined=joined)) == [("kind", "toy-joined", "toy-count")]
    assert between(store, joined, Joined(texts=(NewerText(),))) == [("texts.0 > version", 1, 2)]
