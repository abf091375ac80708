import { clientFrameworks, type Issue } from './configuration.ts';

/** How a key of the configuration can be given: its names in a config file, first one wins, and its option. */
type Field = { readonly keys: readonly string[]; readonly option: string; readonly type: FieldType };
type FieldType = 'text' | 'texts' | 'switch';

/** Everything that can be said about a project, by its key in the configuration. */
export const fields = {
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

type Fields = typeof fields;
export type FieldName = keyof Fields;
type Value<T extends FieldType> = T extends 'text' ? string : T extends 'texts' ? readonly string[] : boolean;

/** What somebody said about a project, unchecked but for types; what was not said is absent. */
export type Given = { readonly [Name in FieldName]?: Value<Fields[Name]['type']> };

/** What options say wins over what a file says. */
export function merge(file: Given, options: Given): Given {
  return { ...file, ...options };
}

/** Derived from the client's framework; a file that `--dry-run` printed holds it. */
const derived = 'generate_client';

/**
 * Reads a JSON config file. Unknown keys and wrong types come all at once; null means "not said", as in what `--dry-run`
 * prints. `options` win over the file: where they name the framework of the client, the file need not.
 */
export function readConfigFile(
  text: string,
  options: Given = {},
): { readonly given: Given; readonly issues: readonly Issue[] } {
  const whole = (message: string) => ({ given: {}, issues: [{ path: '', message }] });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    return whole(`is not valid JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return whole('is not a JSON object');
  const said = new Map(Object.entries(parsed));
  const given: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [name, { keys, type }] of Object.entries(fields)) {
    for (const key of keys) {
      const value = said.get(key);
      said.delete(key);
      if (value === undefined || value === null) continue;
      if (!isOf(type, value)) issues.push({ path: key, message: `takes ${described[type]}` });
      else if (!Object.hasOwn(given, name)) given[name] = value;
    }
  }
  const client = said.get(derived) ?? undefined;
  if (client !== undefined && typeof client !== 'boolean') {
    issues.push({ path: derived, message: 'takes true or false' });
  } else if (options.client_framework === undefined) {
    const isFramework = (given['client_framework'] ?? 'none') !== 'none';
    if (client === true && !isFramework) {
      issues.push({ path: derived, message: `needs client_framework: ${clientFrameworks.join(' or ')}` });
    }
    if (client === false && isFramework)
      issues.push({ path: derived, message: 'cannot be false with client_framework' });
  }
  said.delete(derived);
  for (const key of said.keys()) issues.push({ path: key, message: 'is not a known key' });
  return { given, issues };
}

const described: Readonly<Record<FieldType, string>> = {
  text: 'a text',
  texts: 'a list of texts',
  switch: 'true or false',
};

function isOf(type: FieldType, value: unknown): boolean {
  if (type === 'texts') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return typeof value === (type === 'text' ? 'string' : 'boolean');
}
