import { type ConfigurationIssue, clientFrameworks } from './configuration.ts';

/**
 * A setting of a project: its accepted keys in a config file (the first one takes precedence) and its option on the command line.
 */
type Field = { readonly keys: readonly string[]; readonly option: string; readonly type: FieldType };
type FieldType = 'text' | 'texts' | 'switch';

/** All settings of a project, by their key in the configuration. */
export const projectFields = {
  project_name: { keys: ['name', 'project_name'], option: 'name', type: 'text' },
  bot_type: { keys: ['bot_type'], option: 'bot-type', type: 'text' },
  transports: { keys: ['transports', 'transport'], option: 'transport', type: 'texts' },
  mode: { keys: ['mode'], option: 'mode', type: 'text' },
  stt_service: { keys: ['stt', 'stt_service'], option: 'stt', type: 'text' },
  llm_service: { keys: ['llm', 'llm_service'], option: 'llm', type: 'text' },
  tts_service: { keys: ['tts', 'tts_service'], option: 'tts', type: 'text' },
  realtime_service: { keys: ['realtime', 'realtime_service'], option: 'realtime', type: 'text' },
  video_service: { keys: ['video', 'video_service'], option: 'video', type: 'text' },
  client_framework: { keys: ['client_framework'], option: 'client-framework', type: 'text' },
  client_server: { keys: ['client_server'], option: 'client-server', type: 'text' },
  daily_pstn_mode: { keys: ['daily_pstn_mode'], option: 'daily-pstn-mode', type: 'text' },
  twilio_daily_sip_mode: { keys: ['twilio_daily_sip_mode'], option: 'twilio-daily-sip-mode', type: 'text' },
  video_input: { keys: ['video_input'], option: 'video-input', type: 'switch' },
  video_output: { keys: ['video_output'], option: 'video-output', type: 'switch' },
  recording: { keys: ['recording'], option: 'recording', type: 'switch' },
  transcription: { keys: ['transcription'], option: 'transcription', type: 'switch' },
  deploy_to_cloud: { keys: ['deploy_to_cloud'], option: 'deploy-to-cloud', type: 'switch' },
  enable_nc: { keys: ['enable_nc', 'enable_krisp'], option: 'enable-nc', type: 'switch' },
  enable_observability: { keys: ['observability', 'enable_observability'], option: 'observability', type: 'switch' },
  enable_eval: { keys: ['enable_eval', 'eval'], option: 'eval', type: 'switch' },
} as const satisfies Readonly<Record<string, Field>>;

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
