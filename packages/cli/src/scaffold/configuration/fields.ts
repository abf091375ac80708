import { callDirections } from '../catalogue/transport.ts';
import { transportChoices } from '../catalogue/transports.ts';
import type { ServiceKind } from '../catalogue/vendor-service.ts';
import {
  botTypes,
  type ConfigurationIssue,
  clientFrameworkAnswers,
  clientFrameworks,
  clientWebServers,
  pipelineModes,
} from './configuration.ts';

// `botcli init --help` loads this file, so it imports no vendors.

export type CatalogueEntryKind = 'transport' | ServiceKind;

/**
 * A setting of a project: its accepted keys in a config file (the first one takes precedence) and its option on the command line.
 */
type Field = { readonly keys: readonly string[]; readonly option: string; readonly description: string };
type ValueField = Field & {
  readonly type: 'text' | 'texts';
  readonly placeholder: string;
  readonly short?: string;
  /** What shell completion suggests: words, or the names of a kind of entry of the catalogue. */
  readonly words?: readonly string[] | CatalogueEntryKind;
};
export type ProjectField = ValueField | (Field & { readonly type: 'switch' });
type FieldType = ProjectField['type'];

const defineService = (kind: ServiceKind, description: string) =>
  ({
    keys: [kind, `${kind}_service`],
    option: kind,
    type: 'text',
    description,
    placeholder: 'SERVICE',
    words: kind,
  }) as const;

const defineSwitch = (option: string, description: string, keys: readonly string[] = [option.replaceAll('-', '_')]) =>
  ({ keys, option, type: 'switch', description }) as const;

/** All settings of a project, by their key in the configuration. */
export const projectFields = {
  project_name: {
    keys: ['name', 'project_name'],
    option: 'name',
    type: 'text',
    description: 'Name of the project (default: name of the directory)',
    placeholder: 'NAME',
    short: 'n',
  },
  bot_type: {
    keys: ['bot_type'],
    option: 'bot-type',
    type: 'text',
    description: `${botTypes.join(' or ')} (default: follows from the transports)`,
    placeholder: 'TYPE',
    short: 'b',
    words: botTypes,
  },
  transports: {
    keys: ['transports', 'transport'],
    option: 'transport',
    type: 'texts',
    description: `How people reach the bot, by either name: ${transportChoices.join(', ')}; can be given more than once`,
    placeholder: 'TRANSPORT',
    short: 't',
    words: 'transport',
  },
  mode: {
    keys: ['mode'],
    option: 'mode',
    type: 'text',
    description: 'cascade (three services) or realtime (one speech-to-speech service)',
    placeholder: 'MODE',
    short: 'm',
    words: pipelineModes,
  },
  stt_service: defineService('stt', 'Speech-to-text service, VENDOR_stt'),
  llm_service: defineService('llm', 'Language model service, VENDOR_llm'),
  tts_service: defineService('tts', 'Text-to-speech service, VENDOR_tts'),
  realtime_service: defineService('realtime', 'Speech-to-speech service, VENDOR_realtime'),
  video_service: defineService('video', 'Video avatar service, VENDOR_video; web bots only'),
  client_framework: {
    keys: ['client_framework'],
    option: 'client-framework',
    type: 'text',
    description: `${clientFrameworks.join(', ')} or none; web bots only`,
    placeholder: 'FRAMEWORK',
    words: clientFrameworkAnswers,
  },
  client_server: {
    keys: ['client_server'],
    option: 'client-server',
    type: 'text',
    description: `${clientWebServers.join(' or ')}, with react (default: vite)`,
    placeholder: 'SERVER',
    words: clientWebServers,
  },
  daily_pstn_mode: {
    keys: ['daily_pstn_mode'],
    option: 'daily-pstn-mode',
    type: 'text',
    description: `${callDirections.join(' or ')}, for daily_pstn (hostedrtc_pstn)`,
    placeholder: 'MODE',
    words: callDirections,
  },
  twilio_daily_sip_mode: {
    keys: ['twilio_daily_sip_mode'],
    option: 'twilio-daily-sip-mode',
    type: 'text',
    description: `${callDirections.join(' or ')}, for twilio_daily_sip (carrier1_hostedrtc_sip)`,
    placeholder: 'MODE',
    words: callDirections,
  },
  recording: defineSwitch('recording', 'Record the audio of each session'),
  transcription: defineSwitch('transcription', 'Log transcripts'),
  video_input: defineSwitch('video-input', 'Send camera video to the bot; web bots only'),
  video_output: defineSwitch('video-output', 'Send video from the bot; web bots only'),
  deploy_to_cloud: defineSwitch('deploy-to-cloud', 'Generate the files for a deployment (default: on)'),
  enable_nc: defineSwitch('enable-nc', 'Noise cancellation; needs --deploy-to-cloud', ['enable_nc', 'enable_krisp']),
  enable_observability: defineSwitch('observability', 'Add a pipeline debugger', [
    'observability',
    'enable_observability',
  ]),
  enable_eval: defineSwitch('eval', 'Add scenarios that evaluate the bot', ['enable_eval', 'eval']),
} as const satisfies Readonly<Record<string, ProjectField>>;

