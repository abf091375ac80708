import {
  describeVariable,
  integerSettingFromVariable,
  requiredVariable,
  settingFromVariable,
  variableWithDefault,
} from '../python/environment.ts';
import { createService, createVendor, type Vendor } from './vendor-service.ts';
import { aws } from './vendors/aws.ts';
import { azure } from './vendors/azure.ts';
import { deepgram } from './vendors/deepgram.ts';
import { elevenlabs } from './vendors/elevenlabs.ts';
import { google } from './vendors/google.ts';
import { heygen } from './vendors/heygen.ts';
import { nvidia } from './vendors/nvidia.ts';
import { openai } from './vendors/openai.ts';
import { ultravox } from './vendors/ultravox.ts';
import { xai } from './vendors/xai.ts';

/** All vendors of the catalogue, in alphabetical order. A vendor with many services has a file in `vendors/`. */
export const vendors: readonly Vendor[] = [
  createVendor('Anthropic', 'https://platform.claude.com', [
    createService('anthropic_llm', 'Anthropic Claude', 'AnthropicLLMService', {
      arguments: { api_key: requiredVariable('ANTHROPIC_API_KEY') },
      settings: { model: settingFromVariable('ANTHROPIC_MODEL') },
    }),
  ]),
  createVendor('AssemblyAI', 'https://www.assemblyai.com', [
    createService('assemblyai_stt', 'AssemblyAI', 'AssemblyAISTTService', {
      arguments: { api_key: requiredVariable('ASSEMBLYAI_API_KEY') },
    }),
  ]),
  createVendor('Async', 'https://async.com', [
    createService('asyncai_tts', 'Async', 'AsyncAITTSService', {
      arguments: { api_key: requiredVariable('ASYNCAI_API_KEY') },
      settings: { voice: requiredVariable('ASYNCAI_VOICE_ID') },
    }),
  ]),
  aws,
  azure,
  createVendor('Baseten', 'https://www.baseten.co', [
    createService('baseten_llm', 'Baseten', 'BasetenLLMService', {
      arguments: { api_key: requiredVariable('BASETEN_API_KEY') },
      settings: { model: settingFromVariable('BASETEN_MODEL') },
    }),
  ]),
  createVendor('Bland', 'https://www.bland.ai', [
    createService('bland_tts', 'Bland', 'BlandTTSService', {
      arguments: { api_key: requiredVariable('BLAND_API_KEY') },
      settings: { voice: settingFromVariable('BLAND_VOICE_ID') },
    }),
  ]),
  createVendor('Camb', 'https://www.camb.ai', [
    createService('camb_tts', 'Camb', 'CambTTSService', {
      arguments: { api_key: requiredVariable('CAMB_API_KEY') },
      settings: { voice: integerSettingFromVariable('CAMB_VOICE_ID') },
    }),
  ]),
  createVendor('Cartesia', 'https://cartesia.ai', [
    createService('cartesia_stt', 'Cartesia', 'CartesiaSTTService', {
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
    }),
    createService('cartesia_turns_stt', 'Cartesia Turns', 'CartesiaTurnsSTTService', {
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
    }),
    createService('cartesia_tts', 'Cartesia', 'CartesiaTTSService', {
      arguments: { api_key: requiredVariable('CARTESIA_API_KEY') },
      settings: { voice: variableWithDefault('CARTESIA_VOICE_ID', '86e30c1d-714b-4074-a1f2-1cb6b552fb49') },
    }),
  ]),
  createVendor('Cerebras', 'https://cloud.cerebras.ai', [
    createService('cerebras_llm', 'Cerebras', 'CerebrasLLMService', {
      arguments: { api_key: requiredVariable('CEREBRAS_API_KEY') },
      settings: { model: settingFromVariable('CEREBRAS_MODEL') },
    }),
  ]),
  createVendor('Crusoe', 'https://crusoe.ai', [
    createService('crusoe_llm', 'Crusoe', 'CrusoeLLMService', {
      arguments: { api_key: requiredVariable('CRUSOE_API_KEY') },
      settings: { model: settingFromVariable('CRUSOE_MODEL') },
    }),
  ]),
  deepgram,
  createVendor('DeepSeek', 'https://platform.deepseek.com', [
    createService('deepseek_llm', 'DeepSeek', 'DeepSeekLLMService', {
      arguments: { api_key: requiredVariable('DEEPSEEK_API_KEY') },
      settings: { model: settingFromVariable('DEEPSEEK_MODEL') },
    }),
  ]),
  elevenlabs,
  createVendor('fal', 'https://fal.ai', [
    createService('fal_stt', 'fal (Wizper)', 'FalSTTService', {
      arguments: { api_key: requiredVariable('FAL_API_KEY') },
      session: 'aiohttp_session',
    }),
  ]),
  createVendor('Fireworks AI', 'https://fireworks.ai', [
    createService('fireworks_llm', 'Fireworks AI', 'FireworksLLMService', {
      arguments: { api_key: requiredVariable('FIREWORKS_API_KEY') },
      settings: { model: settingFromVariable('FIREWORKS_MODEL') },
    }),
  ]),
  createVendor('Fish Audio', 'https://fish.audio', [
    createService('fish_tts', 'Fish Audio', 'FishAudioTTSService', {
      arguments: { api_key: requiredVariable('FISH_API_KEY') },
      settings: { voice: requiredVariable('FISH_VOICE_ID') },
    }),
  ]),
  createVendor('Gladia', 'https://www.gladia.io', [
    createService('gladia_stt', 'Gladia', 'GladiaSTTService', {
      arguments: { api_key: requiredVariable('GLADIA_API_KEY') },
    }),
  ]),
  google,
  createVendor('Gradium', 'https://gradium.ai', [
    createService('gradium_stt', 'Gradium', 'GradiumSTTService', {
      arguments: { api_key: requiredVariable('GRADIUM_API_KEY') },
    }),
    createService('gradium_tts', 'Gradium', 'GradiumTTSService', {
      arguments: { api_key: requiredVariable('GRADIUM_API_KEY') },
      settings: { voice: settingFromVariable('GRADIUM_VOICE_ID') },
    }),
  ]),
  createVendor('Groq', 'https://groq.com', [
    createService('groq_stt', 'Groq (Whisper)', 'GroqSTTService', {
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
    }),
    createService('groq_llm', 'Groq', 'GroqLLMService', {
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
      settings: { model: settingFromVariable('GROQ_MODEL') },
    }),
    createService('groq_tts', 'Groq', 'GroqTTSService', {
      arguments: { api_key: requiredVariable('GROQ_API_KEY') },
      settings: { voice: settingFromVariable('GROQ_VOICE_ID') },
    }),
  ]),
  heygen,
  createVendor('Hume', 'https://www.hume.ai', [
    createService('hume_tts', 'Hume', 'HumeTTSService', {
      arguments: { api_key: requiredVariable('HUME_API_KEY') },
      settings: { voice: requiredVariable('HUME_VOICE_ID') },
    }),
  ]),
  createVendor('Inception', 'https://www.inceptionlabs.ai', [
    createService('inception_llm', 'Inception', 'InceptionLLMService', {
      arguments: { api_key: requiredVariable('INCEPTION_API_KEY') },
      settings: { model: settingFromVariable('INCEPTION_MODEL') },
    }),
  ]),
  createVendor('Inworld', 'https://inworld.ai', [
    createService('inworld_tts', 'Inworld', 'InworldTTSService', {
      extras: [],
      arguments: { api_key: requiredVariable('INWORLD_API_KEY') },
      settings: { voice: settingFromVariable('INWORLD_VOICE_ID') },
    }),
  ]),
  createVendor('Kokoro', 'https://github.com/hexgrad/kokoro', [
    createService('kokoro_tts', 'Kokoro (local)', 'KokoroTTSService', {
      settings: { voice: variableWithDefault('KOKORO_VOICE_ID', 'af_heart') },
      // kokoro-v1.0.onnx and voices-v1.0.bin.
      downloads: { megabytes: 354 },
    }),
  ]),
  createVendor('Meta', 'https://ai.meta.com', [
    createService('meta_stt', 'Meta', 'MetaSTTService', {
      arguments: { api_key: requiredVariable('META_API_KEY') },
    }),
  ]),
  createVendor('MiniMax', 'https://www.minimax.io', [
    createService('minimax_tts', 'MiniMax', 'MiniMaxHttpTTSService', {
      extras: [],
      arguments: { api_key: requiredVariable('MINIMAX_API_KEY'), group_id: requiredVariable('MINIMAX_GROUP_ID') },
      settings: { voice: settingFromVariable('MINIMAX_VOICE_ID') },
      session: 'aiohttp_session',
    }),
  ]),
  createVendor('Mistral', 'https://mistral.ai', [
    createService('mistral_stt', 'Mistral', 'MistralSTTService', {
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
    }),
    createService('mistral_llm', 'Mistral', 'MistralLLMService', {
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
      settings: { model: settingFromVariable('MISTRAL_MODEL') },
    }),
    createService('mistral_tts', 'Mistral', 'MistralTTSService', {
      arguments: { api_key: requiredVariable('MISTRAL_API_KEY') },
      settings: { voice: requiredVariable('MISTRAL_VOICE_ID') },
    }),
  ]),
  createVendor('Moonshine', 'https://github.com/moonshine-ai/moonshine', [
    createService('moonshine_stt', 'Moonshine (local)', 'MoonshineSTTService', {
      settings: { model: settingFromVariable('MOONSHINE_MODEL') },
      // small-streaming-en.
      downloads: { megabytes: 142 },
      installation: { note: 'on Linux, its package needs glibc 2.34 or later (Debian 12, Ubuntu 22.04)' },
    }),
  ]),
  createVendor('Neuphonic', 'https://www.neuphonic.com', [
    createService('neuphonic_tts', 'Neuphonic', 'NeuphonicTTSService', {
      arguments: { api_key: requiredVariable('NEUPHONIC_API_KEY') },
      settings: { voice: requiredVariable('NEUPHONIC_VOICE_ID') },
    }),
  ]),
  createVendor('Novita', 'https://novita.ai', [
    createService('novita_llm', 'Novita', 'NovitaLLMService', {
      arguments: { api_key: requiredVariable('NOVITA_API_KEY') },
      settings: { model: settingFromVariable('NOVITA_MODEL') },
    }),
  ]),
  nvidia,
  createVendor('Ollama', 'https://ollama.com', [
    createService('ollama_llm', 'Ollama (local)', 'OLLamaLLMService', {
      extras: [],
      arguments: { base_url: variableWithDefault('OLLAMA_BASE_URL', 'http://localhost:11434/v1') },
      // Pipecat's default, llama2, cannot call tools.
      settings: { model: variableWithDefault('OLLAMA_MODEL', 'llama3.2') },
      downloads: { megabytes: 2000, command: 'ollama pull llama3.2' },
    }),
  ]),
  openai,
  createVendor('OpenRouter', 'https://openrouter.ai', [
    createService('openrouter_llm', 'OpenRouter', 'OpenRouterLLMService', {
      arguments: { api_key: requiredVariable('OPENROUTER_API_KEY') },
      settings: { model: settingFromVariable('OPENROUTER_MODEL') },
    }),
  ]),
  createVendor('Perplexity', 'https://www.perplexity.ai', [
    createService('perplexity_llm', 'Perplexity', 'PerplexityAgentHttpLLMService', {
      arguments: { api_key: requiredVariable('PERPLEXITY_API_KEY') },
      settings: { model: settingFromVariable('PERPLEXITY_MODEL') },
      since: '1.14.0',
    }),
  ]),
  createVendor('Piper', 'https://github.com/OHF-Voice/piper1-gpl', [
    createService('piper_tts', 'Piper (local)', 'PiperTTSService', {
      settings: { voice: requiredVariable('PIPER_VOICE_ID') },
      downloads: { megabytes: null },
    }),
  ]),
  createVendor('Pocket TTS', 'https://github.com/kyutai-labs/pocket-tts', [
    createService('pockettts_tts', 'Pocket TTS (local)', 'PocketTTSService', {
      module: 'pipecat.services.pocket_tts.tts',
      extras: ['pocket-tts'],
      settings: { voice: settingFromVariable('POCKET_TTS_VOICE_ID') },
      downloads: { megabytes: null },
      installation: { note: 'installs PyTorch, on Linux with CUDA: about 7 GB', gigabytes: 12 },
    }),
  ]),
  createVendor('Qwen', 'https://qwen.ai', [
    createService('qwen_llm', 'Qwen', 'QwenLLMService', {
      arguments: { api_key: requiredVariable('QWEN_API_KEY') },
      settings: { model: settingFromVariable('QWEN_MODEL') },
    }),
  ]),
  createVendor('Resemble', 'https://www.resemble.ai', [
    createService('resemble_tts', 'Resemble', 'ResembleAITTSService', {
      module: 'pipecat.services.resembleai.tts',
      extras: ['resembleai'],
      arguments: { api_key: requiredVariable('RESEMBLE_API_KEY') },
      settings: { voice: requiredVariable('RESEMBLE_VOICE_ID') },
    }),
  ]),
  createVendor('Rime', 'https://rime.ai', [
    createService('rime_tts', 'Rime', 'RimeTTSService', {
      arguments: { api_key: requiredVariable('RIME_API_KEY') },
      settings: { voice: requiredVariable('RIME_VOICE_ID') },
    }),
  ]),
  createVendor('SambaNova', 'https://sambanova.ai', [
    createService('sambanova_llm', 'SambaNova', 'SambaNovaLLMService', {
      arguments: { api_key: requiredVariable('SAMBANOVA_API_KEY') },
      settings: { model: settingFromVariable('SAMBANOVA_MODEL') },
    }),
  ]),
  createVendor('Sarvam', 'https://www.sarvam.ai', [
    createService('sarvam_stt', 'Sarvam', 'SarvamSTTService', {
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_STT_MODEL') },
    }),
    createService('sarvam_llm', 'Sarvam', 'SarvamLLMService', {
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_MODEL') },
    }),
    createService('sarvam_tts', 'Sarvam', 'SarvamTTSService', {
      extras: [],
      arguments: { api_key: requiredVariable('SARVAM_API_KEY') },
      settings: { model: settingFromVariable('SARVAM_TTS_MODEL'), voice: settingFromVariable('SARVAM_VOICE_ID') },
    }),
  ]),
  createVendor('Simli', 'https://www.simli.com', [
    createService('simli_video', 'Simli', 'SimliVideoService', {
      arguments: { api_key: requiredVariable('SIMLI_API_KEY'), face_id: requiredVariable('SIMLI_FACE_ID') },
    }),
  ]),
  createVendor('Smallest', 'https://smallest.ai', [
    createService('smallest_stt', 'Smallest', 'SmallestSTTService', {
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
    }),
    createService('smallest_llm', 'Smallest', 'SmallestLLMService', {
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
      settings: { model: settingFromVariable('SMALLEST_MODEL') },
      since: '1.14.0',
    }),
    createService('smallest_tts', 'Smallest', 'SmallestTTSService', {
      arguments: { api_key: requiredVariable('SMALLEST_API_KEY') },
      settings: { voice: settingFromVariable('SMALLEST_VOICE_ID') },
    }),
  ]),
  createVendor('Soniox', 'https://soniox.com', [
    createService('soniox_stt', 'Soniox', 'SonioxSTTService', {
      arguments: { api_key: requiredVariable('SONIOX_API_KEY') },
    }),
    createService('soniox_tts', 'Soniox', 'SonioxTTSService', {
      arguments: { api_key: requiredVariable('SONIOX_API_KEY') },
      settings: { voice: settingFromVariable('SONIOX_VOICE_ID') },
    }),
  ]),
  createVendor('Speechify', 'https://speechify.com', [
    createService('speechify_tts', 'Speechify', 'SpeechifyHttpTTSService', {
      extras: [],
      arguments: { api_key: requiredVariable('SPEECHIFY_API_KEY') },
      settings: { voice: settingFromVariable('SPEECHIFY_VOICE_ID') },
      session: 'aiohttp_session',
    }),
  ]),
  createVendor('Speechmatics', 'https://www.speechmatics.com', [
    createService('speechmatics_stt', 'Speechmatics', 'SpeechmaticsSTTService', {
      arguments: { api_key: requiredVariable('SPEECHMATICS_API_KEY') },
      variables: [describeVariable('SPEECHMATICS_RT_URL', false, 'address of another region of the vendor')],
    }),
  ]),
  createVendor('Tavus', 'https://www.tavus.io', [
    createService('tavus_video', 'Tavus', 'TavusVideoService', {
      arguments: { api_key: requiredVariable('TAVUS_API_KEY'), replica_id: requiredVariable('TAVUS_REPLICA_ID') },
      session: 'session',
    }),
  ]),
  createVendor('Together AI', 'https://www.together.ai', [
    createService('together_llm', 'Together AI', 'TogetherLLMService', {
      arguments: { api_key: requiredVariable('TOGETHER_API_KEY') },
      settings: { model: settingFromVariable('TOGETHER_MODEL') },
    }),
  ]),
  ultravox,
  createVendor('Whisper', 'https://github.com/SYSTRAN/faster-whisper', [
    createService('whisper_stt', 'Whisper (local)', 'WhisperSTTService', {
      settings: { model: settingFromVariable('WHISPER_MODEL') },
      // faster-distil-whisper-medium.en.
      downloads: { megabytes: 792 },
    }),
  ]),
  xai,
  createVendor('XTTS', 'https://github.com/coqui-ai/TTS', [
    createService('xtts_tts', 'XTTS (Coqui)', 'XTTSService', {
      extras: [],
      arguments: { base_url: requiredVariable('XTTS_BASE_URL') },
      settings: { voice: requiredVariable('XTTS_VOICE_ID') },
      session: 'aiohttp_session',
      discouraged: 'pipecat-ai removes it in 2.0, and you have to run its server yourself',
    }),
  ]),
  createVendor('Zoom', 'https://developers.zoom.us', [
    createService('zoom_ai_stt', 'Zoom AI', 'ZoomAISTTService', {
      module: 'pipecat.services.zoom_ai.stt',
      extras: ['zoom-ai'],
      arguments: { api_key: requiredVariable('ZOOM_AI_API_KEY') },
      since: '1.14.0',
    }),
  ]),
];
