import { describe, expect, test } from 'vitest';
import { type ProjectOptions, readConfigFile } from './fields.ts';
import { resolveConfiguration } from './resolve.ts';

const cascade: ProjectOptions = {
  transports: ['lightrtc'],
  mode: 'cascade',
  stt_service: 'deepgram_stt',
  llm_service: 'openai_llm',
  tts_service: 'cartesia_tts',
};
const phone: ProjectOptions = { ...cascade, transports: ['carrier1'] };

const refused: readonly (readonly [what: string, given: ProjectOptions, paths: readonly string[], message: RegExp])[] =
  [
    [
      'a transport name that lacks its call direction',
      { ...cascade, transports: ['hostedrtc_pstn'] },
      ['daily_pstn_mode'],
      /dial-in or dial-out/,
    ],
    ['an unknown service', { ...cascade, llm_service: 'hal_9000' }, ['llm_service'], /openai_llm/],
    [
      'a removed service, and names the reason for the removal',
      { ...cascade, tts_service: 'lmnt_tts' },
      ['tts_service'],
      /shut down/,
    ],
    [
      'a client for a phone transport of a web bot',
      { ...phone, bot_type: 'web', client_framework: 'react' },
      ['bot_type', 'client_framework'],
      /a phone bot needs no client/,
    ],
    ['a reserved name', { ...cascade, project_name: 'Public' }, ['project_name'], /reserved/],
    ...['pipecat-ai', 'Pipecat_AI', 'pipecat.ai', 'openai', 'OpenAI', 'deepgram sdk', 'ruff', 'typing_extensions'].map(
      (name) =>
        [
          `the package name ${name} as project name`,
          { ...cascade, project_name: name },
          ['project_name'],
          /name of a package that Pipecat installs/,
        ] as const,
    ),
  ];

test.each(refused)('resolveConfiguration rejects options that contain %s', (_what, given, paths, says) => {
  const { configuration, issues } = resolveConfiguration(given, 'my-bot');
  expect(configuration).toBeNull();
  expect(issues.map(({ path }) => path)).toEqual(paths);
  expect(issues.map(({ message }) => message).join('\n')).toMatch(says);
});

test('resolveConfiguration suggests --name if the name of the directory is not a valid project name', () => {
  expect(resolveConfiguration(cascade, '机器人').issues).toEqual([
    { path: 'project_name', message: expect.stringContaining('with --name') },
  ]);
});

test('resolveConfiguration reports all issues at once, in the order of the configuration keys', () => {
  const { issues } = resolveConfiguration(
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

describe('readConfigFile', () => {
  test('accepts alternative keys of a setting, and prefers the key `name` to `project_name` if the file contains both', () => {
    const text = JSON.stringify({
      name: 'a',
      project_name: 'b',
      transport: ['daily'],
      stt: 'x_stt',
      eval: true,
      generate_client: false,
    });
    expect(readConfigFile(text)).toEqual({
      options: { project_name: 'a', transports: ['daily'], stt_service: 'x_stt', enable_eval: true },
      issues: [],
    });
  });

  test('reports all issues at once', () => {
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
    [{ generate_client: true }, 'requires client_framework to be react or vanilla'],
    [{ generate_client: true, client_framework: 'none' }, 'requires client_framework to be react or vanilla'],
    [{ generate_client: false, client_framework: 'react' }, 'must not be false if client_framework is given'],
  ])('refuses the contradictory client settings %j unless an option overrides them', (configuration, message) => {
    const text = JSON.stringify(configuration);
    expect(readConfigFile(text).issues).toEqual([{ path: 'generate_client', message }]);
    for (const framework of ['vanilla', 'none']) {
      expect(readConfigFile(text, { client_framework: framework }).issues).toEqual([]);
    }
  });

  test.each(['', '{', '[]', 'null', '"text"', '[1]'])('rejects the text %j, which is not a JSON object', (text) => {
    expect(readConfigFile(text).issues).toEqual([{ path: '', message: expect.stringMatching(/JSON/) }]);
  });

  test('accepts a byte-order mark and ignores keys with the value null', () => {
    expect(readConfigFile('\uFEFF{"mode": "cascade", "stt": null}')).toEqual({
      options: { mode: 'cascade' },
      issues: [],
    });
  });
});
