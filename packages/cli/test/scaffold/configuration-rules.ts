/**
 * A simple, independent implementation of the configuration rules, with which tests compare the real implementation. If a
 * config file accepts several keys for an option, an error names the first key.
 */
export type RawOptions = {
  readonly bot_type?: string;
  readonly transports?: readonly string[];
  readonly mode?: string;
  readonly stt?: string;
  readonly llm?: string;
  readonly tts?: string;
  readonly realtime?: string;
  readonly video?: string;
  readonly client_framework?: string;
  readonly client_server?: string;
  readonly daily_pstn_mode?: string;
  readonly twilio_daily_sip_mode?: string;
  readonly video_input?: boolean;
  readonly video_output?: boolean;
  readonly deploy_to_cloud?: boolean;
  readonly enable_nc?: boolean;
  readonly recording?: boolean;
  readonly transcription?: boolean;
  readonly observability?: boolean;
  readonly eval?: boolean;
  readonly name?: string;
};

const video = ['hostedrtc', 'livekit', 'lightrtc'];
const web = [...video, 'websocket'];
const carriers = ['carrier1', 'carrier2', 'carrier3', 'carrier4'];
const pstn = ['hostedrtc_pstn_dialin', 'hostedrtc_pstn_dialout'];
const sip = ['carrier1_hostedrtc_sip_dialin', 'carrier1_hostedrtc_sip_dialout'];
export const transportNamesWithoutCallDirection = ['hostedrtc_pstn', 'carrier1_hostedrtc_sip'];
export const transportNames = [...web, ...carriers, ...pstn, ...sip];

export function findInvalidKeys(raw: RawOptions): readonly string[] {
  const found = new Set<string>();
  /** Invalid project names: blank, too long, containing a line break, without Latin letters or digits, and reserved. */
  const unfit = [' ', 'a'.repeat(101), 'line\nbreak', '北京', 'start'];
  const check = (key: string, bad: boolean) => bad && found.add(key);
  const given = raw.transports ?? [];
  const isDirection = (mode: string | undefined) => mode === 'dial-in' || mode === 'dial-out';
  const suffix = (mode: string) => mode.replace('-', '').replace('dial', '_dial');
  const resolvedTransports = new Set(
    given.flatMap((one) => {
      if (transportNames.includes(one)) return [one];
      const mode = one === 'hostedrtc_pstn' ? raw.daily_pstn_mode : raw.twilio_daily_sip_mode;
      return transportNamesWithoutCallDirection.includes(one) && mode !== undefined && isDirection(mode)
        ? [one + suffix(mode)]
        : [];
    }),
  );
  const phones = [...resolvedTransports].filter((one) => !web.includes(one));
  const through = [...resolvedTransports].filter((one) => pstn.includes(one) || sip.includes(one));
  check(
    'transports',
    given.length === 0 ||
      given.some((one) => ![...transportNames, ...transportNamesWithoutCallDirection].includes(one)),
  );
  check('transports', through.length > 1);
  for (const [key, name, own] of [
    ['daily_pstn_mode', 'hostedrtc_pstn', pstn],
    ['twilio_daily_sip_mode', 'carrier1_hostedrtc_sip', sip],
  ] as const) {
    const mode = raw[key];
    const chosen = given.filter((one) => own.some((transport) => transport === one));
    check(key, given.includes(name) && mode === undefined);
    check(key, mode !== undefined && !isDirection(mode));
    check(key, isDirection(mode) && !given.includes(name) && chosen.length === 0);
    check(key, isDirection(mode) && chosen.some((one) => one !== name + suffix(mode ?? '')));
  }
  const type =
    raw.bot_type === 'web' || raw.bot_type === 'telephony' ? raw.bot_type : phones.length > 0 ? 'telephony' : 'web';
  check('bot_type', raw.bot_type !== undefined && raw.bot_type !== 'web' && raw.bot_type !== 'telephony');
  check('bot_type', raw.bot_type === 'web' && phones.length > 0);
  check('project_name', raw.name !== undefined && unfit.includes(raw.name));
  check('mode', raw.mode !== 'cascade' && raw.mode !== 'realtime');
  for (const kind of ['stt', 'llm', 'tts', 'realtime'] as const) {
    const ofMode = kind === 'realtime' ? raw.mode === 'realtime' : raw.mode === 'cascade';
    const ofOther = kind === 'realtime' ? raw.mode === 'cascade' : raw.mode === 'realtime';
    check(`${kind}_service`, ofMode && raw[kind] === undefined);
    check(`${kind}_service`, ofOther && raw[kind] !== undefined);
    check(
      `${kind}_service`,
      raw[kind] !== undefined && !raw[kind].endsWith(`_${kind}`) && raw[kind] !== 'openai_realtime',
    );
    check(`${kind}_service`, raw[kind] === 'nobody');
  }
  check('video_service', raw.video === 'nobody');
  const blind = resolvedTransports.size > 0 && ![...resolvedTransports].some((one) => video.includes(one));
  for (const [key, wanted] of [
    ['video_service', raw.video !== undefined],
    ['video_input', raw.video_input === true],
    ['video_output', raw.video_output === true],
  ] as const) {
    check(key, wanted && (type === 'telephony' || blind));
  }
  const sees = ['openai_realtime', 'azure_realtime', 'gemini_live_realtime', 'gemini_vertex_live_realtime'];
  const blindly = raw.realtime?.endsWith('_realtime') === true && !sees.includes(raw.realtime);
  check('video_input', raw.video_input === true && blindly);
  const framework = raw.client_framework;
  const client = framework === 'react' || framework === 'vanilla';
  check('client_framework', framework !== undefined && framework !== 'none' && !client);
  check('client_framework', client && type === 'telephony');
  check(
    'client_framework',
    client &&
      resolvedTransports.size > 0 &&
      ![...resolvedTransports].some((one) => web.includes(one) && one !== 'livekit'),
  );
  check(
    'client_server',
    raw.client_server !== undefined && raw.client_server !== 'vite' && raw.client_server !== 'nextjs',
  );
  check('client_server', raw.client_server !== undefined && framework === undefined);
  check('client_server', raw.client_server === 'nextjs' && framework === 'vanilla');
  check('enable_nc', raw.enable_nc === true && raw.deploy_to_cloud === false);
  return [...found].sort();
}

