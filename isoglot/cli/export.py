"""The `isoglot export` command: one language of one of our models, for transformers."""

from typing import Annotated

import typer

from isoglot.cli.options import Folders, grouped_options, named_folder
from isoglot.errors import IsoglotError


@grouped_options
def export(
    folders: Folders,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A study and a condition, perhaps a language, a pair and a seed, as in demo:default:oru:1.",
        ),
    ],
    to: Annotated[str, typer.Option("--to", help="Folder to write, which must not be there yet.", metavar="DIR")],
    language: Annotated[
        str | None,
        typer.Option("--language", help="Language that the exported model reads, if MODEL names none.", metavar="CODE"),
    ] = None,
) -> None:
    """Write one language of a model as a plain transformers model with its tokenizer, and check that both agree.

    Post-LN models become XLM, pre-LN ones RoBERTa-PreLayerNorm. Both bring the softmax over masked words along; the
    latter in float32 only, as that class has a larger head. The tokenizer reads raw text by the rules of Moses, or by
    characters. The README.md that is written has the code that cuts Chinese into words first.
    """
    from isoglot.pipeline.model_names import named_side

    store, folder = folders.open_store(), named_folder("--to", to)
    side = named_side(model, store=store, data=folders.data_path, language=language)
    study, *_ = model.split(":")
    for stage in (side.stream.bpe, side.stream.vocabulary):
        if not store.has(stage):
            making = folders.command("run", study)
            raise IsoglotError(f"{folders.store_folder}: {stage.title} is not there any more; make it with: {making}")
    # Not before: torch takes a while, and a mistake should be reported at once.
    from isoglot.model.interchange.exporting import TOLERANCE, write_export
    from isoglot.model.interchange.model_card import Origin, limits, model_card
    from isoglot.model.interchange.own_model import OwnModel
    from isoglot.pipeline.stages.models import PretrainedEncoder, chosen_model

    encoding = side.stream.encoding(store.verified_folder)
    own = OwnModel(
        model=chosen_model(store.verified_folder(side.encoder)),
        language=side.language,
        bpe=encoding.bpe,
        vocabulary=encoding.vocabulary,
        splitting=side.stream.text.splitting,
        window=side.encoder.run.window,
    )
    graph, condition = side.graph, side.graph.condition
    origin = Origin(
        study=graph.study.name,
        condition=f"{condition.name}: {condition.label} (section {condition.section})",
        languages=graph.languages,
        seed=graph.seed,
        trained_tokens=side.encoder.run.tokens if isinstance(side.encoder, PretrainedEncoder) else 0,
    )
    done = write_export(own, folder, card=lambda export: model_card(own, origin=origin, export=export))
    softmax = "" if done.softmax is None else f", log probabilities of masked words by {done.softmax:.1g}"
    print(f"Wrote {side.language} of {side.encoder.title} to {to} ({done.architecture}).")
    print(
        f"Read back, hidden states of all layers differ from ours by at most {done.hidden_states:.1g}{softmax} "
        f"(relative to a layer's largest number where that is above 1; {TOLERANCE:.0e} is allowed). {done.agreement}"
    )
    for sentence in limits(own, export=done):
        print(f"- {sentence}")
