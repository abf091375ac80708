import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Scenario, ScenarioKind } from './invariants.ts';
import type { SessionRun } from './session-run.ts';

/**
 * Milliseconds that a session may take to end after its scenario. A session that takes longer counts as lost. On a busy machine, a
 * killed Docker engine takes up to a minute to start, and sessions wait for it.
 */
const timeoutMs = 180_000;
/**
 * Milliseconds after which the client stops a session whose bot was never called. Used only for bots that do not report their
 * session (`mute`).
 */
const muteMs = 6_000;
const pollMs = 40;

/** Runs one session from start to end, through any number of server crashes. */
export async function runScenario(
  run: SessionRun,
  kind: ScenarioKind,
  tag: string,
  milliseconds = 100 + run.random.below(1_100),
): Promise<Scenario> {
  const { scenario, answer } = await beginSession(run, kind, tag, milliseconds);
  if (scenario.sessionId === null) return scenario;
  if (kind === 'socket' && answer !== null) await talk(run, scenario, answer, milliseconds);
  else if (kind === 'stopped' || kind === 'socket') await useAndStop(run, scenario, milliseconds);
  else void delay(milliseconds).then(() => run.killer.events.emit('ending'));
  await waitForSessionEnd(run, scenario);
  return scenario;
}

/**
 * Runs one session after another in each of `count` clients, until `end` is called. Then `ended` resolves once the last sessions
 * have ended.
 */
export function keepRunningScenarios(
  run: SessionRun,
  kinds: readonly [ScenarioKind, ...ScenarioKind[]],
  count: number,
) {
  const scenarios: Scenario[] = [];
  let isOver = false;
  const client = async (_: unknown, number: number) => {
    for (let session = 0; !isOver; session += 1) {
      const kind = kinds[(number + session) % kinds.length] ?? kinds[0];
      scenarios.push(await runScenario(run, kind, `${number}-${session}`));
      await delay(run.random.below(60));
    }
  };
  const ended = Promise.all(Array.from({ length: count }, client));
  const end = () => {
    isOver = true;
  };
  return { scenarios, ended, end };
}

export async function beginSession(run: SessionRun, kind: ScenarioKind, tag: string, milliseconds: number) {
  const scenario: Scenario = {
    tag,
    kind,
    askedAt: Date.now(),
    answeredAt: null,
    sessionId: null,
    stopAskedAt: null,
    problems: [],
  };
  return { scenario, answer: await start(run, scenario, milliseconds) };
}

type StartResponse = { readonly sessionId: string; readonly wsUrl?: string; readonly token?: string };

