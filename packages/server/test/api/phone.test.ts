import { randomUUID } from 'node:crypto';
import { type PhoneCarrier, phoneCarriers } from '@bothost/contract';
import { pino } from 'pino';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { sendRawRequest } from '../support/ask.ts';
import {
  type CarrierRequest,
  carrierCredentials,
  carrierFields,
  createCarrierRequest,
  sendCarrierRequest,
} from '../support/carrier-webhooks.ts';
import { evaluateJavaScriptInBot, waitForSessionEnd, waitUntilAgentReady } from '../support/client.ts';
import { createCarrierCall, dialCall } from '../support/phone-calls.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

/** Carriers reach the service through a reverse proxy with this name. The service itself has another name and port. */
const publicUrl = 'https://bots.example.com:8443';
const lines: string[] = [];
const service = await useTestServer({
  bots: { phone: {}, other: {}, open: { websocketAuth: 'none' } },
  environment: { BOTHOST_PUBLIC_URL: publicUrl },
  logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
});
const neighbours = await useSecondOrganization(service);

const urls: Record<string, Record<PhoneCarrier, string>> = {};
beforeAll(async () => {
  for (const agentName of ['phone', 'other', 'open']) {
    await waitUntilAgentReady(service, agentName);
    const { answerUrls } = await service.client.listAnswerUrls({ params: { agentName } });
    urls[agentName] = Object.fromEntries(answerUrls.map(({ carrier, url }) => [carrier, url])) as Record<
      PhoneCarrier,
      string
    >;
  }
});

const urlOf = (carrier: PhoneCarrier, agentName = 'phone') => urls[agentName]?.[carrier] ?? '';
const callsOf = async (agentName = 'phone') => (await service.client.listPhoneCalls({ params: { agentName } })).calls;
const ring = (request: CarrierRequest) => sendCarrierRequest(service, request);
const connect = (carrier: keyof typeof carrierCredentials) =>
  service.client.connectPhone({ params: { carrier }, body: { credential: carrierCredentials[carrier] } });

/** A valid request for a new call. */
function requestOf(carrier: PhoneCarrier, agentName = 'phone', callId: string = randomUUID()): CarrierRequest {
  return createCarrierRequest[carrier]({ url: urlOf(carrier, agentName), fields: carrierFields[carrier](callId) });
}

describe('carriers whose credential is not stored', () => {
  it.each(['twilio', 'telnyx', 'plivo'] as const)('are refused: %s', async (carrier) => {
    const { answerUrls } = await service.client.listAnswerUrls({ params: { agentName: 'phone' } });
    expect(answerUrls.find((one) => one.carrier === carrier)?.isReady).toBe(false);
    expect((await ring(requestOf(carrier))).status).toBe(403);
    expect((await callsOf())[0]).toMatchObject({
      carrier,
      result: 'refused',
      reason: 'carrier-not-connected',
      message: expect.stringContaining(`botcli cloud phone connect ${carrier}`),
    });
  });
});

