import { format, inspect } from 'node:util';
import { operations } from '@bothost/contract';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { exampleImageRegistryConnectionPolicy } from '../../../test/support/test-vault.ts';
import { parseWriteRequest } from '../write-request.ts';
import { hideBufferFromLogs } from './hide-buffer-from-logs.ts';

const canary = 'canary-7f3a';
const hidden = [canary, Buffer.from(canary).toString('hex'), JSON.stringify([...Buffer.from(canary)]).slice(1, -1)];

it.each([
  ['bytes', { value: hideBufferFromLogs(Buffer.from(canary)) }],
  [
    'the values of a write request',
    parseWriteRequest({ secrets: [{ secretKey: 'A', secretValue: canary }] }, exampleImageRegistryConnectionPolicy),
  ],
])('hideBufferFromLogs hides %s in JSON, inspection, errors and logs', (_, content) => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  log.info({ content, values: [...Object.values(content)] }, 'a message');
  log.error({ err: new Error('it failed', { cause: content }) }, 'a message');
  const shown = [
    JSON.stringify(content),
    JSON.stringify([...Object.values(content)]),
    inspect(content, { depth: 9, showHidden: true }).replaceAll(' ', ''),
    format('%s %o %j', content, content, content),
    ...lines,
  ].join('\n');
  for (const form of hidden) expect(shown).not.toContain(form);
});

it.each([
  [{ secrets: [{ secretKey: canary.repeat(20), secretValue: 'x' }] }],
  [{ secrets: [{ secretKey: `${canary} =`, secretValue: 'x' }] }],
  [{ secrets: [{ secretKey: 'A', secretValue: [canary] }] }],
  [{ secrets: [{ secretKey: 'A', secretValue: `${canary}\0` }] }],
  [{ secrets: [{ secretKey: 'A', secretValue: canary.repeat(9_000) }] }],
  [{ secrets: canary }],
  [{ secrets: { [canary]: canary } }],
  [{ secretKey: 'A', secretValue: { [canary]: canary } }],
  [{ mode: canary, secretKey: 'PORT', secretValue: canary }],
  [{ isImagePullSecret: true, host: 'ghcr.io', secretValue: canary }],
  [{ isImagePullSecret: canary, secretValue: canary }],
])('parseWriteRequest reports an invalid request without its values: case %#', (body) => {
  const parsed = operations.putSecrets.body.safeParse(body);
  const issues = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path, message }));
  const refused = parsed.success
    ? String(errorOf(() => parseWriteRequest(parsed.data, exampleImageRegistryConnectionPolicy)))
    : '';
  expect(issues.length > 0 || refused !== '').toBe(true);
  expect(JSON.stringify(issues) + refused).not.toContain(canary);
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
    return '';
  } catch (error) {
    return JSON.stringify(error) + String(error);
  }
}
