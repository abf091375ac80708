import { expect, test } from 'vitest';
import { readEnvironmentVariableSettings } from '../config.ts';
import type { Profile } from './profile.ts';
import { resolveSettings } from './settings.ts';

const none = { 'api-url': undefined, organization: undefined };
const empty: Profile = { api_url: null, organization: null, private_key: null, public_key: null };
const file = '/home/ada/.config/botcli/config.toml';
const profile: Profile = { api_url: 'http://p:1', organization: 'prof', private_key: 'sk_p', public_key: 'pk_p' };
const environment = (variables: Record<string, string> = {}) =>
  readEnvironmentVariableSettings({ HOME: '/home/ada', ...variables });

test('uses the default URL and no key if nothing is configured', () => {
  expect(resolveSettings(none, environment(), empty)).toEqual({
    origin: { value: 'http://127.0.0.1:7420', source: 'the default' },
    privateKey: null,
    publicKey: null,
    organization: null,
  });
});

test('uses the values of the profile for missing and empty environment variables', () => {
  expect(resolveSettings(none, environment({ BOTCLI_TOKEN: '', BOTCLI_API_URL: ' ' }), profile)).toEqual({
    origin: { value: 'http://p:1', source: file },
    privateKey: { value: 'sk_p', source: file },
    publicKey: { value: 'pk_p', source: file },
    organization: { value: 'prof', source: file },
  });
});

test('options override environment variables, which override the profile', () => {
  const variables = { BOTCLI_API_URL: 'http://e:2', BOTCLI_ORG: 'env', BOTCLI_PUBLIC_KEY: 'pk_e' };
  expect(resolveSettings(none, environment(variables), profile)).toMatchObject({
    origin: { value: 'http://e:2', source: 'BOTCLI_API_URL' },
    publicKey: { value: 'pk_e', source: 'BOTCLI_PUBLIC_KEY' },
    organization: { value: 'env', source: 'BOTCLI_ORG' },
  });
  expect(
    resolveSettings({ 'api-url': 'http://f:3', organization: 'flag' }, environment(variables), profile),
  ).toMatchObject({
    origin: { value: 'http://f:3', source: '--api-url' },
    organization: { value: 'flag', source: '--organization' },
  });
});

test('ignores the organization of the profile if BOTCLI_TOKEN is a private key, but not if it is a personal token', () => {
  expect(resolveSettings(none, environment({ BOTCLI_TOKEN: 'sk_other' }), profile).organization).toBeNull();
  expect(resolveSettings(none, environment({ BOTCLI_TOKEN: 'pcc_pat_x' }), profile).organization?.value).toBe('prof');
});

test.each([
  ['http://h:1', 'http://h:1'],
  ['http://h:1/', 'http://h:1'],
  ['http://h:1/v1', 'http://h:1'],
  ['http://h:1/v1/', 'http://h:1'],
  ['https://H/bots/v1', 'https://h/bots'],
])('parses the URL %s as %s', (given, origin) => {
  expect(resolveSettings({ ...none, 'api-url': given }, environment(), empty).origin.value).toBe(origin);
});

test.each(['h:1', 'localhost', 'ftp://h', 'http://user:word@h', 'http://h?x=1', ''])('rejects the URL %j', (given) => {
  expect(() => resolveSettings({ ...none, 'api-url': given }, environment(), empty)).toThrow(/URL from --api-url/);
});

test('finds the profile by BOTCLI_CONFIG, otherwise by XDG_CONFIG_HOME, otherwise by HOME', () => {
  expect(environment().profileFile).toBe(file);
  expect(environment({ XDG_CONFIG_HOME: '/x' }).profileFile).toBe('/x/botcli/config.toml');
  expect(environment({ XDG_CONFIG_HOME: 'relative' }).profileFile).toBe(file);
  expect(environment({ XDG_CONFIG_HOME: '/x', BOTCLI_CONFIG: 'mine.toml' }).profileFile).toBe('mine.toml');
});
