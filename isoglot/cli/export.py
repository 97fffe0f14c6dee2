"""The `isoglot export` command: one language of one of our models, for transformers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoglot.cli.options import DEFAULT_STORE, DataOption, StoreOption, command, named_folder, opened_store
from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from isoglot.model.interchange.model_card import Origin
    from isoglot.model.interchange.own_model import OwnModel
    from isoglot.pipeline.model_pairs import Side
    from isoglot.store import Store


def export(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A study and a condition, perhaps a language, a pair and a seed, as in demo:default:oru:1.",
        ),
    ],
    to: Annotated[str, typer.Option("--to", help="Folder to write, which must not be there yet.", metavar="DIR")],
    language: Annotated[
        str | None, typer.Option("--language", help="If the name has none: which to read.", metavar="CODE")
    ] = None,
    store_folder: StoreOption = DEFAULT_STORE,
    data: DataOption = None,
) -> None:
    """Write one language of a model as a plain transformers model with its tokenizer, and check that both agree.

    Post-LN models become XLM, pre-LN ones RoBERTa-PreLayerNorm. Both bring the softmax over masked words along; the
    latter in float32 only, as that class has a larger head. Words are parted at white space alone: the README.md that
    is written says how to find them as in training.
    """
    from isoglot.pipeline.model_names import named_side

    store, folder = opened_store(store_folder), named_folder("--to", to)
    side = named_side(model, store=store, data=Path(data) if data else None, language=language)
    study, *_ = model.split(":")
    for stage in (side.bpe, side.vocabulary):
        if not store.has(stage):
            making = command("run", study, store=store_folder)
            raise IsoglotError(f"{store_folder}: {stage.title} is not there any more; make it with: {making}")
    # Not before: torch takes a while, and a mistake should be told at once.
    from isoglot.model.interchange.exporting import TOLERANCE, write_export
    from isoglot.model.interchange.model_card import limits, model_card

    own = _own_model(side, store)
    origin = _origin(side)
    done = write_export(own, folder, card=lambda export: model_card(own, origin=origin, export=export))
    softmax = "" if done.softmax is None else f", log probabilities of masked words by {done.softmax:.1g}"
    print(f"Wrote {side.language} of {side.encoder.title} to {to} ({done.architecture}).")
    print(
        f"Read back, hidden states of all layers differ from ours by at most {done.hidden_states:.1g}{softmax} "
        f"(relative to a layer's largest number where that is above 1; {TOLERANCE:.0e} is allowed), and "
        f"{done.num_words:,} words have the same ids."
    )
    print("".join(f"- {sentence}\n" for sentence in limits(own, export=done)), end="")


def _own_model(side: "Side", store: "Store") -> "OwnModel":
    from isoglot.model.interchange.own_model import OwnModel
    from isoglot.pipeline.stages.models import chosen_model
    from isoglot.pipeline.stages.vocabulary import opened_encoding

    encoding = opened_encoding(store.folder, language=side.language, bpe=side.bpe, vocabulary=side.vocabulary)

    return OwnModel(
        model=chosen_model(store.folder(side.encoder)),
        language=side.language,
        bpe=encoding.bpe,
        vocabulary=encoding.vocabulary,
        splitting=side.splitting,
        window=side.encoder.run.window,
    )


def _origin(side: "Side") -> "Origin":
    from isoglot.model.interchange.model_card import Origin
    from isoglot.pipeline.stages.models import PretrainedEncoder

    graph, condition = side.graph, side.graph.condition
    return Origin(
        study=graph.study.name,
        condition=f"{condition.name}: {condition.label} (section {condition.section})",
        languages=graph.languages,
        seed=graph.seed,
        trained_tokens=side.encoder.run.tokens if isinstance(side.encoder, PretrainedEncoder) else 0,
    )
