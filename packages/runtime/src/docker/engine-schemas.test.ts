import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  containerListSchema,
  containerSchema,
  createdSchema,
  eventSchema,
  imageSchema,
  infoSchema,
  statsSchema,
  versionSchema,
} from './engine-schemas.ts';

/** Answers of Docker Engine 20.10 and 26.1, by path. The containers had a program that does nothing. */
function readAnswers(apiVersion: string): Readonly<Record<string, unknown>> {
  const url = new URL(`../../test/docker/recorded-answers/${apiVersion}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8'));
}

describe.each(['1.41', '1.44'])('schemas of the engine', (apiVersion) => {
  const answers = readAnswers(apiVersion);

  it(`read what an engine with API ${apiVersion} answers about itself`, () => {
    expect(versionSchema.parse(answers['/version'])).toMatchObject({ Os: 'linux', Arch: 'amd64' });
    expect(infoSchema.parse(answers['/info'])).toMatchObject({ OperatingSystem: 'Debian GNU/Linux' });
    expect(imageSchema.parse(answers['/images/{name}/json'])).toMatchObject({ Os: 'linux', Architecture: 'amd64' });
  });

  it(`read containers, exits and usage of an engine with API ${apiVersion}`, () => {
    const { Id } = createdSchema.parse(answers['POST /containers/create']);
    expect(containerListSchema.parse(answers['/containers/json'])).toMatchObject([{ Id, State: 'running' }]);
    expect(containerSchema.parse(answers['/containers/{id}/json'])).toMatchObject({
      Id,
      State: { Running: false, OOMKilled: false, ExitCode: 137 },
    });
    const events = (answers['/events'] as unknown[]).map((event) => eventSchema.parse(event));
    expect(events.at(-1)).toMatchObject({ Action: 'die', Actor: { ID: Id, Attributes: { exitCode: '137' } } });
    expect(statsSchema.parse(answers['/containers/{id}/stats'])).toMatchObject({
      memory_stats: { usage: expect.any(Number) },
    });
  });
});
