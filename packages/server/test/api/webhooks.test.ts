import { readFileSync } from 'node:fs';
import { type WebhookEvent, webhookEvents } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  evaluateJavaScriptInBot,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { createVersionedBot, uploadAndBuildProject, waitForSettledDeployment } from '../support/deploys.ts';
import { useTestServer } from '../support/use-test-server.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const receiver = await startWebhookReceiver();
afterAll(receiver.close);
const service = await useTestServer({
  bots: { caller: { maxAgents: 1 } },
  environment: { BOTHOST_WEBHOOK_HOSTS: receiver.origin },
});
const { client } = service;

/** Returns the events of an agent in the order in which they arrived. */
const eventsOf = (agentName: string) =>
  receiver.received.map(({ payload }) => payload).filter(({ data }) => data['service'] === agentName);
const namesOf = (agentName: string) => eventsOf(agentName).map((payload) => payload.event_type);
const findData = (agentName: string, event: WebhookEvent) =>
  eventsOf(agentName).find((payload) => payload.event_type === event)?.data;

beforeAll(async () => {
  const events = Object.keys(webhookEvents) as WebhookEvent[];
  const { secret } = await client.createWebhook({ body: { url: `${receiver.origin}/all`, events } });
  receiver.secrets.set('/all', secret);
});

describe('a webhook for all events', () => {
  it('gets the events of sessions in order, and one when a session is refused at the limit', async () => {
    const failed = await startAgentSession(service, 'caller');
    await evaluateJavaScriptInBot(service, 'caller', failed, 'true');
    const refused = async () => startAgentSession(service, 'caller');
    await expect(refused()).rejects.toMatchObject({ reason: 'at-capacity' });
    await expect(refused()).rejects.toMatchObject({ reason: 'at-capacity' });
    await evaluateJavaScriptInBot(service, 'caller', failed, 'state.end(500, "")');
    const record = await waitForSessionEnd(service, 'caller', failed);
    await expect.poll(() => findData('caller', 'session.failed')).toBeDefined();
    await waitUntilAgentIdle(service, 'caller');
    const stopped = await startAgentSession(service, 'caller');
    await evaluateJavaScriptInBot(service, 'caller', stopped, 'true');
    await stopAgentSession(service, 'caller', stopped);
    await waitForSessionEnd(service, 'caller', stopped);
    const ofSession = (id: string) =>
      eventsOf('caller')
        .filter(({ data }) => data['session_id'] === id)
        .map((payload) => payload.event_type);
    await expect.poll(() => ofSession(stopped)).toEqual(['session.started', 'session.ended']);
    expect(ofSession(failed)).toEqual(['session.started', 'session.ended', 'session.failed']);
    expect(namesOf('caller').filter((name) => name === 'agent.capacity_reached')).toHaveLength(1);
    expect(findData('caller', 'agent.capacity_reached')).toEqual({
      service: 'caller',
      region: 'us-west',
      max_agents: 1,
    });
    expect(findData('caller', 'session.started')).toEqual({
      service: 'caller',
      region: 'us-west',
      session_id: failed,
      deployment_id: record.deploymentId,
      transport: 'none',
      cold_start: expect.any(Boolean),
    });
    expect(findData('caller', 'session.failed')).toEqual({
      service: 'caller',
      region: 'us-west',
      session_id: failed,
      deployment_id: record.deploymentId,
      transport: 'none',
      completion_status: '500',
      end_state: 'agent_error',
      started_at: expect.stringMatching(/Z$/),
      ended_at: record.endedAt,
      duration_seconds: expect.any(Number),
    });
    expect(receiver.rejected).toEqual([]);
  });

  it('gets the events of deployments that become ready or fail', async () => {
    const good = await uploadAndBuildProject(service, createVersionedBot('good'));
    await client.createAgent({ body: { serviceName: 'deployed', buildId: good.id } });
    const { activeDeploymentId } = await waitForSettledDeployment(service, 'deployed');
    await expect
      .poll(() => findData('deployed', 'deployment.ready'))
      .toEqual({
        service: 'deployed',
        region: 'us-west',
        deployment_id: activeDeploymentId,
      });
    const bad = await uploadAndBuildProject(service, createVersionedBot('bad', 'process.exit(3);'));
    await client.updateAgent({ params: { agentName: 'deployed' }, body: { buildId: bad.id } });
    await waitForSettledDeployment(service, 'deployed');
    await expect.poll(() => findData('deployed', 'deployment.failed')).toMatchObject({ error_code: 'PCC_BOT_EXITED' });
    expect(namesOf('deployed')).toEqual(['deployment.ready', 'deployment.failed']);
  });
});

it('the example in docs/webhooks.md has the fields of an event', async () => {
  const document = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
  const example = JSON.parse(
    /```json\n([\s\S]*?)```/.exec(document)?.[1] ?? '',
  ) as (typeof receiver.received)[0]['payload'];
  const [sent] = eventsOf('caller').filter((payload) => payload.event_type === 'session.ended');
  expect(Object.keys(example)).toEqual(Object.keys(sent ?? {}));
  expect(Object.keys(example.data).sort()).toEqual(Object.keys(sent?.data ?? {}).sort());
  const [listed = ''] = document.split('## Receive events');
  const table = [...listed.matchAll(/^\| `([a-z_.]+)` \| .* \| (.*) \|$/gm)].map(([, event]) => event);
  expect(table).toEqual([...Object.keys(webhookEvents), 'webhook.test']);
});
