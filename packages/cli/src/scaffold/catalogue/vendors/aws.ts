import { optionalVariable, requiredVariable, settingFromVariable } from '../../python/environment.ts';
import { awsAccountVariables } from '../aws-account.ts';
import { createService, createVendor } from '../vendor-service.ts';

export const aws = createVendor('AWS', 'https://aws.amazon.com', [
  createService('aws_transcribe_stt', 'AWS Transcribe', 'AWSTranscribeSTTService', {
    module: 'pipecat.services.aws.stt',
    arguments: {
      aws_access_key_id: requiredVariable('AWS_ACCESS_KEY_ID'),
      api_key: requiredVariable('AWS_SECRET_ACCESS_KEY'),
      region: optionalVariable('AWS_REGION'),
      aws_session_token: optionalVariable('AWS_SESSION_TOKEN'),
    },
  }),
  createService('aws_bedrock_llm', 'AWS Bedrock', 'AWSBedrockLLMService', {
    module: 'pipecat.services.aws.llm',
    arguments: { aws_region: optionalVariable('AWS_REGION') },
    settings: { model: settingFromVariable('AWS_BEDROCK_MODEL') },
    variables: awsAccountVariables,
  }),
  createService('aws_polly_tts', 'AWS Polly', 'AWSPollyTTSService', {
    module: 'pipecat.services.aws.tts',
    arguments: { region: optionalVariable('AWS_REGION') },
    settings: { voice: settingFromVariable('AWS_VOICE_ID') },
    variables: awsAccountVariables,
  }),
  createService('aws_nova_realtime', 'AWS Nova Sonic', 'AWSNovaSonicLLMService', {
    module: 'pipecat.services.aws.nova_sonic.llm',
    extras: ['aws-nova-sonic'],
    arguments: {
      secret_access_key: requiredVariable('AWS_SECRET_ACCESS_KEY'),
      access_key_id: requiredVariable('AWS_ACCESS_KEY_ID'),
      region: requiredVariable('AWS_REGION'),
      session_token: optionalVariable('AWS_SESSION_TOKEN'),
    },
    settings: { voice: settingFromVariable('AWS_VOICE_ID') },
    python: '3.12',
  }),
]);
