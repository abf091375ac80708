import type { Vendor } from './vendor-service.ts';
import { anthropic } from './vendors/anthropic.ts';
import { assemblyai } from './vendors/assemblyai.ts';
import { asyncai } from './vendors/asyncai.ts';
import { aws } from './vendors/aws.ts';
import { azure } from './vendors/azure.ts';
import { baseten } from './vendors/baseten.ts';
import { bland } from './vendors/bland.ts';
import { camb } from './vendors/camb.ts';
import { cartesia } from './vendors/cartesia.ts';
import { cerebras } from './vendors/cerebras.ts';
import { crusoe } from './vendors/crusoe.ts';
import { deepgram } from './vendors/deepgram.ts';
import { deepseek } from './vendors/deepseek.ts';
import { elevenlabs } from './vendors/elevenlabs.ts';
import { fal } from './vendors/fal.ts';
import { fireworks } from './vendors/fireworks.ts';
import { fish } from './vendors/fish.ts';
import { gladia } from './vendors/gladia.ts';
import { google } from './vendors/google.ts';
import { gradium } from './vendors/gradium.ts';
import { groq } from './vendors/groq.ts';
import { heygen } from './vendors/heygen.ts';
import { hume } from './vendors/hume.ts';
import { inception } from './vendors/inception.ts';
import { inworld } from './vendors/inworld.ts';
import { kokoro } from './vendors/kokoro.ts';
import { meta } from './vendors/meta.ts';
import { minimax } from './vendors/minimax.ts';
import { mistral } from './vendors/mistral.ts';
import { moonshine } from './vendors/moonshine.ts';
import { neuphonic } from './vendors/neuphonic.ts';
import { novita } from './vendors/novita.ts';
import { nvidia } from './vendors/nvidia.ts';
import { ollama } from './vendors/ollama.ts';
import { openai } from './vendors/openai.ts';
import { openrouter } from './vendors/openrouter.ts';
import { perplexity } from './vendors/perplexity.ts';
import { piper } from './vendors/piper.ts';
import { pocketTts } from './vendors/pocket-tts.ts';
import { qwen } from './vendors/qwen.ts';
import { resemble } from './vendors/resemble.ts';
import { rime } from './vendors/rime.ts';
import { sambanova } from './vendors/sambanova.ts';
import { sarvam } from './vendors/sarvam.ts';
import { simli } from './vendors/simli.ts';
import { smallest } from './vendors/smallest.ts';
import { soniox } from './vendors/soniox.ts';
import { speechify } from './vendors/speechify.ts';
import { speechmatics } from './vendors/speechmatics.ts';
import { tavus } from './vendors/tavus.ts';
import { together } from './vendors/together.ts';
import { ultravox } from './vendors/ultravox.ts';
import { whisper } from './vendors/whisper.ts';
import { xai } from './vendors/xai.ts';
import { xtts } from './vendors/xtts.ts';
import { zoom } from './vendors/zoom.ts';

/** All vendors of the catalogue. A new vendor needs a file in `vendors/` and an entry in this list. */
export const vendors: readonly Vendor[] = [
  anthropic,
  assemblyai,
  asyncai,
  aws,
  azure,
  baseten,
  bland,
  camb,
  cartesia,
  cerebras,
  crusoe,
  deepgram,
  deepseek,
  elevenlabs,
  fal,
  fireworks,
  fish,
  gladia,
  google,
  gradium,
  groq,
  heygen,
  hume,
  inception,
  inworld,
  kokoro,
  meta,
  minimax,
  mistral,
  moonshine,
  neuphonic,
  novita,
  nvidia,
  ollama,
  openai,
  openrouter,
  perplexity,
  piper,
  pocketTts,
  qwen,
  resemble,
  rime,
  sambanova,
  sarvam,
  simli,
  smallest,
  soniox,
  speechify,
  speechmatics,
  tavus,
  together,
  ultravox,
  whisper,
  xai,
  xtts,
  zoom,
];
