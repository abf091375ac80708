import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../run-program.ts';
import {
  findInvalidKeys,
  type RawOptions,
  resolveConfigurationByRules,
  transportNames,
  transportNamesWithoutCallDirection,
} from './configuration-rules.ts';
import { type ConfigFileMistakes, createConfigFileWithOptions, fieldNames } from './configuration-spelling.ts';

const word = (...words: readonly string[]) => fc.constantFrom(...words);
const configurations: fc.Arbitrary<RawOptions> = fc.record(
  {
    bot_type: word('web', 'telephony', 'robot'),
    transports: fc.array(word(...transportNames, ...transportNamesWithoutCallDirection, 'pigeon'), { maxLength: 3 }),
    mode: word('cascade', 'cascade', 'realtime', 'realtime', 'telepathy'),
    stt: word('deepgram_stt', 'whisper_stt', 'nobody'),
    llm: word('openai_llm', 'nobody'),
    tts: word('cartesia_tts', 'nobody'),
    realtime: word('openai_realtime', 'azure_voice_live_realtime', 'ultravox_realtime', 'nobody'),
    video: word('tavus_video', 'nobody'),
    client_framework: word('react', 'vanilla', 'none', 'vue'),
    client_server: word('vite', 'nextjs', 'apache'),
    daily_pstn_mode: word('dial-in', 'dial-out', 'up'),
    twilio_daily_sip_mode: word('dial-in', 'dial-out', 'up'),
    video_input: fc.boolean(),
    video_output: fc.boolean(),
    deploy_to_cloud: fc.boolean(),
    enable_nc: fc.boolean(),
    recording: fc.boolean(),
    transcription: fc.boolean(),
    observability: fc.boolean(),
    eval: fc.boolean(),
    name: word('Front Desk', 'x1 "quoted" \\', 'a'.repeat(100), 'a'.repeat(101), ' ', '北京', 'start', 'line\nbreak'),
  },
  { requiredKeys: [] },
);
/** Generates mostly valid options, because purely random options almost always contain errors. */
const likely = fc.tuple(configurations, fc.boolean()).map(
  ([
    { stt, llm, tts, realtime, name, bot_type: _type, daily_pstn_mode: _pstn, twilio_daily_sip_mode: _sip, ...rest },
    cascade,
  ]): RawOptions => ({
    ...rest,
    ...(name === undefined || !/^[Fx]/.test(name) ? {} : { name }),
    mode: cascade ? 'cascade' : 'realtime',
    transports: (rest.transports ?? [])
      .filter((one) => transportNames.includes(one))
      .concat(rest.video === undefined ? [] : ['lightrtc']),
    ...(cascade
      ? { stt: stt ?? 'soniox_stt', llm: llm ?? 'groq_llm', tts: tts ?? 'kokoro_tts' }
      : { realtime: realtime ?? 'ultravox_realtime' }),
  }),
);

const syntaxVariant = fc.record({
  place: fc.constantFrom('file' as const, 'option' as const, 'option over file' as const),
  laterKey: fc.boolean(),
  alias: fc.boolean(),
});
const syntaxVariants = fc.infiniteStream(syntaxVariant);
/**
 * Generates mistakes to add to a config file, such as unknown keys. Three quarters of the generated values contain no mistake.
 */
const mistakes: fc.Arbitrary<ConfigFileMistakes> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ mistyped: [], unknown: [], generateClient: null }) },
  {
    weight: 1,
    arbitrary: fc.record({
      mistyped: fc.subarray([...fieldNames], { maxLength: 3 }),
      unknown: fc.subarray(['colour', 'Mode', 'context_hub', 'dry_run', '__proto__x']),
      generateClient: fc.option(fc.boolean()),
    }),
  },
);

const directory = await mkdtemp(join(tmpdir(), 'botcli-property-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

async function dryRun(raw: unknown, options: readonly string[] = []) {
  await writeFile(join(directory, 'answers.json'), JSON.stringify(raw));
  return runProgram(['init', 'my-bot', '--config', 'answers.json', '--dry-run', '--json', ...options], { directory });
}

test.each([
  ['random', configurations],
  ['mostly valid', likely],
])(
  'init with %s options reports the expected errors, or prints a configuration that stays the same when "init --config" reads it',
  async (_kind, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, syntaxVariants, mistakes, async (raw, spelled, faulty) => {
        const { file, options, counts, wrongKeys, unread } = createConfigFileWithOptions(raw, spelled, faulty);
        const expected = [...findInvalidKeys(counts).filter((key) => !unread.includes(key)), ...wrongKeys].sort();
        const { status, stdout } = await dryRun(file, options);
        if (status !== 0) {
          const issues: readonly { readonly path: string }[] = JSON.parse(stdout).error.issues;
          expect([...new Set(issues.map(({ path }) => path))].sort()).toEqual(expected);
          return;
        }
        expect(expected).toEqual([]);
        expect(stdout).toBe(`${JSON.stringify(resolveConfigurationByRules(counts), null, 2)}\n`);
        expect(await dryRun(JSON.parse(stdout))).toEqual({ status: 0, stdout, stderr: '' });
      }),
      { numRuns: 400 },
    );
  },
);
