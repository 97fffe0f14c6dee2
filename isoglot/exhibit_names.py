"""The exhibits that a study can ask for, and by what each of them can be narrowed."""

EXHIBITS = {
    "table-1": "zero-shot transfer of tasks from the first language to the others",
    "baselines": "the same with encoders that were never trained, and with these frozen",
    "figure-4": "translation of words after a map between models of one language each, beside fastText",
    "figure-5": "transfer of tasks from each frozen layer: models of one language mapped, and models of both",
    "figure-6": "retrieval of translations at every layer, after a map",
    "figure-7": "CKA similarity of the languages at every layer: models of both, of one each, untrained",
    "figure-8": "as figure-5, with the models of both languages mapped as well",
    "emergence": "retrieval of translations at every layer, with no mapping",
    "training": "the same and CKA at moments of training: when structure emerges",
    "vocabulary": "what the languages share in each vocabulary; trains nothing",
}
TOLD_ANYWAY = "vocabulary"
"""Of every model of two languages, whatever else is asked for."""

KEYS = ("targets", "conditions", "tasks", "seeds")
WITH_TASKS = ("table-1", "baselines", "figure-5", "figure-8")
WITHOUT_CONDITIONS = ("figure-4", "figure-5", "figure-8")
"""They show models of one language each, and of two Default's alone."""
WITHOUT_SEEDS = ("vocabulary",)


def keys_of(exhibit: str) -> list[str]:
    """The lists of a study of which an exhibit shows every member, or those that [only.EXHIBIT] names."""
    without = {
        "conditions": exhibit in WITHOUT_CONDITIONS,
        "tasks": exhibit not in WITH_TASKS,
        "seeds": exhibit in WITHOUT_SEEDS,
    }
    return [key for key in KEYS if not without.get(key, False)]
