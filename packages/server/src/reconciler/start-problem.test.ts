import { StartError } from '@bothost/runtime';
import { describe, expect, it } from 'vitest';
import { SecretsUnavailable } from '../secrets/pin.ts';
import { startProblem } from './start-problem.ts';

const exit = { code: 3, signal: null, outOfMemory: false, tail: 'oh' };

describe('an instance that did not become ready', () => {
  it.each([
    ['exited', new StartError('It exited.', exit), false, 'PCC_BOT_EXITED', true],
    ['exited at the deadline', new StartError('It exited.', exit), true, 'PCC_BOT_EXITED', true],
    [
      'took too much memory',
      new StartError('It exited.', { ...exit, outOfMemory: true }),
      false,
      'PCC_OUT_OF_MEMORY',
      true,
    ],
    [
      'could not be started by the machine',
      new StartError('No account is free.', null),
      false,
      'PCC_UNKNOWN_ERROR',
      false,
    ],
    [
      'lacks a set that is damaged',
      new StartError('The bot could not be started.', null, { cause: new SecretsUnavailable('It is damaged.', true) }),
      false,
      'PCC_SECRETS_UNAVAILABLE',
      true,
    ],
    [
      'lacks a root key',
      new StartError('The bot could not be started.', null, { cause: new SecretsUnavailable('It is away.', false) }),
      false,
      'PCC_SECRETS_UNAVAILABLE',
      false,
    ],
    ['met something else', new Error('ENOSPC'), false, 'PCC_UNKNOWN_ERROR', false],
    ['met no error at all', 'odd', false, 'PCC_UNKNOWN_ERROR', false],
  ])('since it %s', (_, error, timedOut, code, lasting) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const message = cause instanceof Error ? cause.message : cause;
    expect(startProblem(error, timedOut)).toMatchObject({ code, lasting, message });
  });

  it('since it took too long is told with the time it had, and its last words', () => {
    const error = new StartError('Nothing listens.', null, { tail: 'waiting' });
    expect(startProblem(error, true)).toEqual({
      code: 'PCC_BOT_START_TIMEOUT',
      message: 'Nothing listens. It had 120 seconds.',
      exit: { code: null, signal: null, outOfMemory: false, tail: 'waiting' },
      lasting: true,
    });
  });
});
