import { describe, expect, it } from 'vitest';
import { type BotImportAttempt, planNextBotImport } from './import-level.ts';

const failed = (attempt: BotImportAttempt, modules: readonly string[] = ['numpy']) => ({
  attempt,
  failure: { reason: 'it started a thread', modules },
});

describe('planNextBotImport', () => {
  it.each([
    ['imports the bot and the modules that sessions imported', ['late'], [], { level: 'module', modules: ['late'] }],
    [
      'omits the modules that sessions imported after that import failed',
      ['late'],
      [failed({ level: 'module', modules: ['late'] })],
      { level: 'module', modules: [] },
    ],
    [
      'imports only the libraries of the bot after the import of the bot failed',
      [],
      [failed({ level: 'module', modules: [] })],
      { level: 'libraries', modules: ['numpy'] },
    ],
    ['gives up if the bot imported no library', [], [failed({ level: 'module', modules: [] }, [])], null],
    [
      'gives up if the import of the libraries fails too',
      [],
      [failed({ level: 'libraries', modules: ['numpy'] })],
      null,
    ],
  ] as const)('%s', (_, remembered, failures, expected) => {
    expect(planNextBotImport(remembered, failures)).toEqual(expected);
  });
});
