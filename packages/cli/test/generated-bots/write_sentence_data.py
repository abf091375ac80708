"""Writes the data with which NLTK divides English text into sentences: python write_sentence_data.py DIRECTORY.

Pipecat before 1.12 downloads this data when it is first imported. Later versions do without NLTK, and this program then
does nothing. The data of this program knows no abbreviations.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

if find_spec("nltk") is not None:
    from nltk.tokenize.punkt import PunktParameters, save_punkt_params

    directory = Path(sys.argv[1]) / "tokenizers" / "punkt_tab" / "english"
    directory.mkdir(parents=True)
    save_punkt_params(PunktParameters(), dir=str(directory))
