import { describe, expect, test } from 'vitest';
import { findService, listServices } from '../../src/scaffold/catalogue/services.ts';
import { findDialInAndDialOutTransports, findTransport, transports } from '../../src/scaffold/catalogue/transports.ts';
import { serviceKinds } from '../../src/scaffold/catalogue/vendor-service.ts';
import { vendors } from '../../src/scaffold/catalogue/vendors.ts';
import { listInitOptionValues } from '../../src/scaffold/configuration/list-options.ts';
import { findMinimumPipecatAndPython } from '../../src/scaffold/configuration/plan.ts';
import { collectEnvironmentVariables, collectImports } from '../../src/scaffold/python/expression.ts';
import { isOlderVersion } from '../../src/scaffold/version-order.ts';

/** The services that the Pipecat CLI lists for release 1.14.0, by kind. `botcli init` may offer more. */
const listed = {
  stt: `assemblyai aws_transcribe azure cartesia cartesia_turns deepgram deepgram_flux deepgram_flux_sagemaker
    deepgram_sagemaker elevenlabs elevenlabs_realtime fal gemini gladia google gradium groq meta mistral nvidia
    nvidia_sagemaker openai openai_realtime sarvam smallest soniox speechmatics moonshine whisper xai zoom_ai`,
  llm: `anthropic aws_bedrock azure baseten cerebras crusoe deepseek fireworks google_gemini google_vertex xai groq
    inception mistral novita nvidia ollama openai openai_responses openrouter perplexity qwen sambanova sarvam smallest
    together`,
  tts: `asyncai aws_polly azure camb bland cartesia deepgram deepgram_flux deepgram_flux_sagemaker deepgram_sagemaker
    elevenlabs elevenlabs_dialogue fish gemini google gradium groq hume inworld kokoro minimax mistral neuphonic nvidia
    nvidia_sagemaker openai piper pockettts resemble rime sarvam smallest soniox speechify xai xtts`,
  realtime: 'aws_nova azure azure_voice_live gemini_live gemini_vertex_live xai openai ultravox',
  video: 'heygen tavus simli',
};

test.each(serviceKinds)('the catalogue has every service of the kind %s that the Pipecat CLI has', (kind) => {
  const expected = listed[kind].split(/\s+/).map((name) => `${name}_${kind}`);
  expect(listInitOptionValues()[kind]).toEqual(expect.arrayContaining(expected));
});

test('all services have unique values and aliases, and all vendors have unique names', () => {
  const services = vendors.flatMap((vendor) => vendor.services);
  const names = services.flatMap(({ value, aliases }) => [value, ...(aliases ?? [])]);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(vendors.map(({ name }) => name)).size).toBe(vendors.length);
});

describe.each(vendors)('the vendor $name', ({ site, services }) => {
  test.each(services)('has a valid site URL, and valid module names and versions for service $value', (service) => {
    const parts = Object.values({ ...service.arguments, ...service.settings });
    expect(site).toMatch(/^https:\/\/[a-z0-9.-]+(\/\S*)?$/);
    expect(service.value).toBe(`${service.value.slice(0, -service.kind.length - 1)}_${service.kind}`);
    expect(service.module).toMatch(/^pipecat\.services\.[a-z0-9_.]+$/);
    expect(service.className).toMatch(/^[A-Z]\w+$/);
    for (const { name } of parts.flatMap(collectEnvironmentVariables)) expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
    for (const { module } of parts.flatMap(collectImports)) expect(module).toMatch(/^[a-z][a-z0-9_.]*$/);
    for (const version of [service.since, service.python]) expect(version ?? '1.0').toMatch(/^\d+(\.\d+)+$/);
  });
});

test('services declare a minimum pipecat-ai or Python version only if it is above the minimum of all projects', () => {
  const minimum = findMinimumPipecatAndPython([]);
  const isLater = (version: string | undefined, than: string) => version === undefined || isOlderVersion(than, version);
  const needless = vendors
    .flatMap(({ services }) => services)
    .filter(({ since, python }) => !isLater(since, minimum.library) || !isLater(python, minimum.python));
  expect(needless.map(({ value }) => value)).toEqual([]);
});

test('every environment variable, except those with the prefix AWS_, belongs to exactly one vendor', () => {
  const owners = new Map<string, Set<string>>();
  for (const { name, services } of vendors) {
    for (const { arguments: args, settings, variables } of services) {
      const own = [
        ...Object.values({ ...args, ...settings }).flatMap(collectEnvironmentVariables),
        ...(variables ?? []),
      ];
      for (const variable of own) owners.set(variable.name, (owners.get(variable.name) ?? new Set()).add(name));
    }
  }
  const shared = [...owners].filter(([, names]) => names.size > 1).map(([variable]) => variable);
  expect(shared.filter((variable) => !variable.startsWith('AWS_'))).toEqual([]);
});

test('a bot with Azure Voice Live sets session properties only if the variable for the voice is set', () => {
  const settings = findService('realtime', 'azure_voice_live_realtime')?.service.settings;
  const properties = settings?.['session_properties'];
  expect(properties).toMatchObject({ kind: 'choice', condition: 'os.getenv("AZURE_VOICE_LIVE_VOICE_ID")' });
  expect(
    properties && collectEnvironmentVariables(properties).map(({ name, required }) => ({ name, required })),
  ).toEqual([{ name: 'AZURE_VOICE_LIVE_VOICE_ID', required: false }]);
});

test('services that the catalogue discourages are last in their list', () => {
  expect(listServices('tts').at(-1)?.service.value).toBe('xtts_tts');
});

test('findService finds a service by its alias, and returns null for a service of another kind', () => {
  expect(findService('realtime', 'ultravox')?.service.value).toBe('ultravox_realtime');
  expect(findService('realtime', 'azure_voice_live')?.service.value).toBe('azure_voice_live_realtime');
  expect(findService('llm', 'deepgram_stt')).toBeNull();
});

test('--list-options prints the canonical names of transports', () => {
  expect(listInitOptionValues().transports).toEqual({
    web: ['hostedrtc', 'livekit', 'lightrtc', 'websocket'],
    telephony: [
      'carrier1',
      'carrier1_hostedrtc_sip_dialin',
      'carrier1_hostedrtc_sip_dialout',
      'hostedrtc_pstn_dialin',
      'hostedrtc_pstn_dialout',
      'carrier2',
      'carrier3',
      'carrier4',
    ],
  });
});

test.each([
  ['daily', 'hostedrtc'],
  ['smallwebrtc', 'lightrtc'],
  ['twilio', 'carrier1'],
  ['telnyx', 'carrier2'],
  ['plivo', 'carrier3'],
  ['exotel', 'carrier4'],
  ['daily_pstn_dialin', 'hostedrtc_pstn_dialin'],
  ['twilio_daily_sip_dialout', 'carrier1_hostedrtc_sip_dialout'],
])('findTransport resolves the name %s to the transport %s', (alias, value) => {
  expect(findTransport(alias)?.value).toBe(value);
});

test('findDialInAndDialOutTransports returns the dial-in and the dial-out transport for a transport name that contains no direction', () => {
  for (const name of ['hostedrtc_pstn', 'daily_pstn', 'carrier1_hostedrtc_sip', 'twilio_daily_sip']) {
    expect(findDialInAndDialOutTransports(name).map(({ request }) => request?.direction)).toEqual([
      'dial-in',
      'dial-out',
    ]);
    expect(findTransport(name)).toBeNull();
  }
  expect(transports).toHaveLength(12);
});
