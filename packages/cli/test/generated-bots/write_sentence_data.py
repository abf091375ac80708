"""Writes the data with which NLTK divides English text into sentences: python write_sentence_data.py DIRECTORY.

Pipecat 1.9 downloads this data when it is first imported. The data of this program knows no abbreviations.
"""

import sys
from pathlib import Path

from nltk.tokenize.punkt import PunktParameters, save_punkt_params

directory = Path(sys.argv[1]) / "tokenizers" / "punkt_tab" / "english"
directory.mkdir(parents=True)
save_punkt_params(PunktParameters(), dir=str(directory))
