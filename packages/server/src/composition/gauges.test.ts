import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { addGauges } from './gauges.ts';

const rows = await useTestRows();

it('agents of different organizations with the same name have separate values', async () => {
  const registry = new Registry();
  addGauges(registry, { db: rows.db, runtime: { startMethods: () => new Map(), isConnected: () => true } });
  for (const [name, warm] of [
    ['left', 1],
    ['right', 2],
  ] as const) {
    const agent = await rows.deployedAgent({ organizationId: await rows.organization(name) });
    for (let count = 0; count < warm; count++) await rows.instance(agent);
    await rows.instance(agent, { session_id: await rows.session(agent) });
  }
  const text = await registry.metrics();
  expect(text).toContain('bothost_pool_depth{organization="left",agent="parrot"} 1');
  expect(text).toContain('bothost_pool_depth{organization="right",agent="parrot"} 2');
  expect(text).toContain('bothost_agent_sessions{organization="left",agent="parrot"} 1');
});
