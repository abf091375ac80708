import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { waitUntilAgentReady } from '../packages/server/test/support/client.ts';
import { findFreePort } from '../packages/server/test/support/free-port.ts';
import { createCarrierCall, createTwilioCall, dialCall } from '../packages/server/test/support/phone-calls.ts';
import { useTestServer } from '../packages/server/test/support/use-test-server.ts';

const document = await readFile(fileURLToPath(new URL('../docs/telephony.md', import.meta.url)), 'utf8');
/** Tests the examples in docs/telephony.md: opens their WebSocket URLs as a telephone carrier does. */
const service = await useTestServer({ bots: { phone: { websocketAuth: 'none' }, guarded: {} } });
const folder = await mkdtemp(join(tmpdir(), 'webhook-'));
for (const agentName of ['phone', 'guarded']) await waitUntilAgentReady(service, agentName);
afterAll(() => rm(folder, { recursive: true }));

function blocks(language: string): string[] {
  return [...document.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
}

/**
 * Returns the path of the WebSocket URL in an example from docs/telephony.md. In the path, replaces the example's organization
 * `home` with the organization of the test service.
 */
function pathIn(text: string): string {
  const url = /wss:\/\/bots\.example\.com[^\s"<]*/.exec(text)?.[0] ?? '';
  return url.replace('wss://bots.example.com', '').replace('phone.home', `phone.${service.organization}`);
}

describe('docs/telephony.md', () => {
  it.each([
    ['twilio', 'xml', 0],
    ['telnyx', 'xml', 1],
    ['plivo', 'xml', 2],
    ['exotel', 'text', 0],
  ] as const)('contains an example that connects the carrier %s to the bot', async (carrier, language, index) => {
    const text = blocks(language)[index] ?? '';
    const parameters = [...text.matchAll(/<Parameter name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value?.replace('phone.home', `phone.${service.organization}`),
    ]);
    const words = createCarrierCall(carrier, '');
    const opening = words.opening.map((message) =>
      parameters.length > 0 && 'start' in message
        ? { ...message, start: { ...(message.start as object), customParameters: Object.fromEntries(parameters) } }
        : message,
    );
    const call = await dialCall(service, pathIn(text));
    call.say(...opening);
    expect(await call.hear(opening.length)).toEqual(opening);
    call.socket.close();
  });

  it('contains a webhook that connects calls to an agent that requires tokens', async () => {
    const [source = ''] = blocks('js');
    await writeFile(join(folder, 'webhook.mjs'), source.replaceAll('/public/phone/', '/public/guarded/'));
    const port = await findFreePort();
    const webhook = spawn(execPath, [join(folder, 'webhook.mjs')], {
      env: { SERVICE: service.url, PUBLIC_KEY: service.publicKey, PORT: String(port) },
      stdio: 'ignore',
    });
    onTestFinished(() => void webhook.kill());
    const answer = await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: 30_000, interval: 100 });
    const xml = await answer.text();
    const url = new URL(/<Stream url="([^"]*)"/.exec(xml)?.[1] ?? '');
    expect(url.pathname).toMatch(/^\/ws\/twilio\/guarded\.test-org\/./);
    const { opening } = createTwilioCall('nobody.nowhere');
    const call = await dialCall(service, url.pathname);
    call.say(...opening);
    expect(await call.hear(opening.length)).toEqual(opening);
    call.socket.close();
  });
});
