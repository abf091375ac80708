import { describe, expect, test } from 'vitest';
import { type Given, readConfigFile } from './fields.ts';
import { resolve } from './resolve.ts';

const cascade: Given = {
  transports: ['lightrtc'],
  mode: 'cascade',
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
};
const realtime: Given = { transports: ['lightrtc'], mode: 'realtime', realtime_service: 'openai_realtime' };
const phone: Given = { ...cascade, transports: ['carrier1'] };

test('what was not said is filled in, and the keys stand in the order of the decisions', () => {
  const { configuration } = resolve(cascade, 'my-bot');
  expect(JSON.stringify(configuration)).toBe(
    JSON.stringify({
      project_name: 'my-bot',
      bot_type: 'web',
      transports: ['lightrtc'],
      mode: 'cascade',
      stt_service: 'deepgram_stt',
      llm_service: 'openai_llm',
      tts_service: 'cartesia_tts',
      realtime_service: null,
      video_service: null,
      generate_client: false,
      client_framework: null,
      client_server: null,
      daily_pstn_mode: null,
      twilio_daily_sip_mode: null,
      video_input: false,
      video_output: false,
      recording: false,
      transcription: false,
      deploy_to_cloud: true,
      enable_nc: false,
      enable_observability: false,
      enable_eval: false,
    }),
  );
});

const accepted: readonly (readonly [what: string, given: Given, expected: object])[] = [
  ['the bot type follows from a telephone', phone, { bot_type: 'telephony' }],
  ['a telephony bot may have only web transports', { ...cascade, bot_type: 'telephony' }, { bot_type: 'telephony' }],
  [
    'a web transport beside a telephone leaves it a telephony bot',
    { ...phone, transports: ['lightrtc', 'carrier1'] },
    { bot_type: 'telephony', transports: ['lightrtc', 'carrier1'] },
  ],
  ['a transport twice is one', { ...cascade, transports: ['lightrtc', 'smallwebrtc'] }, { transports: ['lightrtc'] }],
  [
    'real names resolve to the spec’s',
    { ...phone, transports: ['twilio', 'daily'] },
    { transports: ['carrier1', 'hostedrtc'] },
  ],
  [
    'a direction turns a name into a transport',
    { ...cascade, transports: ['hostedrtc_pstn'], daily_pstn_mode: 'dial-in' },
    { transports: ['hostedrtc_pstn_dialin'], daily_pstn_mode: 'dial-in', twilio_daily_sip_mode: null },
  ],
  [
    'a transport that names its direction needs no other word',
    { ...cascade, transports: ['carrier1_hostedrtc_sip_dialout'] },
    { transports: ['carrier1_hostedrtc_sip_dialout'], twilio_daily_sip_mode: 'dial-out' },
  ],
  [
    'react without a server takes vite',
    { ...cascade, client_framework: 'react' },
    { client_server: 'vite', generate_client: true },
  ],
  ['vanilla has vite', { ...cascade, client_framework: 'vanilla' }, { client_server: 'vite' }],
  [
    'none means no client, whatever server is named',
    { ...cascade, client_framework: 'none', client_server: 'nextjs' },
    { client_framework: null, client_server: null, generate_client: false },
  ],
  ['a face turns video on', { ...cascade, video_service: 'tavus_video' }, { video_output: true, video_input: false }],
  [
    'short names of services mean the long ones',
    { ...realtime, realtime_service: 'ultravox' },
    { realtime_service: 'ultravox_realtime' },
  ],
  ['a switch that is off is off', { ...cascade, deploy_to_cloud: false }, { deploy_to_cloud: false }],
];

test.each(accepted)('%s', (_what, given, expected) => {
  expect(resolve(given, 'my-bot')).toMatchObject({ issues: [], configuration: expected });
});