async function start(run: SessionRun, scenario: Scenario, milliseconds: number): Promise<StartResponse | null> {
  const { service } = run;
  await service.ready();
  const server = service.current().number;
  scenario.askedAt = Date.now();
  run.killer.events.emit('asking');
  const answer = await service.call('POST', `/v1/public/${agentOf(scenario.kind)}/start`, service.publicKey, {
    ...(scenario.kind === 'socket' ? { transport: 'websocket' } : {}),
    body: { tag: scenario.tag, ...bodyOf(scenario.kind, milliseconds) },
  });
  if (answer === null) {
    await service.ready(server);
    const [found, ...more] = await run.sessionsWithTag(scenario.tag);
    if (more.length > 0) scenario.problems.push(`one start made ${more.length + 1} sessions`);
    scenario.sessionId = found ?? null;
    return null;
  }
  scenario.answeredAt = Date.now();
  if (answer.status !== 200) {
    scenario.problems.push(`the start was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
  const body = answer.body as StartResponse;
  scenario.sessionId = body.sessionId;
  return body;
}

function agentOf(kind: ScenarioKind): 'parrot' | 'worker' | 'mute' {
  if (kind === 'fails' || kind === 'crashes') return 'worker';
  return kind === 'mute-leaves' || kind === 'mute-fails' ? 'mute' : 'parrot';
}

function bodyOf(kind: ScenarioKind, milliseconds: number): object {
  switch (kind) {
    case 'stopped':
    case 'socket':
      return {};
    case 'leaves':
      return { exitAfterSeconds: milliseconds / 1000 };
    case 'mute-leaves':
      return { end: 'leave', milliseconds };
    case 'crashes':
      return { end: 'crash', milliseconds };
    case 'fails':
    case 'mute-fails':
      return { end: 'fail', milliseconds };
  }
}

/** Sends a request to the bot through the session proxy, and then stops the session. */
async function useAndStop(run: SessionRun, scenario: Scenario, milliseconds: number): Promise<void> {
  if (milliseconds < 300) return stopSession(run, scenario);
  await delay(milliseconds);
  if (scenario.kind === 'stopped') await checkBotResponds(run, scenario);
  return stopSession(run, scenario);
}

/** Whether the test has killed bots since the session was requested, so that its bot may be dead. */
const mayBeKilled = ({ botKills }: SessionRun, { askedAt }: Scenario) =>
  botKills.some(({ to }) => to >= askedAt - 1_000);

export async function checkBotResponds(run: SessionRun, scenario: Scenario): Promise<void> {
  const { service } = run;
  const path = `/v1/public/parrot/sessions/${scenario.sessionId}/hello`;
  const { status, body } = await service.request<{ sessionId?: string }>('GET', path, { key: service.publicKey });
  if ((status !== 200 || body.sessionId !== scenario.sessionId) && !mayBeKilled(run, scenario)) {
    scenario.problems.push(`its bot answered ${status} ${JSON.stringify(body)}`);
  }
}

export async function stopSession(run: SessionRun, scenario: Scenario): Promise<void> {
  const { service, killer } = run;
  scenario.stopAskedAt = Date.now();
  killer.events.emit('ending');
  const path = `/v1/agents/${agentOf(scenario.kind)}/sessions/${scenario.sessionId}`;
  const { status, body, tries } = await service.request('DELETE', path);
  // A retry gets 404 if the first attempt ended the session.
  if (status !== 200 && !(status === 404 && (tries > 1 || mayBeKilled(run, scenario)))) {
    scenario.problems.push(`its stopSession was answered ${status} ${JSON.stringify(body)}`);
  }
}

/**
 * Runs a WebSocket session. If the server restarts before the client has used its single-use token, the client tries again with
 * the same token.
 */
async function talk(run: SessionRun, scenario: Scenario, { wsUrl, token }: StartResponse, milliseconds: number) {
  for (;;) {
    await run.service.ready();
    const server = run.service.current().number;
    const socket = new WebSocket(`${wsUrl}?token=${token}`);
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const opened = new Promise<true>((resolve) => socket.once('open', () => resolve(true)));
    const isOpen = await Promise.race([opened, closed.then(() => false)]);
    if (isOpen) {
      await Promise.race([delay(milliseconds), closed]);
      run.killer.events.emit('ending');
      socket.close();
      await closed;
      return;
    }
    await run.service.ready(server);
    const [record] = await run.records([scenario.sessionId ?? '']);
    if (record?.state !== 'waiting') return;
  }
}

export async function waitForSessionEnd(run: SessionRun, scenario: Scenario): Promise<void> {
  const { sessionId, kind } = scenario;
  if (sessionId === null) return;
  const begun = Date.now();
  for (;;) {
    const [record] = await run.records([sessionId]);
    if (record === undefined) return void scenario.problems.push('its session is lost');
    if (record.state === 'ended') return;
    const waited = Date.now() - begun;
    if (waited > timeoutMs) return void scenario.problems.push(`it does not end (${record.state})`);
    const isNeverCalled = !run.readBotEvents().some((entry) => entry.session === sessionId);
    if (kind.startsWith('mute') && waited > muteMs && isNeverCalled && scenario.stopAskedAt === null) {
      await stopSession(run, scenario);
    }
    await delay(pollMs);
  }
}
