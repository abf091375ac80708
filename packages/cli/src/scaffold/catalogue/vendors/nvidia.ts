import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { awsAccountVariables, awsKeyVariables } from '../aws-account.ts';
import { createService, createVendor } from '../vendor-service.ts';

export const nvidia = createVendor('NVIDIA', 'https://build.nvidia.com', [
  createService('nvidia_stt', 'NVIDIA', 'NvidiaSTTService', {
    arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
  }),
  createService('nvidia_sagemaker_stt', 'NVIDIA SageMaker', 'NvidiaSageMakerSTTService', {
    extras: ['aws', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('NVIDIA_SAGEMAKER_STT_ENDPOINT_NAME'),
      region: requiredVariable('AWS_REGION'),
    },
    variables: awsAccountVariables,
    python: '3.12',
  }),
  createService('nvidia_llm', 'NVIDIA', 'NvidiaLLMService', {
    arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
    settings: { model: settingFromVariable('NVIDIA_MODEL') },
  }),
  createService('nvidia_tts', 'NVIDIA', 'NvidiaTTSService', {
    arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
    settings: { voice: settingFromVariable('NVIDIA_VOICE_ID') },
  }),
  createService('nvidia_sagemaker_tts', 'NVIDIA SageMaker', 'NvidiaSageMakerTTSService', {
    extras: ['aws', 'sagemaker'],
    arguments: {
      endpoint_name: requiredVariable('NVIDIA_SAGEMAKER_TTS_ENDPOINT_NAME'),
      region: requiredVariable('AWS_REGION'),
    },
    settings: { voice: settingFromVariable('NVIDIA_SAGEMAKER_TTS_VOICE_ID') },
    variables: awsKeyVariables,
    python: '3.12',
  }),
]);