type Fields = typeof projectFields;
export type FieldName = keyof Fields;
type Value<T extends FieldType> = T extends 'text' ? string : T extends 'texts' ? readonly string[] : boolean;

/** The options that the user gave. Their types are checked, but not their values. */
export type ProjectOptions = { readonly [Name in FieldName]?: Value<Fields[Name]['type']> };

/** A key that is derived from `client_framework`. Config files may contain it, because `--dry-run` prints it. */
const derivedKey = 'generate_client';

/**
 * Reads a JSON config file. Returns its options, and an issue for each unknown key and each wrong type. A key with the value
 * null counts as missing, because `--dry-run` prints null for missing values. `overrides` are the command-line options: if they
 * contain `client_framework`, the value of `generate_client` in the file is ignored.
 */
export function readConfigFile(
  text: string,
  overrides: ProjectOptions = {},
): { readonly options: ProjectOptions; readonly issues: readonly ConfigurationIssue[] } {
  const invalid = (message: string) => ({ options: {}, issues: [{ path: '', message }] });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return invalid(`is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return invalid('is not a JSON object');
  const unread = new Map(Object.entries(parsed));
  const options: Record<string, unknown> = {};
  const issues: ConfigurationIssue[] = [];
  for (const [name, { keys, type }] of Object.entries(projectFields)) {
    for (const key of keys) {
      const value = unread.get(key);
      unread.delete(key);
      if (value === undefined || value === null) continue;
      if (!hasType(type, value)) issues.push({ path: key, message: `must be ${typeLabels[type]}` });
      else if (!Object.hasOwn(options, name)) options[name] = value;
    }
  }
  const hasClient = unread.get(derivedKey) ?? undefined;
  if (hasClient !== undefined && typeof hasClient !== 'boolean') {
    issues.push({ path: derivedKey, message: `must be ${typeLabels.switch}` });
  } else if (overrides.client_framework === undefined) {
    const hasFramework = (options['client_framework'] ?? 'none') !== 'none';
    if (hasClient === true && !hasFramework) {
      issues.push({ path: derivedKey, message: `requires client_framework to be ${clientFrameworks.join(' or ')}` });
    }
    if (hasClient === false && hasFramework)
      issues.push({ path: derivedKey, message: 'must not be false if client_framework is given' });
  }
  unread.delete(derivedKey);
  for (const key of unread.keys()) issues.push({ path: key, message: 'this key is unknown' });
  return { options, issues };
}

const typeLabels: Readonly<Record<FieldType, string>> = {
  text: 'a string',
  texts: 'a list of strings',
  switch: 'true or false',
};

function hasType(type: FieldType, value: unknown): boolean {
  if (type === 'texts') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return typeof value === (type === 'text' ? 'string' : 'boolean');
}
