import { requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { awsAccountVariables, awsKeyVariables } from '../aws-account.ts';
import type { Vendor } from '../vendor-service.ts';

export const nvidia: Vendor = {
  name: 'NVIDIA',
  site: 'https://build.nvidia.com',
  services: [
    {
      value: 'nvidia_stt',
      kind: 'stt',
      label: 'NVIDIA',
      module: 'pipecat.services.nvidia.stt',
      className: 'NvidiaSTTService',
      extras: ['nvidia'],
      arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
      settings: null,
    },
    {
      value: 'nvidia_sagemaker_stt',
      kind: 'stt',
      label: 'NVIDIA SageMaker',
      module: 'pipecat.services.nvidia.sagemaker.stt',
      className: 'NvidiaSageMakerSTTService',
      extras: ['aws', 'sagemaker'],
      arguments: {
        endpoint_name: requiredVariable('NVIDIA_SAGEMAKER_STT_ENDPOINT_NAME'),
        region: requiredVariable('AWS_REGION'),
      },
      settings: null,
      variables: awsAccountVariables,
      python: '3.12',
    },
    {
      value: 'nvidia_llm',
      kind: 'llm',
      label: 'NVIDIA',
      module: 'pipecat.services.nvidia.llm',
      className: 'NvidiaLLMService',
      extras: ['nvidia'],
      arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
      settings: { model: settingFromVariable('NVIDIA_MODEL') },
    },
    {
      value: 'nvidia_tts',
      kind: 'tts',
      label: 'NVIDIA',
      module: 'pipecat.services.nvidia.tts',
      className: 'NvidiaTTSService',
      extras: ['nvidia'],
      arguments: { api_key: requiredVariable('NVIDIA_API_KEY') },
      settings: { voice: settingFromVariable('NVIDIA_VOICE_ID') },
    },
    {
      value: 'nvidia_sagemaker_tts',
      kind: 'tts',
      label: 'NVIDIA SageMaker',
      module: 'pipecat.services.nvidia.sagemaker.tts',
      className: 'NvidiaSageMakerTTSService',
      extras: ['aws', 'sagemaker'],
      arguments: {
        endpoint_name: requiredVariable('NVIDIA_SAGEMAKER_TTS_ENDPOINT_NAME'),
        region: requiredVariable('AWS_REGION'),
      },
      settings: { voice: settingFromVariable('NVIDIA_SAGEMAKER_TTS_VOICE_ID') },
      variables: awsKeyVariables,
      python: '3.12',
    },
  ],
};
