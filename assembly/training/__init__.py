"""Training rankers: labelled questions, measured by the real search, and the weights that put their evidence first."""

from assembly.training.labelled import LINES, Labelled, labelled_questions, stored
from assembly.training.recall import mean_figures, mean_recall, recall
from assembly.training.weights import GROUPS, PRINTED, SIMPLE, TRAINED, kinds_of, ranker_text, simple_recall, weights_of

__all__ = [
    "GROUPS",
    "LINES",
    "PRINTED",
    "SIMPLE",
    "TRAINED",
    "Labelled",
    "kinds_of",
    "labelled_questions",
    "mean_figures",
    "mean_recall",
    "ranker_text",
    "recall",
    "simple_recall",
    "stored",
    "weights_of",
]
