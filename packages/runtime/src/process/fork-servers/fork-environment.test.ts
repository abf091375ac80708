import { describe, expect, it } from 'vitest';
import { createTestInstanceSpec } from '../../../test/instance-spec.ts';
import {
  createForkedEnvironment,
  createForkServerEnvironment,
  hashEnvironment,
  type InstanceLaunchInput,
} from './fork-environment.ts';

const spec = createTestInstanceSpec({ instanceId: 'i', deploymentId: 'd', prepared: {} });
const source = (variables: Readonly<Record<string, string>>): InstanceLaunchInput => ({
  spec,
  project: { project: 'p', kind: 'python', main: 'bot.py', gid: null, owner: 'o', environment: 'e' },
  program: { fork: null, command: ['python'], variables: { VIRTUAL_ENV: '/env' }, folder: '/env/bin' },
  variables,
});
const place = { path: '/usr/bin', language: undefined, timeZone: undefined, home: '/home', instanceId: 'i' };

describe('createForkServerEnvironment', () => {
  it('returns the variables of the deployment, but no socket', () => {
    const environment = createForkServerEnvironment(place, source({ KEY: 'value' }));
    expect(environment).toMatchObject({ KEY: 'value', HOME: '/home', VIRTUAL_ENV: '/env' });
    expect(environment).not.toHaveProperty('BOT_SOCKET');
  });
});

describe('createForkedEnvironment', () => {
  const forked = { ...place, socket: '/run/bot', conversation: { lines: '/conversation', recording: '/recording' } };

  it('limits native libraries to one thread unless a variable of the bot sets another number of threads', () => {
    expect(createForkedEnvironment(forked, source({}))).toMatchObject({
      OPENBLAS_NUM_THREADS: '1',
    });
    const chosen = createForkedEnvironment(forked, source({ OPENBLAS_NUM_THREADS: '4' }));
    expect(chosen).toMatchObject({ OPENBLAS_NUM_THREADS: '4' });
  });
});

describe('hashEnvironment', () => {
  const first = hashEnvironment('salt', place, source({ KEY: 'value', OTHER: '1' }));

  it('returns the same hash for the same variables in another order', () => {
    expect(hashEnvironment('salt', place, source({ OTHER: '1', KEY: 'value' }))).toBe(first);
  });

  it.each([{ path: '/bin' }, { language: 'de_DE.UTF-8' }, { timeZone: 'UTC' }])(
    'returns a different hash for another variable of the service: %o',
    (changed) => {
      const input = source({ KEY: 'value', OTHER: '1' });
      expect(hashEnvironment('salt', { ...place, ...changed }, input)).not.toBe(first);
    },
  );

  it('returns different hashes for different variables or salts', () => {
    expect(hashEnvironment('salt', place, source({ KEY: 'new', OTHER: '1' }))).not.toBe(first);
    expect(hashEnvironment('another', place, source({ KEY: 'value', OTHER: '1' }))).not.toBe(first);
  });
});