/** Returns the configuration that results from valid options. Its keys are in the order of the output of `--dry-run`. */
export function resolveConfigurationByRules(raw: RawOptions): object {
  const directions = { hostedrtc_pstn: raw.daily_pstn_mode, carrier1_hostedrtc_sip: raw.twilio_daily_sip_mode };
  const named = (raw.transports ?? []).map((one) => {
    if (one !== 'hostedrtc_pstn' && one !== 'carrier1_hostedrtc_sip') return one;
    return `${one}_${directions[one] === 'dial-in' ? 'dialin' : 'dialout'}`;
  });
  const transports = named.filter((one, index) => named.indexOf(one) === index);
  const direction = (own: readonly string[]) => {
    const chosen = transports.find((one) => own.includes(one));
    if (chosen === undefined) return null;
    return chosen.endsWith('_dialin') ? 'dial-in' : 'dial-out';
  };
  const phone = transports.some((one) => !web.includes(one));
  const framework = raw.client_framework === undefined || raw.client_framework === 'none' ? null : raw.client_framework;
  return {
    project_name: raw.name ?? 'my-bot',
    bot_type: raw.bot_type ?? (phone ? 'telephony' : 'web'),
    transports,
    mode: raw.mode,
    stt_service: raw.stt ?? null,
    llm_service: raw.llm ?? null,
    tts_service: raw.tts ?? null,
    realtime_service: raw.realtime ?? null,
    video_service: raw.video ?? null,
    generate_client: framework !== null,
    client_framework: framework,
    client_server: framework === null ? null : (raw.client_server ?? 'vite'),
    daily_pstn_mode: direction(pstn),
    twilio_daily_sip_mode: direction(sip),
    video_input: raw.video_input ?? false,
    video_output: raw.video !== undefined || (raw.video_output ?? false),
    recording: raw.recording ?? false,
    transcription: raw.transcription ?? false,
    deploy_to_cloud: raw.deploy_to_cloud ?? true,
    enable_nc: raw.enable_nc ?? false,
    enable_observability: raw.observability ?? false,
    enable_eval: raw.eval ?? false,
  };
}
