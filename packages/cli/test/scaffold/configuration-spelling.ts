import type { RawOptions } from './configuration-rules.ts';

type Name = keyof RawOptions;
/**
 * How a setting is written: its keys in a config file, the option on the command line, and the key in error messages. The first
 * key in the file takes precedence.
 */
type Words = { readonly keys: readonly string[]; readonly option: string; readonly path: string };

const words = (path: string, option: string, ...keys: readonly string[]): Words => ({ path, option, keys });
const same = (name: string): Words => words(name, name.replaceAll('_', '-'), name);
const service = (kind: string): Words => words(`${kind}_service`, kind, kind, `${kind}_service`);

/** All settings, in the order of the documentation of `botcli init`. */
const fields: Readonly<Record<Name, Words>> = {
  name: words('project_name', 'name', 'name', 'project_name'),
  bot_type: same('bot_type'),
  transports: words('transports', 'transport', 'transports', 'transport'),
  mode: same('mode'),
  stt: service('stt'),
  llm: service('llm'),
  tts: service('tts'),
  realtime: service('realtime'),
  video: service('video'),
  client_framework: same('client_framework'),
  client_server: same('client_server'),
  daily_pstn_mode: same('daily_pstn_mode'),
  twilio_daily_sip_mode: same('twilio_daily_sip_mode'),
  video_input: same('video_input'),
  video_output: same('video_output'),
  recording: same('recording'),
  transcription: same('transcription'),
  deploy_to_cloud: same('deploy_to_cloud'),
  enable_nc: words('enable_nc', 'enable-nc', 'enable_nc', 'enable_krisp'),
  observability: words('enable_observability', 'observability', 'observability', 'enable_observability'),
  eval: words('enable_eval', 'eval', 'enable_eval', 'eval'),
};

/** Maps each canonical name to an alias that the options also accept. */
const aliases: Readonly<Record<string, string>> = {
  hostedrtc: 'daily',
  lightrtc: 'smallwebrtc',
  carrier1: 'twilio',
  carrier2: 'telnyx',
  carrier3: 'plivo',
  carrier4: 'exotel',
  hostedrtc_pstn: 'daily_pstn',
  hostedrtc_pstn_dialin: 'daily_pstn_dialin',
  hostedrtc_pstn_dialout: 'daily_pstn_dialout',
  carrier1_hostedrtc_sip: 'twilio_daily_sip',
  carrier1_hostedrtc_sip_dialin: 'twilio_daily_sip_dialin',
  carrier1_hostedrtc_sip_dialout: 'twilio_daily_sip_dialout',
  ultravox_realtime: 'ultravox',
  azure_voice_live_realtime: 'azure_voice_live',
};

/**
 * How a setting is written. `place` says whether the setting is in the config file, on the command line, or in both. If the
 * config file accepts several keys for the setting, `laterKey` selects the last of these keys instead of the first. `alias`
 * selects an alias of the value instead of its canonical name.
 */
export type OptionSyntaxVariant = {
  readonly place: 'file' | 'option' | 'option over file';
  readonly laterKey: boolean;
  readonly alias: boolean;
};

export type ConfigFileMistakes = {
  /** Settings to which the config file gives a value of the wrong type. */
  readonly mistyped: readonly Name[];
  readonly unknown: readonly string[];
  readonly generateClient: boolean | null;
};

/**
 * A config file with command-line options. `counts` are the settings that take effect; `wrongKeys` are the invalid keys of the
 * file.
 */
export type ConfigFileWithOptions = {
  readonly file: Readonly<Record<string, unknown>>;
  readonly options: readonly string[];
  readonly counts: RawOptions;
  readonly wrongKeys: readonly string[];
  /** Keys whose value in the file has the wrong type. The CLI reports no other error for these keys. */
  readonly unread: readonly string[];
};

export const fieldNames = Object.keys(fields).filter((name): name is Name => name in fields);

/** Divides settings between a config file and the command line, each in a random syntax variant. */
export function createConfigFileWithOptions(
  raw: RawOptions,
  syntaxVariants: Iterator<OptionSyntaxVariant>,
  mistakes: ConfigFileMistakes,
): ConfigFileWithOptions {
  const file: Record<string, unknown> = {};
  const options: string[] = [];
  const counts: Record<string, unknown> = {};
  const wrongKeys = [...mistakes.unknown];
  const unread: string[] = [];
  for (const name of fieldNames) {
    const { place, laterKey, alias } = syntaxVariants.next().value;
    const { keys, option, path } = fields[name];
    const key = (laterKey ? keys.at(-1) : keys[0]) ?? name;
    const value = raw[name];
    const spelled = alias ? real(value) : value;
    // Put a blank value into the file, because the command line rejects blank values before any other check.
    const asOption = value !== undefined && value !== ' ' && place !== 'file';
    if (asOption) options.push(...argumentsOf(option, spelled));
    if (asOption || (value !== undefined && !mistakes.mistyped.includes(name))) counts[name] = value;
    if (mistakes.mistyped.includes(name)) {
      file[key] = typeof value === 'boolean' ? 'yes' : 7;
      wrongKeys.push(key);
      unread.push(path);
    } else if (place === 'option over file' && asOption) file[key] = contrary(value);
    else if (value !== undefined && !asOption) file[key] = spelled;
    // In a config file, null means that the setting is not given. `botcli init --dry-run` prints config files with such values.
    else if (value === undefined && alias) file[key] = null;
  }
  for (const key of mistakes.unknown) file[key] = true;
  if (mistakes.generateClient !== null) {
    file['generate_client'] = mistakes.generateClient;
    const isOption = options.includes('--client-framework');
    const framework = isOption ? undefined : counts['client_framework'];
    const hasFramework = framework !== undefined && framework !== 'none';
    if (!isOption && hasFramework !== mistakes.generateClient) wrongKeys.push('generate_client');
  }
  return { file, options, counts, wrongKeys, unread };
}

function real(value: RawOptions[Name]): unknown {
  if (typeof value === 'string') return aliases[value] ?? value;
  return typeof value === 'object' ? value.map((one) => aliases[one] ?? one) : value;
}

/** Returns a wrong value for the config file. Tests check that the command-line option overrides this value. */
function contrary(value: RawOptions[Name]): unknown {
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? 'nonsense' : ['nonsense'];
}

function argumentsOf(option: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${option}` : `--no-${option}`];
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.flatMap((one) => [`--${option}`, String(one)]);
}
