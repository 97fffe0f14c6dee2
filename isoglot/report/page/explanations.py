"""What each exhibit is, in two sentences for someone who has not read the paper."""

SURVIVAL = (
    "A model that learned a task in one language alone is tested in the other, and each condition takes away one "
    "thing that the languages share. Bars show how much of the transfer of Default, which shares everything, is left: "
    "100% is as good as Default, 0% is no better than without transfer."
)
RETRIEVAL_SURVIVAL = (
    "A model reads two languages and is never told which sentences belong together; each condition takes away one "
    "thing that the languages share. Bars show how much of what Default, which shares everything, gains by training "
    "is left when sentences look for their translations: 100% is as good as Default, 0% is no better than before "
    "training."
)
CLAIMS = (
    "Each line is something the paper says, held against the numbers of this study by a test that is the same for "
    "every study. Where seeds disagree or the difference is within noise, the line says so rather than guess."
)
TABLE_1 = (
    "Each model was pretrained on text of two languages, learned the task from examples in the first language, and "
    "was tested in the others without having seen a label there. Δ is the mean over the test languages less that of "
    "Default."
)
RANKS = (
    "Spearman's rho is 1 where a study puts the conditions into the paper's order, each by its mean over test "
    "languages and seeds, 0 where the two orders have nothing to do with each other, and -1 where one is the other "
    "backwards. Conditions that differ by no more than noise may come in either order, so that a faithful replication "
    "need not reach 1; a condition without all of the languages is left out."
)
FIGURE_3 = (
    "The scores of Table 1 as bars: pale is what a model has by chance, or without pretraining where that is known of "
    "every condition, and the rest is transfer. Where as much of that is left as under Default, transfer can do "
    "without what was taken away; where it vanishes, transfer needs it."
)
EMERGENCE = (
    "Given a sentence in one language, is its nearest neighbour inside the model its translation, although no one "
    "ever told the model which sentences belong together? Each line is one kind of model from L0, its embeddings, to "
    "its top layer; the same model before training is in the table."
)
WORD_TRANSLATION = (
    "The same question for single words: is the nearest word of the other language the one the dictionary gives? No "
    "map between the languages was learned for this."
)
LEARNING_CURVES = (
    "Perplexity says among how many equally likely words the model still hesitates in text it was not trained on; "
    "lower is better, and of different vocabularies or domains it does not compare to the point. A model whose curve "
    "stays flat has not learned its languages, and then its other scores say nothing about sharing."
)
STRUCTURE = (
    "The scores of the models as they were at moments of their training. Where a line rises late, the languages were "
    "learned side by side first, and only then came to lie together."
)
VOCABULARY = (
    "How text is cut into subwords decides which strings two languages have in common: these are the anchors that the "
    "model sees in both. The more of all running text they cover, the more the languages are tied together by "
    "spelling alone."
)
FIGURE_4 = (
    "Two models that each read one language only are laid over each other by a rotation fitted on a dictionary, and "
    "other words are then looked up, at every layer (L0: the embeddings). The dashed and the dotted line are "
    "fastText, plain word vectors made from the same text, one for each direction."
)
FIGURE_5 = (
    "A task is learned on top of each frozen layer of the source language's model (L0: the embeddings), and the other "
    "language's model is rotated into its place at test time. The nearer this comes to the model of both languages, "
    "the more the two separate models have in common."
)
FIGURE_6 = (
    "Sentences of two models are laid over each other, layer by layer (L0: the embeddings), by a rotation fitted on "
    "other sentences, and each looks for its translation. Where models of one language each do well, their insides "
    "have the same shape although they share nothing."
)
FIGURE_7 = (
    "CKA says how alike two sets of sentence vectors are whatever way they are rotated: 1 is alike, 0 is not at all. "
    "Each column is a kind of model, each row a layer (L0: the embeddings); Untrained holds the trained model of the "
    "first language against an untrained one of the other."
)
SCATTER = (
    "Each point is one layer of one kind of model: how alike the two languages are there by CKA, and how many "
    "sentences find their translation after a rotation. If points rise from left to right, likeness of shape is what "
    "makes the rotation work."
)
FIGURE_8 = (
    "As Figure 5, but the model of both languages is rotated as well. If that adds nothing, joint training has laid "
    "the languages over each other already."
)
CONDITIONS = (
    "What was done to each model, in the words of the paper's Table 1. Everything not named in a row is as in Default."
)
PROVENANCE = (
    "Where every number comes from: the files that were read, the programs that read them and the machines that did "
    "the work. With the same files and settings, isoglot makes the same artifacts again."
)
MISSING = "What could not be shown, and why. The rest of the report is made without it, and may change with it."
DIFFERENCE = (
    "Another report held against this one, setting by setting and number by number. A number differs by more than "
    "noise where every seed of one lies on the same side of every seed of the other, and their means are further apart "
    "than single models differ by."
)
