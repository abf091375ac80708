import { expect, it } from 'vitest';
import type { SessionAddressEntry } from '../sessions/session-address-registry.ts';
import { createSessionOwnershipRegistry } from './session-ownership.ts';
import { takeSession } from './take-session.ts';

const entry = { organizationId: 'o', agentName: 'parrot', instanceId: 'i', address: null };

function open() {
  const ownership = createSessionOwnershipRegistry();
  const published: Omit<SessionAddressEntry, 'open'>[] = [];
  return {
    ownership,
    published,
    sessionAddresses: { expect: (one: (typeof published)[0]) => void published.push(one) },
  };
}

it('takeSession owns the session before the claim, and publishes its address before it is served', async () => {
  const context = open();
  const claim = async () => ({ entry, isServedHere: true, wasOwned: context.ownership.has('s') });
  const result = await takeSession(context, 's', claim, ({ wasOwned }) => [wasOwned, [...context.published]]);
  expect(result).toEqual([true, [{ ...entry, sessionId: 's' }]]);
  expect(context.ownership.has('s')).toBe(true);
});

it('takeSession gives ownership back before `serve` if this process does not serve the session', async () => {
  const context = open();
  const claim = async () => ({ entry: null, isServedHere: false });
  expect(await takeSession(context, 's', claim, () => context.ownership.has('s'))).toBe(false);
  expect(context.published).toEqual([]);
});

it.each([
  ['claim', () => Promise.reject(new Error('lost')), () => undefined],
  ['serve', async () => ({ entry, isServedHere: true }), () => Promise.reject(new Error('lost'))],
])('takeSession gives ownership back if `%s` fails', async (_, claim, serve) => {
  const context = open();
  await expect(takeSession(context, 's', claim, serve)).rejects.toThrow('lost');
  expect(context.ownership.has('s')).toBe(false);
});
