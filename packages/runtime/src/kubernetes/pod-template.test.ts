import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RuntimeUnavailableError } from '../runtime.ts';
import { mergeParts, readPodTemplate } from './pod-template.ts';

async function read(text: string) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-template-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'pod.yaml'), text);
  return readPodTemplate(join(directory, 'pod.yaml'));
}

describe('readPodTemplate', () => {
  it.each([
    ['', { metadata: {}, spec: {}, container: {} }],
    [
      'spec: {runtimeClassName: gvisor}\nmetadata: {labels: {team: voice}}',
      { metadata: { labels: { team: 'voice' } }, spec: { runtimeClassName: 'gvisor' }, container: {} },
    ],
  ])('reads %j', async (text, expected) => {
    expect(await read(text)).toEqual(expected);
  });

  it.each([
    ['spec: {containers: []}', '"spec.containers" is missing or not valid: use "container"'],
    ['metadata: {name: a}', 'Unrecognized key: "name"'],
    ['resources: {}', 'Unrecognized key: "resources"'],
    ['metadata: {labels: {team: 1}}', '"metadata.labels.team" is missing or not valid'],
    ['spec: [', 'it is not YAML'],
  ])('refuses %j, and names the setting', async (text, message) => {
    const reading = read(text);
    await expect(reading).rejects.toThrow(RuntimeUnavailableError);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toThrow('BOTHOST_KUBERNETES_POD_TEMPLATE');
  });
});

describe('mergeParts', () => {
  it('merges objects at all levels, appends lists, and lets later values win', () => {
    const below = { a: { b: 1, c: 2 }, list: ['x'], kept: true };
    const above = { a: { c: 3, d: null }, list: ['y'] };
    expect(mergeParts(below, above)).toEqual({ a: { b: 1, c: 3, d: null }, list: ['x', 'y'], kept: true });
    expect(below).toEqual({ a: { b: 1, c: 2 }, list: ['x'], kept: true });
  });
});
