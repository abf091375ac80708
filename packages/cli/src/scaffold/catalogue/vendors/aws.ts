import { optionalVariable, requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { awsAccountVariables } from '../aws-account.ts';
import type { Vendor } from '../vendor-service.ts';

export const aws: Vendor = {
  name: 'AWS',
  site: 'https://aws.amazon.com',
  services: [
    {
      value: 'aws_transcribe_stt',
      kind: 'stt',
      label: 'AWS Transcribe',
      module: 'pipecat.services.aws.stt',
      className: 'AWSTranscribeSTTService',
      extras: ['aws'],
      arguments: {
        aws_access_key_id: requiredVariable('AWS_ACCESS_KEY_ID'),
        api_key: requiredVariable('AWS_SECRET_ACCESS_KEY'),
        region: optionalVariable('AWS_REGION'),
        aws_session_token: optionalVariable('AWS_SESSION_TOKEN'),
      },
      settings: null,
    },
    {
      value: 'aws_bedrock_llm',
      kind: 'llm',
      label: 'AWS Bedrock',
      module: 'pipecat.services.aws.llm',
      className: 'AWSBedrockLLMService',
      extras: ['aws'],
      arguments: { aws_region: optionalVariable('AWS_REGION') },
      settings: { model: settingFromVariable('AWS_BEDROCK_MODEL') },
      variables: awsAccountVariables,
    },
    {
      value: 'aws_polly_tts',
      kind: 'tts',
      label: 'AWS Polly',
      module: 'pipecat.services.aws.tts',
      className: 'AWSPollyTTSService',
      extras: ['aws'],
      arguments: { region: optionalVariable('AWS_REGION') },
      settings: { voice: settingFromVariable('AWS_VOICE_ID') },
      variables: awsAccountVariables,
    },
    {
      value: 'aws_nova_realtime',
      kind: 'realtime',
      label: 'AWS Nova Sonic',
      module: 'pipecat.services.aws.nova_sonic.llm',
      className: 'AWSNovaSonicLLMService',
      extras: ['aws-nova-sonic'],
      arguments: {
        secret_access_key: requiredVariable('AWS_SECRET_ACCESS_KEY'),
        access_key_id: requiredVariable('AWS_ACCESS_KEY_ID'),
        region: requiredVariable('AWS_REGION'),
        session_token: optionalVariable('AWS_SESSION_TOKEN'),
      },
      settings: { voice: settingFromVariable('AWS_VOICE_ID') },
      python: '3.12',
    },
  ],
};
