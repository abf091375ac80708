import { describe, expect, it } from 'vitest';
import { type ImportAttempt, planNextImportAttempt } from './import-level.ts';

const failed = (attempt: ImportAttempt, modules: readonly string[] = ['numpy']) => ({
  attempt,
  failure: { reason: 'it started a thread', modules },
});

describe('planNextImportAttempt', () => {
  it.each([
    ['imports the bot and what sessions imported', ['late'], [], { level: 'module', modules: ['late'] }],
    [
      'leaves out what sessions imported',
      ['late'],
      [failed({ level: 'module', modules: ['late'] })],
      { level: 'module', modules: [] },
    ],
    [
      'imports only the libraries of the bot',
      [],
      [failed({ level: 'module', modules: [] })],
      { level: 'libraries', modules: ['numpy'] },
    ],
    ['gives up if the bot imported no library', [], [failed({ level: 'module', modules: [] }, [])], null],
    ['gives up if the libraries fail too', [], [failed({ level: 'libraries', modules: ['numpy'] })], null],
  ] as const)('%s', (_, remembered, failures, expected) => {
    expect(planNextImportAttempt(remembered, failures)).toEqual(expected);
  });
});
