import { required, setting, settingWith } from '../../python/environment.ts';
import { construct, python } from '../../python/expression.ts';
import type { Vendor } from '../service.ts';

const event = (name: string) => ({ module: 'pipecat.services.openai.realtime.events', name });
const live = (name: string) => ({ module: 'pipecat.services.azure.voice_live.events', name });

/** The library's defaults with a voice. Properties that are given replace the defaults as a whole. */
const liveProperties = construct(live('SessionProperties'), {
  modalities: python('["text", "audio"]'),
  voice: construct(live('AzureStandardVoice'), { name: python('os.environ["AZURE_VOICE_LIVE_VOICE_ID"]') }),
  turn_detection: construct(live('TurnDetection'), { type: python('"azure_semantic_vad"') }),
  input_audio_transcription: construct(live('InputAudioTranscription'), { model: python('"azure-speech"') }),
  input_audio_noise_reduction: construct(live('InputAudioNoiseReduction'), {}),
});

export const azure: Vendor = {
  name: 'Azure',
  site: 'https://azure.microsoft.com',
  services: [
    {
      value: 'azure_stt',
      kind: 'stt',
      label: 'Azure Speech',
      module: 'pipecat.services.azure.stt',
      className: 'AzureSTTService',
      extras: ['azure'],
      arguments: { api_key: required('AZURE_SPEECH_API_KEY'), region: required('AZURE_SPEECH_REGION') },
      settings: null,
    },
    {
      value: 'azure_llm',
      kind: 'llm',
      label: 'Azure OpenAI',
      module: 'pipecat.services.azure.llm',
      className: 'AzureLLMService',
      extras: ['azure'],
      arguments: { endpoint: required('AZURE_CHATGPT_ENDPOINT'), api_key: required('AZURE_CHATGPT_API_KEY') },
      settings: { model: setting('AZURE_CHATGPT_MODEL') },
    },
    {
      value: 'azure_tts',
      kind: 'tts',
      label: 'Azure Speech',
      module: 'pipecat.services.azure.tts',
      className: 'AzureTTSService',
      extras: ['azure'],
      arguments: { api_key: required('AZURE_SPEECH_API_KEY'), region: required('AZURE_SPEECH_REGION') },
      settings: { voice: setting('AZURE_SPEECH_VOICE_ID') },
    },
    {
      value: 'azure_realtime',
      kind: 'realtime',
      label: 'Azure Realtime',
      module: 'pipecat.services.azure.realtime.llm',
      className: 'AzureRealtimeLLMService',
      extras: ['azure'],
      arguments: { api_key: required('AZURE_REALTIME_API_KEY'), base_url: required('AZURE_REALTIME_BASE_URL') },
      settings: {
        session_properties: construct(event('SessionProperties'), {
          audio: construct(event('AudioConfiguration'), {
            input: construct(event('AudioInput'), {
              transcription: construct(event('InputAudioTranscription'), { model: python('"whisper-1"') }),
            }),
          }),
        }),
      },
      acceptsVideo: true,
    },
    {
      value: 'azure_voice_live_realtime',
      kind: 'realtime',
      label: 'Azure Voice Live',
      module: 'pipecat.services.azure.voice_live.llm',
      className: 'AzureVoiceLiveLLMService',
      extras: ['azure'],
      arguments: { api_key: required('AZURE_VOICE_LIVE_API_KEY'), endpoint: required('AZURE_VOICE_LIVE_ENDPOINT') },
      settings: {
        model: setting('AZURE_VOICE_LIVE_MODEL'),
        session_properties: settingWith(
          'AZURE_VOICE_LIVE_VOICE_ID',
          liveProperties,
          'voice of Azure Speech, not supported by the model azure-realtime; default: the library’s own choice',
        ),
      },
      since: '1.13.0',
      aliases: ['azure_voice_live'],
    },
  ],
};
