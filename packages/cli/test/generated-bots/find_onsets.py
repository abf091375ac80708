"""Prints when each utterance of a recording begins: python find_onsets.py FILE. The output is JSON: for each channel, a
list of milliseconds.
"""

import json
import sys

import numpy as np
import soundfile

# As in phone-call.ts: the amplitude of sound, and the seconds between two utterances.
AMPLITUDE = 1000 / 32768
PAUSE_SECONDS = 0.5

audio, rate = soundfile.read(sys.argv[1])
onsets = []
for channel in audio.T:
    times = np.flatnonzero(np.abs(channel) > AMPLITUDE) / rate
    is_onset = np.diff(times, prepend=-PAUSE_SECONDS) >= PAUSE_SECONDS
    onsets.append([round(1000 * time) for time in times[is_onset]])
print(json.dumps(onsets))
