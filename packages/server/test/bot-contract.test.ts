import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  instanceStartTimeoutSeconds,
  maxProxyBodyBytes,
  maxProxyReadinessWaitSeconds,
  maxSessionStartWaitSeconds,
  maxStartBodyBytes,
} from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseSessionPath } from '../src/http/session-proxy/session-path.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitUntilAgentIdle,
} from './support/client.ts';
import { useTestServer } from './support/use-test-server.ts';

const contract = readFileSync(new URL('../../../docs/bot-contract.md', import.meta.url), 'utf8');

function sectionOf(title: string): string {
  return contract.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
}

/** Returns the cells of the first table of a section, without its header row and backticks. */
function tableOf(title: string): readonly (readonly string[])[] {
  const rows = sectionOf(title).match(/^\|.*\|$/gm) ?? [];
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

/** Headers set by HTTP itself or by the clients of this test. */
const ofHttp =
  /^(host|connection|content-(type|length)|upgrade|sec-websocket-.*|transfer-encoding|accept.*|sec-fetch-.*|user-agent)$/;
const headersOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.keys(headers)
    .filter((name) => !ofHttp.test(name))
    .sort();

const service = await useTestServer({ bots: { contract: { maxAgents: 2 } } });

describe('docs/bot-contract.md', () => {
  it('names exactly the environment variables that the service sets for a bot', async () => {
    const sessionId = await startAgentSession(service, 'contract');
    const names = await evaluateJavaScriptInBot<string[]>(service, 'contract', sessionId, 'Object.keys(process.env)');
    await stopAgentSession(service, 'contract', sessionId);
    await waitUntilAgentIdle(service, 'contract');
    const rows = tableOf('Environment');
    const namesFor = (kind: string) => rows.flatMap(([name = '', of]) => (of === kind ? [name] : []));
    const optional = namesFor('if the service has it');
    expect(optional).toEqual(['LANG', 'TZ']);
    const documented = [...namesFor('all'), ...namesFor('all, unless forked'), ...namesFor('Node')];
    expect(names.filter((name) => !optional.includes(name)).sort()).toEqual(documented.sort());
  });

  it('names exactly the headers of each request that the service sends to a bot', async () => {
    const documented = (route: string) =>
      tableOf('Headers').flatMap(([name = '', on = '']) => (on.includes(route) ? [name] : []));
    await service.client.updateAgent({
      params: { agentName: 'contract' },
      body: { conversation: { level: 'transcript', redact: ['card'] } },
    });

    const sessionId = await startAgentSession(service, 'contract');
    const sent = { 'x-bot-control-token': 'forged', 'x-session-id': 'forged' };
    const url = sessionUrl(service, 'contract', sessionId, '/echo');
    const response = await fetch(url, createBearerTokenHeaders(service.publicKey, sent));
    const echoed = (await response.json()) as { headers: Record<string, string> };
    const [started] = await evaluateJavaScriptInBot<{ headers: Record<string, string> }[]>(
      service,
      'contract',
      sessionId,
      'state.starts',
    );
    await stopAgentSession(service, 'contract', sessionId);
    expect(headersOf(started?.headers ?? {})).toEqual(documented('/bot').sort());
    expect(headersOf(echoed.headers)).toEqual(documented('client requests').sort());
    expect(echoed.headers['x-session-id']).toBe(sessionId);

    const { sessionId: socketId, url: socketUrl } = await startWebSocketSession(service, 'contract');
    const socket = new WebSocket(socketUrl);
    await once(socket, 'open');
    const [upgrade] = await evaluateJavaScriptInBot<{ headers: Record<string, string> }[]>(
      service,
      'contract',
      socketId,
      'state.upgrades',
    );
    socket.close();
    await waitUntilAgentIdle(service, 'contract');
    expect(headersOf(upgrade?.headers ?? {})).toEqual(documented('/ws').sort());
  });

  it('names the paths that the session proxy reserves', () => {
    const reserved = /never forwards[^.]* to ([\s\S]*?)\.\n/.exec(sectionOf('Routes'))?.[1] ?? '';
    const paths = [...reserved.matchAll(/`(\/[^`]*)`/g)].map(([, path = '']) => path.replace('...', 'any'));
    expect(paths).toHaveLength(7);
    const isReserved = (path: string) => parseSessionPath(`/v1/public/a/sessions/b${path}`)?.reserved;
    expect(paths.map(isReserved)).toEqual(paths.map(() => true));
    const others = tableOf('Routes').flatMap(([route = '', , token]) => (token === 'yes' ? [] : [route.split(' ')[1]]));
    const open = others.filter((path = '') => !paths.includes(path));
    expect(open).toEqual(['/api/offer', '/api/offer', '/files']);
    expect(open.map((path = '') => isReserved(path))).toEqual([false, false, false]);
  });

  it('states the limits of the service', () => {
    const oneLine = (title: string) => sectionOf(title).replaceAll('\n', ' ');
    expect(oneLine('Readiness')).toContain(`not ready ${instanceStartTimeoutSeconds} s after`);
    expect(oneLine('Readiness')).toContain(`${maxSessionStartWaitSeconds} s after the request`);
    expect(oneLine('Start')).toContain(`for ${instanceStartTimeoutSeconds} s is stopped`);
    expect(oneLine('Start')).toContain(`at most ${maxStartBodyBytes.default / 1_048_576} MiB`);
    expect(oneLine('WebSocket sessions')).toContain(`at most ${maxStartBodyBytes.websocket / 1024} KiB`);
    expect(oneLine('Requests of clients')).toContain(`up to ${maxProxyReadinessWaitSeconds} s`);
    expect(oneLine('Requests of clients')).toContain(`at most ${maxProxyBodyBytes / 1_048_576} MiB`);
  });
});