const refused: readonly (readonly [what: string, given: Given, paths: readonly string[], says?: RegExp])[] = [
  ['nothing said at all', {}, ['transports', 'mode']],
  [
    'a cascade without its services',
    { transports: ['lightrtc'], mode: 'cascade' },
    ['stt_service', 'llm_service', 'tts_service'],
  ],
  ['realtime without its service', { transports: ['lightrtc'], mode: 'realtime' }, ['realtime_service']],
  ['an unknown bot type', { ...cascade, bot_type: 'desktop' }, ['bot_type']],
  ['an unknown mode', { ...cascade, mode: 'both' }, ['mode']],
  [
    'each unknown transport by itself',
    { ...cascade, transports: ['a', 'lightrtc', 'b'] },
    ['transports', 'transports'],
  ],
  ['a telephone with a web bot', { ...phone, bot_type: 'web' }, ['bot_type']],
  [
    'a name without its direction',
    { ...cascade, transports: ['hostedrtc_pstn'] },
    ['daily_pstn_mode'],
    /dial-in or dial-out/,
  ],
  ['a direction that is none', { ...cascade, transports: ['daily_pstn'], daily_pstn_mode: 'up' }, ['daily_pstn_mode']],
  [
    'the other name without its direction',
    { ...cascade, transports: ['carrier1_hostedrtc_sip'] },
    ['twilio_daily_sip_mode'],
  ],
  ['a direction without its transport', { ...phone, daily_pstn_mode: 'dial-in' }, ['daily_pstn_mode']],
  [
    'a direction against the transport',
    { ...cascade, transports: ['hostedrtc_pstn_dialin'], daily_pstn_mode: 'dial-out' },
    ['daily_pstn_mode'],
  ],
  [
    'two kinds of calls through rooms',
    { ...cascade, transports: ['hostedrtc_pstn_dialin', 'hostedrtc_pstn_dialout'] },
    ['transports'],
  ],
  ['services of the other mode', { ...realtime, stt_service: 'deepgram_stt' }, ['stt_service']],
  ['a realtime service in a cascade', { ...cascade, realtime_service: 'openai_realtime' }, ['realtime_service']],
  ['an unknown service', { ...cascade, llm_service: 'hal_llm' }, ['llm_service'], /openai_llm/],
  ['a service of another kind', { ...cascade, llm_service: 'deepgram_stt' }, ['llm_service']],
  ['a service that is gone, with the reason', { ...cascade, tts_service: 'lmnt_tts' }, ['tts_service'], /shut down/],
  ['a face on the telephone', { ...phone, video_service: 'tavus_video' }, ['video_service']],
  ['a camera on the telephone', { ...phone, video_input: true, video_output: true }, ['video_input', 'video_output']],
  ['video where none is carried', { ...cascade, transports: ['websocket'], video_output: true }, ['video_output']],
  ['an unknown framework', { ...cascade, client_framework: 'vue' }, ['client_framework']],
  ['a client on the telephone', { ...phone, client_framework: 'react' }, ['client_framework']],
  [
    'a client on the telephone that is called a web bot',
    { ...phone, bot_type: 'web', client_framework: 'react' },
    ['bot_type', 'client_framework'],
    /a telephone needs no client/,
  ],
  ['a server without a client', { ...cascade, client_server: 'vite' }, ['client_server']],
  ['nextjs without react', { ...cascade, client_framework: 'vanilla', client_server: 'nextjs' }, ['client_server']],
  [
    'a client for livekit alone',
    { ...cascade, transports: ['livekit'], client_framework: 'react' },
    ['client_framework'],
  ],
  ['noise cancellation without a deployment', { ...cascade, enable_nc: true, deploy_to_cloud: false }, ['enable_nc']],
  ['an empty name', { ...cascade, project_name: ' ' }, ['project_name']],
  ['a name without a letter that an agent could have', { ...cascade, project_name: '机器人' }, ['project_name']],
  ['a reserved name', { ...cascade, project_name: 'Public' }, ['project_name'], /reserved/],
  ['a name with a line break', { ...cascade, project_name: 'a\nbot' }, ['project_name']],
];

const refusals = refused.map(([what, given, paths, says]) => [what, given, paths, says ?? /./] as const);

test.each(refusals)('refused: %s', (_what, given, paths, says) => {
  const { configuration, issues } = resolve(given, 'my-bot');
  expect(configuration).toBeNull();
  expect(issues.map(({ path }) => path)).toEqual(paths);
  expect(issues.map(({ message }) => message).join('\n')).toMatch(says);
});

test('a name that only the directory gave leads to the option for another', () => {
  expect(resolve(cascade, '机器人').issues).toEqual([
    { path: 'project_name', message: expect.stringContaining('--name gives another') },
  ]);
});

test('everything that is wrong is told at once, in the order of the keys', () => {
  const { issues } = resolve(
    { project_name: '', bot_type: 'x', mode: 'cascade', llm_service: 'x', client_server: 'x' },
    'b',
  );
  expect(issues.map(({ path }) => path)).toEqual([
    'project_name',
    'bot_type',
    'transports',
    'stt_service',
    'llm_service',
    'tts_service',
    'client_server',
  ]);
});

describe('a config file', () => {
  test('takes each key by its names, and the first one wins', () => {
    const text = JSON.stringify({
      name: 'a',
      project_name: 'b',
      transport: ['daily'],
      stt: 'x_stt',
      eval: true,
      generate_client: false,
    });
    expect(readConfigFile(text)).toEqual({
      given: { project_name: 'a', transports: ['daily'], stt_service: 'x_stt', enable_eval: true },
      issues: [],
    });
  });

  test('says all that is wrong with it at once', () => {
    const text = JSON.stringify({
      transports: 'lightrtc',
      recording: 'yes',
      mode: 1,
      colour: 'red',
      generate_client: 1,
    });
    expect(readConfigFile(text).issues.map(({ path }) => path)).toEqual([
      'transports',
      'mode',
      'recording',
      'generate_client',
      'colour',
    ]);
  });

  test.each([
    [{ generate_client: true }, 'needs client_framework: react or vanilla'],
    [{ generate_client: true, client_framework: 'none' }, 'needs client_framework: react or vanilla'],
    [{ generate_client: false, client_framework: 'react' }, 'cannot be false with client_framework'],
  ])('that contradicts itself about a client is refused, unless options say which: %j', (said, message) => {
    const text = JSON.stringify(said);
    expect(readConfigFile(text).issues).toEqual([{ path: 'generate_client', message }]);
    for (const framework of ['vanilla', 'none']) {
      expect(readConfigFile(text, { client_framework: framework }).issues).toEqual([]);
    }
  });

  test.each(['', '{', '[]', 'null', '"text"', '[1]'])('is refused when it is %j', (text) => {
    expect(readConfigFile(text).issues).toEqual([{ path: '', message: expect.stringMatching(/JSON/) }]);
  });

  test('may begin with a byte-order mark, and null says nothing', () => {
    expect(readConfigFile('\uFEFF{"mode": "cascade", "stt": null}')).toEqual({
      given: { mode: 'cascade' },
      issues: [],
    });
  });
});