describe('carriers whose credential is stored', () => {
  beforeAll(async () => {
    for (const carrier of ['twilio', 'telnyx', 'plivo'] as const) await connect(carrier);
  });

  describe.each(phoneCarriers)('a call from %s', (carrier) => {
    const documents: Readonly<Record<PhoneCarrier, RegExp>> = {
      twilio:
        /^<\?xml [^>]*\?>\n<Response><Connect><Stream url="([^"]*)"><Parameter name="from_number" value="\+15550001"\/><Parameter name="to_number" value="\+15550002"\/><\/Stream><\/Connect><\/Response>\n$/,
      telnyx:
        /^<\?xml [^>]*\?>\n<Response><Connect><Stream url="([^"]*)" bidirectionalMode="rtp"\/><\/Connect><\/Response>\n$/,
      plivo:
        /^<\?xml [^>]*\?>\n<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio\/x-mulaw;rate=8000">([^<]*)<\/Stream><\/Response>\n$/,
      exotel: /^\{"url":"([^"]*)"\}$/,
    };

    it.each(['phone', 'open'])('gets a call document of the agent %s, and reaches its bot once', async (agentName) => {
      const answer = await ring(requestOf(carrier, agentName));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(carrier === 'exotel' ? /^application\/json/ : /^text\/xml/);
      const [, streamUrl = ''] = documents[carrier].exec(await answer.text()) ?? [];
      expect(streamUrl.startsWith(`wss://bots.example.com:8443/ws/${carrier}/${agentName}.test-org/`)).toBe(true);
      expect((await callsOf(agentName))[0]).toMatchObject({ carrier, result: 'answered' });

      const { pathname } = new URL(streamUrl);
      const { opening, media, stop } = createCarrierCall(carrier, 'nobody.nowhere');
      const call = await dialCall(service, pathname);
      call.say(...opening, media(0));
      expect(await call.hear(opening.length + 1)).toEqual([...opening, media(0)]);
      // The bot may speak before the service has recorded that it has the call.
      const listed = await vi.waitFor(async () => {
        const [newest] = await callsOf(agentName);
        expect(newest).toMatchObject({ carrier, result: 'connected', reason: null, message: null });
        return newest;
      });
      const sessionId = listed?.sessionId ?? '';
      const upgrades = await evaluateJavaScriptInBot<{ headers: Record<string, string> }[]>(
        service,
        agentName,
        sessionId,
        'state.upgrades',
      );
      expect(upgrades.map(({ headers }) => headers['x-transport-type'])).toEqual([carrier]);
      call.say(stop);
      call.socket.close(1000);
      expect((await waitForSessionEnd(service, agentName, sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
      if (agentName === 'phone') await expect(dialCall(service, pathname)).rejects.toThrow('refused with status 403');
    });
  });

  type Change = (request: CarrierRequest) => CarrierRequest;
  type BadRequest = readonly [what: string, reason: string, make: () => CarrierRequest];
  const changed = (carrier: PhoneCarrier, change: Change) => () => change(requestOf(carrier));
  const withHeader = (carrier: PhoneCarrier, name: string, value: string) =>
    changed(carrier, (request) => ({ ...request, headers: { ...request.headers, [name]: value } }));
  const without = (carrier: PhoneCarrier, name: string) =>
    changed(carrier, (request) => ({
      ...request,
      headers: Object.fromEntries(Object.entries(request.headers).filter(([header]) => header !== name)),
    }));
  const withTarget = (carrier: PhoneCarrier, change: (target: string) => string) =>
    changed(carrier, (request) => ({ ...request, target: change(request.target) }));
  const withBody = (carrier: PhoneCarrier, change: (body: string) => string) =>
    changed(carrier, (request) => ({ ...request, body: change(request.body) }));
  const signedOtherwise =
    (carrier: PhoneCarrier, how: Partial<Parameters<typeof createCarrierRequest.twilio>[0]>) => () =>
      createCarrierRequest[carrier]({ url: urlOf(carrier), fields: carrierFields[carrier](randomUUID()), ...how });
  const minutesAway = (minutes: number) => new Date(Date.now() + minutes * 60_000);

  const bad: Readonly<Record<PhoneCarrier, readonly BadRequest[]>> = {
    twilio: [
      ['no signature', 'signature-missing', without('twilio', 'x-twilio-signature')],
      ['an empty signature', 'signature-missing', withHeader('twilio', 'x-twilio-signature', '')],
      ['the token of another account', 'signature-wrong', signedOtherwise('twilio', { authToken: 'f'.repeat(32) })],
      ['another caller', 'signature-wrong', withBody('twilio', (body) => body.replace('15550001', '15550009'))],
      ['a field more', 'signature-wrong', withBody('twilio', (body) => `${body}&ForwardedFrom=1`)],
      ['another agent', 'signature-wrong', withTarget('twilio', (target) => target.replace('/phone/', '/other/'))],
      ['a query that is not signed', 'signature-wrong', withTarget('twilio', (target) => `${target}?a=1`)],
      [
        'the signature of another host',
        'signature-wrong',
        () =>
          createCarrierRequest.twilio({
            url: urlOf('twilio').replace(publicUrl, service.url),
            fields: carrierFields.twilio(randomUUID()),
          }),
      ],
      ['another method', 'signature-wrong', changed('twilio', (request) => ({ ...request, method: 'GET' }))],
      ['no call', 'call-id-missing', signedOtherwise('twilio', { fields: { AccountSid: 'AC1' } })],
    ],
    telnyx: [
      ['no signature', 'signature-missing', without('telnyx', 'telnyx-signature-ed25519')],
      ['no time', 'signature-missing', without('telnyx', 'telnyx-timestamp')],
      [
        'a signature that is not one',
        'signature-wrong',
        withHeader('telnyx', 'telnyx-signature-ed25519', Buffer.alloc(64).toString('base64')),
      ],
      ['another caller', 'signature-wrong', withBody('telnyx', (body) => body.replace('15550001', '15550009'))],
      ['another time', 'signature-wrong', withHeader('telnyx', 'telnyx-timestamp', String(Date.now()))],
      ['a signature of six minutes ago', 'request-too-old', signedOtherwise('telnyx', { at: minutesAway(-6) })],
      ['a signature of the future', 'request-too-old', signedOtherwise('telnyx', { at: minutesAway(6) })],
      ['no secret', 'url-secret-wrong', withTarget('telnyx', (target) => target.replace(/\/[^/]+$/, ''))],
      [
        'another agent with the same secret',
        'url-secret-wrong',
        withTarget('telnyx', (target) => target.replace('/phone/', '/other/')),
      ],
      ['a GET request', 'method-wrong', changed('telnyx', (request) => ({ ...request, method: 'GET' }))],
      ['no call', 'call-id-missing', signedOtherwise('telnyx', { fields: { AccountSid: 'T1' } })],
    ],
    plivo: [
      ['no signature', 'signature-missing', without('plivo', 'x-plivo-signature-v3')],
      ['no nonce', 'signature-missing', without('plivo', 'x-plivo-signature-v3-nonce')],
      ['the token of another account', 'signature-wrong', signedOtherwise('plivo', { authToken: 'f'.repeat(32) })],
      ['another nonce', 'signature-wrong', withHeader('plivo', 'x-plivo-signature-v3-nonce', '87654321')],
      ['another caller', 'signature-wrong', withBody('plivo', (body) => body.replace('15550001', '15550009'))],
      ['another agent', 'signature-wrong', withTarget('plivo', (target) => target.replace('/phone/', '/other/'))],
      ['a query that is not signed', 'signature-wrong', withTarget('plivo', (target) => `${target}?a=1`)],
      ['no call', 'call-id-missing', signedOtherwise('plivo', { fields: { From: '1' } })],
    ],
    exotel: [
      ['no secret', 'url-secret-wrong', withTarget('exotel', (target) => target.replace(/\/[^/]+\?/, '?'))],
      ['a wrong secret', 'url-secret-wrong', withTarget('exotel', (target) => target.replace(/.\?/, '?'))],
      [
        'another agent with the same secret',
        'url-secret-wrong',
        withTarget('exotel', (target) => target.replace('/phone/', '/other/')),
      ],
      ['no call', 'call-id-missing', signedOtherwise('exotel', { fields: { CallFrom: '1' } })],
    ],
  };

  describe.each(phoneCarriers)('a request of %s', (carrier) => {
    it.each(bad[carrier])('is refused with %s, and the list of calls says %s', async (_, reason, make) => {
      const request = make();
      const answer = await ring(request);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ reason: 'call-refused' });
      const agentName = request.target.includes('/other/') ? 'other' : 'phone';
      expect((await callsOf(agentName))[0]).toMatchObject({
        carrier,
        agentName,
        result: 'refused',
        reason,
        sessionId: null,
      });
    });

    it('is refused when it is repeated', async () => {
      const request = requestOf(carrier);
      expect((await ring(request)).status).toBe(200);
      const repeated = await ring(request);
      expect(repeated.status).toBe(409);
      expect(await repeated.json()).toMatchObject({ reason: 'call-repeated' });
      const both = await Promise.all([1, 2].map(() => ring({ ...requestOf(carrier, 'phone', `twice-${carrier}`) })));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    });
  });
});

