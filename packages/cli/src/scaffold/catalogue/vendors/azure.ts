import { optionalSettingFromVariable, requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { createConstructorExpression, createPythonExpression } from '../../python/expression.ts';
import { createService, createVendor } from '../vendor-service.ts';

const event = (name: string) => ({ module: 'pipecat.services.openai.realtime.events', name });
const live = (name: string) => ({ module: 'pipecat.services.azure.voice_live.events', name });

/** The defaults of the library plus a voice, because a bot that passes any setting loses all defaults. */
const liveProperties = createConstructorExpression(live('SessionProperties'), {
  modalities: createPythonExpression('["text", "audio"]'),
  voice: createConstructorExpression(live('AzureStandardVoice'), {
    name: createPythonExpression('os.environ["AZURE_VOICE_LIVE_VOICE_ID"]'),
  }),
  turn_detection: createConstructorExpression(live('TurnDetection'), {
    type: createPythonExpression('"azure_semantic_vad"'),
  }),
  input_audio_transcription: createConstructorExpression(live('InputAudioTranscription'), {
    model: createPythonExpression('"azure-speech"'),
  }),
  input_audio_noise_reduction: createConstructorExpression(live('InputAudioNoiseReduction'), {}),
});

export const azure = createVendor('Azure', 'https://azure.microsoft.com', [
  createService('azure_stt', 'Azure Speech', 'AzureSTTService', {
    arguments: { api_key: requiredVariable('AZURE_SPEECH_API_KEY'), region: requiredVariable('AZURE_SPEECH_REGION') },
  }),
  createService('azure_llm', 'Azure OpenAI', 'AzureLLMService', {
    arguments: {
      endpoint: requiredVariable('AZURE_CHATGPT_ENDPOINT'),
      api_key: requiredVariable('AZURE_CHATGPT_API_KEY'),
    },
    settings: { model: settingFromVariable('AZURE_CHATGPT_MODEL') },
  }),
  createService('azure_tts', 'Azure Speech', 'AzureTTSService', {
    arguments: { api_key: requiredVariable('AZURE_SPEECH_API_KEY'), region: requiredVariable('AZURE_SPEECH_REGION') },
    settings: { voice: settingFromVariable('AZURE_SPEECH_VOICE_ID') },
  }),
  createService('azure_realtime', 'Azure Realtime', 'AzureRealtimeLLMService', {
    module: 'pipecat.services.azure.realtime.llm',
    arguments: {
      api_key: requiredVariable('AZURE_REALTIME_API_KEY'),
      base_url: requiredVariable('AZURE_REALTIME_BASE_URL'),
    },
    settings: {
      session_properties: createConstructorExpression(event('SessionProperties'), {
        audio: createConstructorExpression(event('AudioConfiguration'), {
          input: createConstructorExpression(event('AudioInput'), {
            transcription: createConstructorExpression(event('InputAudioTranscription'), {
              model: createPythonExpression('"whisper-1"'),
            }),
          }),
        }),
      }),
    },
    acceptsVideo: true,
  }),
  createService('azure_voice_live_realtime', 'Azure Voice Live', 'AzureVoiceLiveLLMService', {
    module: 'pipecat.services.azure.voice_live.llm',
    arguments: {
      api_key: requiredVariable('AZURE_VOICE_LIVE_API_KEY'),
      endpoint: requiredVariable('AZURE_VOICE_LIVE_ENDPOINT'),
    },
    settings: {
      model: settingFromVariable('AZURE_VOICE_LIVE_MODEL'),
      session_properties: optionalSettingFromVariable(
        'AZURE_VOICE_LIVE_VOICE_ID',
        liveProperties,
        'voice of Azure Speech, not supported by the model azure-realtime; default: the library’s own choice',
      ),
    },
    since: '1.13.0',
    aliases: ['azure_voice_live'],
  }),
]);
