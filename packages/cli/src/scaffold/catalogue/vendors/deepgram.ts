import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { awsAccountVariables } from '../aws-account.ts';
import { createService, createVendor } from '../vendor-service.ts';

export const deepgram = createVendor('Deepgram', 'https://deepgram.com', [
  createService('deepgram_stt', 'Deepgram', 'DeepgramSTTService', {
    arguments: { api_key: requiredVariable('DEEPGRAM_API_KEY') },
  }),
  createService('deepgram_flux_stt', 'Deepgram Flux', 'DeepgramFluxSTTService', {
    arguments: { api_key: requiredVariable('DEEPGRAM_API_KEY') },
  }),
  createService('deepgram_flux_sagemaker_stt', 'Deepgram Flux SageMaker', 'DeepgramFluxSageMakerSTTService', {
    extras: ['deepgram', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('DEEPGRAM_FLUX_SAGEMAKER_STT_ENDPOINT_NAME'),
      region: requiredVariable('DEEPGRAM_FLUX_SAGEMAKER_STT_REGION'),
    },
    variables: awsAccountVariables,
    python: '3.12',
  }),
  createService('deepgram_sagemaker_stt', 'Deepgram SageMaker', 'DeepgramSageMakerSTTService', {
    extras: ['deepgram', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('DEEPGRAM_SAGEMAKER_STT_ENDPOINT_NAME'),
      region: requiredVariable('DEEPGRAM_SAGEMAKER_STT_REGION'),
    },
    variables: awsAccountVariables,
    python: '3.12',
  }),
  createService('deepgram_tts', 'Deepgram', 'DeepgramTTSService', {
    arguments: { api_key: requiredVariable('DEEPGRAM_API_KEY') },
    settings: { voice: settingFromVariable('DEEPGRAM_VOICE_ID') },
  }),
  createService('deepgram_flux_tts', 'Deepgram Flux', 'DeepgramFluxTTSService', {
    arguments: { api_key: requiredVariable('DEEPGRAM_API_KEY') },
    settings: { voice: settingFromVariable('DEEPGRAM_VOICE_ID') },
  }),
  createService('deepgram_flux_sagemaker_tts', 'Deepgram Flux SageMaker', 'DeepgramFluxSageMakerTTSService', {
    extras: ['deepgram', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('DEEPGRAM_FLUX_SAGEMAKER_TTS_ENDPOINT_NAME'),
      region: requiredVariable('DEEPGRAM_FLUX_SAGEMAKER_TTS_REGION'),
    },
    settings: { voice: settingFromVariable('DEEPGRAM_FLUX_SAGEMAKER_TTS_VOICE_ID') },
    variables: awsAccountVariables,
    python: '3.12',
  }),
  createService('deepgram_sagemaker_tts', 'Deepgram SageMaker', 'DeepgramSageMakerTTSService', {
    extras: ['deepgram', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('DEEPGRAM_SAGEMAKER_TTS_ENDPOINT_NAME'),
      region: requiredVariable('DEEPGRAM_SAGEMAKER_TTS_REGION'),
    },
    settings: { voice: settingFromVariable('DEEPGRAM_SAGEMAKER_TTS_VOICE_ID') },
    variables: awsAccountVariables,
    python: '3.12',
  }),
]);