describe('a refused call', () => {
  it('is in the log of its agent, which can be searched, but its secrets are in no log', async () => {
    const request = requestOf('exotel');
    await ring({ ...request, target: request.target.replace(/.\?/, '?') });
    const read = (query: object) => service.client.getLogs({ params: { agentName: 'phone' }, query });
    const { logs } = await read({ query: 'call refused (exotel)', order: 'desc', limit: 1 });
    expect(logs).toMatchObject([
      { level: 'WARNING', sessionId: null, log: expect.stringContaining('The secret at the end of the URL') },
    ]);
    expect((await read({ query: 'call refused', level: 'ERROR' })).logs).toEqual([]);
    const all = (await read({ query: 'call refused', order: 'asc', limit: 1_000 })).logs.map(({ log }) => log);
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null && paged.length < all.length; ) {
      const page: Awaited<ReturnType<typeof read>> = await read({
        query: 'call refused',
        order: 'asc',
        limit: 5,
        ...(cursor === '' ? {} : { cursor }),
      });
      paged.push(...page.logs.map(({ log }) => log));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(all);
    const [, secret = ''] = /\/exotel\/([^/]+)$/.exec(urlOf('exotel')) ?? [];
    expect(secret).toHaveLength(43);
    const text = lines.join('') + all.join('');
    for (const hidden of [secret, ...Object.values(carrierCredentials)]) expect(text).not.toContain(hidden);
    expect(text).toContain('/v1/public/webhooks/test-org/phone/exotel/...');
  });

  it('for a wrong agent name is in the list of calls of every agent of the organization, and of no other', async () => {
    const { target, ...request } = requestOf('twilio');
    const answer = await ring({ ...request, target: target.replace('/phone/', '/phon/') });
    expect(answer.status).toBe(403);
    const refused = { agentName: 'phon', reason: 'agent-unknown', message: expect.stringContaining('phon') };
    for (const agentName of ['phone', 'other']) expect((await callsOf(agentName))[0]).toMatchObject(refused);
    const unknown = await ring({ ...request, target: target.replace('/test-org/', '/nobody/') });
    const withoutId = async (response: Response) => ({ ...((await response.json()) as object), requestId: '' });
    expect(unknown.status).toBe(403);
    expect(await withoutId(unknown)).toEqual(await withoutId(answer));
    const theirs = await sendRawRequest(service, 'GET', '/agents/phone/phone/calls', undefined, {
      key: neighbours.privateKey,
    });
    expect(theirs.status).toBe(404);
  });

  it('on the WebSocket is in the list of calls of its agent', async () => {
    await expect(dialCall(service, '/ws/telnyx/phone.test-org/wrong')).rejects.toThrow('refused with status 403');
    await vi.waitFor(async () =>
      expect((await callsOf())[0]).toMatchObject({
        carrier: 'telnyx',
        reason: 'token-invalid',
        message: expect.stringContaining('botcli cloud phone'),
      }),
    );
  });
});

