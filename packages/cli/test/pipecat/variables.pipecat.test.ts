import { expect, test } from 'vitest';
import { transports } from '../../src/scaffold/catalogue/transports.ts';
import { vendors } from '../../src/scaffold/catalogue/vendors.ts';
import { collectEnvironmentVariables } from '../../src/scaffold/python/expression.ts';
import { runPipecatScript } from './ask-library.ts';
import { mostVendorsPackageGroup } from './package-groups.ts';
import { preparePipecatEnvironment } from './pipecat-environment.ts';

/**
 * Checks that the catalogue of `botcli init` lists exactly the environment variables that the source of pipecat-ai reads. Users
 * would not know of a missing variable, and a superfluous one would have no effect.
 */
const environment = await preparePipecatEnvironment(mostVendorsPackageGroup);

/**
 * Environment variables that pipecat-ai reads but the catalogue of `botcli init` does not list, with the reason, by service or
 * transport. `*` means all services and transports.
 */
const unlisted: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': {
    AWS_ACCOUNT_ID: 'requests are signed without it',
    NO_COLOR: 'a convention of terminals',
  },
  gemini_tts: { GOOGLE_API_KEY: 'read with use_genai only, which no project sets' },
  google_tts: { GOOGLE_API_KEY: 'read with use_genai only, which no project sets' },
  nvidia_sagemaker_tts: { AWS_SESSION_TOKEN: 'of a client that it does not use: its own takes the two keys alone' },
  tavus_video: { TAVUS_SAMPLE_ROOM_URL: 'for those who develop the library' },
  ...Object.fromEntries(
    transports
      .filter(({ kind }) => kind.startsWith('room-') || kind.startsWith('bridged-'))
      .map(({ value }) => [value, { DAILY_ROOM_URL: 'a call gets a room of its own' }]),
  ),
};
/**
 * Returns whether the catalogue of `botcli init` may omit a variable. This is true for the variables in `unlisted`, and for the
 * `PIPECAT_` settings, which the documentation of pipecat-ai describes.
 */
const isTold = (value: string, name: string) =>
  name.startsWith('PIPECAT_') || name in { ...unlisted['*'], ...unlisted[value] };

type ServiceArguments = { readonly value: string; readonly key: string | null; readonly arguments: readonly string[] };
type ServiceQuery = ServiceArguments & { readonly modules: readonly string[] };
type ServiceVariables = { readonly value: string; readonly reads: readonly string[] };

async function readsOf(asked: readonly ServiceQuery[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await runPipecatScript<readonly ServiceVariables[]>(environment, 'find_variables.py', asked);
  return new Map(found.map(({ value, reads }) => [value, reads]));
}

test('the catalogue lists exactly the variables that Pipecat reads for each service', async () => {
  const services = vendors.flatMap((vendor) => vendor.services);
  const reads = await readsOf(
    services.map(({ value, module, arguments: args }) => ({
      value,
      modules: [module],
      key: null,
      arguments: Object.keys(args),
    })),
  );
  const unknown = services.flatMap(({ value, arguments: args, settings, variables = [] }) => {
    const listed = [...Object.values({ ...args, ...settings }).flatMap(collectEnvironmentVariables), ...variables];
    const own = reads.get(value) ?? [];
    const missing = own.filter((name) => !isTold(value, name) && !listed.some((one) => one.name === name));
    return missing.map((name) => `${value}: ${name}`);
  });
  expect(unknown).toEqual([]);
  const claimed = services.flatMap(({ value, variables = [] }) => variables.map(({ name }) => ({ value, name })));
  expect(claimed.length).toBeGreaterThan(0);
  expect(claimed.filter(({ value, name }) => reads.get(value)?.includes(name) !== true)).toEqual([]);
});

/** Maps the package extra that installs a transport to the modules in which Pipecat's runner opens the transport. */
const openers: Readonly<Record<string, readonly string[]>> = {
  daily: ['pipecat.runner.daily'],
  livekit: ['pipecat.runner.livekit'],
  webrtc: [],
  websocket: ['pipecat.runner.utils'],
};

test('the catalogue lists exactly the variables that Pipecat reads for each transport', async () => {
  const runner = { value: 'runner', modules: ['pipecat.runner.run'], key: null, arguments: [] };
  const reads = await readsOf([
    ...transports.map(({ value, key, extras, parameters }) => ({
      value,
      modules: [parameters.module, ...extras.flatMap((extra) => openers[extra] ?? [])],
      key,
      arguments: [],
    })),
    runner,
  ]);
  const unknown = transports.flatMap(({ value, variables }) => {
    const own = reads.get(value) ?? [];
    const missing = own.filter((name) => !isTold(value, name) && !variables.some((one) => one.name === name));
    return missing.map((name) => `${value}: ${name}`);
  });
  expect(unknown).toEqual([]);
  // The catalogue may list a `PIPECAT_` variable for any transport if Pipecat reads the variable for at least one, because the
  // source of Pipecat's runner does not show to which transport such a variable belongs.
  const byAnybody = new Set([...reads.values()].flat());
  const own = (value: string, name: string) =>
    reads.get(value)?.includes(name) === true || (name.startsWith('PIPECAT_') && byAnybody.has(name));
  const claimed = transports.flatMap(({ value, variables }) => variables.map(({ name }) => ({ value, name })));
  expect(claimed.filter(({ value, name }) => !own(value, name))).toEqual([]);
  // Check that every variable that the runner reads is listed for at least one transport.
  const listed = new Set(claimed.map(({ name }) => name));
  const others = (reads.get('runner') ?? []).filter((name) => !listed.has(name) && !isTold('runner', name));
  expect(others.filter((name) => !/^(VONAGE|WHATSAPP)_/.test(name))).toEqual([]);
});
