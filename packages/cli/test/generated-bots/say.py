"""Synthesizes speech: python say.py TEXT. Prints Base64-encoded mu-law at 8000 Hz. Uses the same synthesizer as
`pipecat eval`.
"""

import base64
import ctypes
import sys

import espeakng_loader
import numpy as np

# Constants from espeak-ng's speak_lib.h: synchronous playback mode, the parameter for the rate in
# words per minute, positions in characters, and UTF-8 text.
SYNCHRONOUS, RATE, CHARACTERS, UTF8 = 2, 1, 1, 1
CARRIER_SAMPLE_RATE = 8000


def synthesize(text: str) -> tuple[int, np.ndarray]:
    """Synthesize a text. Return the sample rate in hertz and the samples."""
    library = ctypes.cdll.LoadLibrary(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    pieces: list[np.ndarray] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    def take(samples, count, events) -> int:
        if count > 0:
            pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    library.espeak_SetSynthCallback(take)
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_SetParameter(RATE, 150, 0)
    spoken = text.encode()
    library.espeak_Synth(spoken, len(spoken) + 1, 0, CHARACTERS, 0, UTF8, None, None)
    library.espeak_Synchronize()
    return rate, np.concatenate(pieces)


def encode_mu_law(samples: np.ndarray) -> bytes:
    """Encode samples as mu-law (ITU-T G.711)."""
    signs = np.where(samples < 0, 0x80, 0)
    magnitudes = np.minimum(np.abs(samples.astype(int)), 32635) + 0x84
    exponents = np.floor(np.log2(magnitudes)).astype(int) - 7
    mantissas = (magnitudes >> (exponents + 3)) & 0x0F
    return (~(signs | (exponents << 4) | mantissas) & 0xFF).astype(np.uint8).tobytes()


rate, sound = synthesize(sys.argv[1])
times = np.arange(0, len(sound) / rate, 1 / CARRIER_SAMPLE_RATE)
slow = np.interp(times, np.arange(len(sound)) / rate, sound)
print(base64.b64encode(encode_mu_law(slow)).decode())
