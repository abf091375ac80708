import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { waitForSessionEnd } from '../support/client.ts';
import { createTwilioCall, dialCall } from '../support/phone-calls.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));

let root: string;
let service: TestServer;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bothost-bot-'));
  await chmod(root, 0o711);
  for (const part of ['package.json', 'dist/main.js']) await cp(join(parrot, part), join(root, 'phone-parrot', part));
  await writeFile(join(root, 'phone-parrot/deploy.toml'), 'agent_name = "phone-parrot"\nwebsocket_auth = "none"\n');
  service = await startTestServer({ agents: [join(root, 'phone-parrot')] });
});
afterAll(async () => {
  await service.close();
  await rm(root, { recursive: true });
});

/** Returns 20 ms of a loud hum or of silence, in mu-law. */
const hum = Buffer.from(Array.from({ length: 160 }, (_, index) => (index % 16 < 8 ? 0x90 : 0x10)));
const silence = Buffer.alloc(160, 0xff);

type CarrierMessage = {
  readonly event: string;
  readonly streamSid: string;
  readonly media?: { readonly payload: string };
};

it('the sample agent parrot sends back the audio of a Twilio call', async () => {
  const words = createTwilioCall(`phone-parrot.${service.organization}`);
  await vi.waitFor(
    async () => {
      const agent = await service.client.getAgent({ params: { agentName: 'phone-parrot' } });
      expect(agent.ready).toBe(true);
    },
    { timeout: 40_000 },
  );
  const call = await dialCall(service, '/ws/twilio');
  call.say(...words.opening);

  const next = async () => (await call.hear(1))[0] as CarrierMessage;
  const speech = async () => {
    const pieces: Buffer[] = [];
    for (let message = await next(); message.event !== 'mark'; message = await next()) {
      expect(message).toMatchObject({ event: 'media', streamSid: (words.stop as CarrierMessage).streamSid });
      pieces.push(Buffer.from(message.media?.payload ?? '', 'base64'));
    }
    return Buffer.concat(pieces);
  };
  await speech();

  const frame = (payload: Buffer) => ({
    event: 'media',
    streamSid: (words.stop as CarrierMessage).streamSid,
    media: { track: 'inbound', payload: payload.toString('base64') },
  });
  call.say(...Array(50).fill(frame(hum)), ...Array(50).fill(frame(silence)));
  const echo = await speech();
  // The echo is one second of hum, followed by a short silence.
  expect(echo.indexOf(Buffer.concat(Array(49).fill(hum)))).toBeGreaterThanOrEqual(0);
  expect(echo.length).toBeLessThan(16_000);

  const { sessions } = await service.client.getSessions({ params: { agentName: 'phone-parrot' } });
  call.say(words.stop);
  expect((await call.closed)[0]).toBe(1000);
  const record = await waitForSessionEnd(service, 'phone-parrot', sessions[0]?.sessionId ?? '');
  expect(record.completionStatus).toBe('WS_CONNECTION_CLOSED');
});
