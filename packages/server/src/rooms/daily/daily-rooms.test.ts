import { ApiError } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDailyStandIn } from '../../../test/support/daily.ts';
import { createTestVault } from '../../../test/support/test-vault.ts';
import { useTestRows } from '../../../test/support/use-test-server.ts';
import { storeProviderKey } from '../../secrets/provider-key.ts';
import { RoomRefusedError } from '../room-provider.ts';
import { encodeDailyKey } from './daily-key.ts';
import { createDailyRooms } from './daily-rooms.ts';

const rows = await useTestRows();
const daily = await startDailyStandIn();
afterAll(daily.close);
const { context } = await createTestVault(rows);
const connection = { apiUrl: daily.url, timeoutMs: 200 };
const rooms = createDailyRooms({ ...context, daily: connection });
const signal = new AbortController().signal;
let organizationId: string;
let unconnected: string;
beforeAll(async () => {
  organizationId = await rows.organization('connected');
  unconnected = await rows.organization('unconnected');
  await context.keyring.ensure(rows.db, organizationId);
  const value = encodeDailyKey({ apiKey: daily.apiKey, dialinSecret: null });
  const stored = { account: 'stand-in', details: { signsDialin: false }, connected_at: context.now(), value };
  await storeProviderKey(context, { organizationId, provider: 'daily' }, stored);
});

let number = 0;
const createRequest = () => {
  number += 1;
  return {
    organizationId,
    name: `room-${number}`,
    expiresAt: new Date('2026-11-28T12:00:00Z'),
    roomProperties: {},
    tokenProperties: {},
  };
};
const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe('create', () => {
  it.each<[string, Parameters<typeof daily.fail>[1], string]>([
    ['a refused key', { status: 401, body: '{"error":"authentication-error"}' }, 'rooms-key-refused'],
    ['refused properties', { status: 400, body: '{"error":"invalid-request-error","info":"no"}' }, 'rooms-refused'],
    ['a plan without a feature', { status: 403, body: '{"error":"forbidden-error","info":"no"}' }, 'rooms-refused'],
    ['too many requests', { status: 429, body: '{"error":"rate-limit-error"}' }, 'rooms-busy'],
  ])('says that there is no room to delete after %s', async (_, fault, reason) => {
    daily.fail('POST /rooms', fault);
    expect(await failureOf(rooms.create(createRequest()))).toMatchObject({
      name: RoomRefusedError.name,
      failure: { reason },
    });
  });

  it.each<[string, string, Parameters<typeof daily.fail>[1], string]>([
    ['no response', 'POST /rooms', 'hang', 'rooms-timeout'],
    ['a failure of Daily', 'POST /rooms', { status: 500, body: '{}' }, 'rooms-unavailable'],
    ['a redirect', 'POST /rooms', { status: 302, body: '{}' }, 'rooms-unavailable'],
    ['a page in HTML', 'POST /rooms', { status: 200, body: '<html>', type: 'text/html' }, 'rooms-unavailable'],
    ['a refused token', 'POST /meeting-tokens', { status: 429, body: '{}' }, 'rooms-busy'],
  ])('leaves open whether there is a room after %s', async (_, request, fault, reason) => {
    daily.fail(request, fault);
    const error = await failureOf(rooms.create(createRequest()));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ reason });
  });

  it('hides the key if Daily repeats it in its reason', async () => {
    daily.fail('POST /rooms', { status: 400, body: JSON.stringify({ info: `bad key ${daily.apiKey} [x]` }) });
    expect(await failureOf(rooms.create(createRequest()))).toMatchObject({
      message: expect.stringContaining('bad key ... (x)'),
    });
  });

  it('fails if Daily cannot be reached, or the organization has no key', async () => {
    const elsewhere = createDailyRooms({ ...context, daily: { ...connection, apiUrl: 'http://127.0.0.1:1/v1' } });
    expect(await failureOf(elsewhere.create(createRequest()))).toMatchObject({ reason: 'rooms-unavailable' });
    const request = { ...createRequest(), organizationId: unconnected };
    expect(await failureOf(rooms.create(request))).toMatchObject({ failure: { reason: 'rooms-not-connected' } });
  });
});

describe('remove', () => {
  it('resolves for a room that exists, and for one that does not', async () => {
    const request = createRequest();
    await rooms.create(request);
    await rooms.remove(request, signal);
    expect(daily.rooms().map(({ name }) => name)).not.toContain(request.name);
    await rooms.remove(request, signal);
  });

  it.each<[string, Parameters<typeof daily.fail>[1]]>([
    ['Daily refuses the key', { status: 401, body: '{"error":"authentication-error"}' }],
    ['Daily fails', { status: 503, body: '' }],
    ['Daily does not respond', 'hang'],
  ])('rejects if %s', async (_, fault) => {
    daily.fail('DELETE', fault);
    await expect(rooms.remove(createRequest(), signal)).rejects.toThrow('Daily');
  });

  it('rejects without a key, and as soon as the server shuts down', async () => {
    await expect(rooms.remove({ organizationId: unconnected, name: 'x' }, signal)).rejects.toThrow('no key of Daily');
    await expect(rooms.remove(createRequest(), AbortSignal.abort())).rejects.toThrow();
  });
});