describe('rotateAnswerUrls', () => {
  it('replaces the secrets in the URLs of one agent, and refuses the former ones at once', async () => {
    const former = urlOf('exotel');
    const answerAt = async (url: string) => {
      const request = createCarrierRequest.exotel({ url, fields: carrierFields.exotel(randomUUID()) });
      return (await ring(request)).status;
    };
    expect(await answerAt(former)).toBe(200);
    const { answerUrls } = await service.client.rotateAnswerUrls({ params: { agentName: 'phone' } });
    const { answerUrls: listed } = await service.client.listAnswerUrls({ params: { agentName: 'phone' } });
    expect(listed).toEqual(answerUrls);
    const changed = answerUrls.filter(({ carrier, url }) => url !== urlOf(carrier)).map(({ carrier }) => carrier);
    expect(changed).toEqual(['telnyx', 'exotel']);
    expect(await answerAt(former)).toBe(403);
    expect(await answerAt(answerUrls.find(({ carrier }) => carrier === 'exotel')?.url ?? '')).toBe(200);
    expect(await answerAt(urlOf('exotel', 'other'))).toBe(200);
  });
});

describe('the credential of a carrier', () => {
  it('must have the form of the carrier, and is never returned', async () => {
    for (const [carrier, credential] of [
      ['twilio', 'AC0123456789abcdef0123456789abcdef'],
      ['telnyx', 'KEY0123456789'],
      ['plivo', 'MA12345'],
    ] as const) {
      const refused = service.client.connectPhone({ params: { carrier }, body: { credential } });
      await expect(refused).rejects.toMatchObject({ reason: 'invalid-request' });
    }
    for (const carrier of ['exotel', 'nobody']) {
      const refused = service.client.connectPhone({ params: { carrier }, body: { credential: 'a'.repeat(32) } });
      await expect(refused).rejects.toMatchObject({ reason: 'carrier-not-found' });
    }
    const answer = await sendRawRequest(service, 'PUT', '/phone/plivo', { credential: carrierCredentials.plivo });
    expect(answer.text).not.toContain(carrierCredentials.plivo);
    const { connections } = await service.client.listPhoneConnections();
    expect(connections.map(({ carrier }) => carrier)).toContain('plivo');
    await service.client.disconnectPhone({ params: { carrier: 'plivo' } });
    await expect(service.client.disconnectPhone({ params: { carrier: 'plivo' } })).rejects.toMatchObject({
      reason: 'carrier-not-found',
    });
    expect((await ring(requestOf('plivo'))).status).toBe(403);
  });
});
