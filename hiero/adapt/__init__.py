"""Learning from corrections: each corrected translation gives rules and moves weights for the next ones
(Denkowski, Dyer and Lavie 2014).

>>> import hiero
>>> session = hiero.adapt.Session.open("model", "anna")  # doctest: +SKIP
>>> session.correct("他 读 了 书 。", "he read the book .")  # doctest: +SKIP
>>> session.translate("他 读 了 两 本 书 。").text  # doctest: +SKIP
"""

from hiero.adapt.adapted_decoder import Correction
from hiero.adapt.learning_model import LearningModel
from hiero.adapt.session import Session
from hiero.adapt.settings import AdaptSettings

__all__ = ["AdaptSettings", "Correction", "LearningModel", "Session"]
