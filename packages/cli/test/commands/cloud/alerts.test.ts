import { expect, test } from 'vitest';
import { alert } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const open = { ...alert, kind: 'failed_deployment' as const, threshold: null, windowMinutes: null };
const incident = { id: alert.id, openedAt: alert.createdAt, value: 1 };
const alerts = useCommands('cloud alerts', () =>
  startServiceWith({
    listAlerts: () => ({ alerts: [alert, { ...open, incident }] }),
    createAlert: () => alert,
    deleteAlert: () => alert,
  }),
);

test('create sends the rule, with the window in minutes', async () => {
  await alerts.run('create parrot --kind failed_sessions --threshold 3 --window 1h', {
    stdout: 'Threshold\t3 sessions in 15 min',
    requests: [{ params: { agentName: 'parrot' }, body: { kind: 'failed_sessions', threshold: 3, windowMinutes: 60 } }],
  });
  await alerts.run('create parrot --kind failed_deployment --json', {
    wholeJson: alert,
    requests: [{ body: { kind: 'failed_deployment' } }],
  });
});

alerts.table([
  ['create parrot', { status: 2, stderr: '--kind is missing' }],
  ['create parrot --kind capacity --window 5m', { status: 2, stderr: '--window does not apply to capacity.' }],
  ['create parrot --kind failed_sessions --window 90s', { status: 2, stderr: '--window takes whole minutes.' }],
  ['create parrot --kind failed_deployment --threshold 2', { status: 2, stderr: '--threshold does not apply' }],
]);

test('list shows which alerts have an open incident', async () => {
  const rows = (await alerts.run('list')).stdout.split('\n').map((row) => row.split('\t'));
  expect(rows.slice(1, 3).map((row) => row.slice(0, 5))).toEqual([
    ['parrot', 'failed_sessions', '3 sessions in 15 min', 'OK', ''],
    ['parrot', 'failed_deployment', '', 'Incident', alert.createdAt],
  ]);
});

test('delete names the alert', async () => {
  await alerts.run(`delete parrot ${alert.id} --json`, {
    wholeJson: alert,
    requests: [{ params: { agentName: 'parrot', alertId: alert.id } }],
  });
});
