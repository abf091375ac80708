import type { AuditEntry, AuditVerification } from '@bothost/contract';
import { beforeEach, expect, test } from 'vitest';
import { organization } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const entry: AuditEntry = {
  sequence: 1,
  at: '2026-11-20T16:00:00.000Z',
  keyId: '01930000-0000-7000-8000-000000000004',
  keyName: 'ci\u009b2J',
  userId: null,
  userEmail: null,
  address: '127.0.0.1',
  organizationId: organization.id,
  region: 'us-west',
  action: 'secrets.set',
  object: 'voice',
  keys: ['A', 'B'],
  revisionBefore: 1,
  revisionAfter: 2,
  result: 'done',
  count: 1,
  requestId: 'request-1',
  previousHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
};
const refused: AuditEntry = {
  ...entry,
  sequence: 2,
  keyId: null,
  keyName: null,
  address: null,
  region: null,
  action: 'audit.left-out',
  object: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
  result: 'too-many-refusals',
  count: 7,
  requestId: null,
};
const whole: AuditVerification = {
  ok: true,
  entries: 2,
  firstSequence: 1,
  lastSequence: 2,
  lastHash: 'a'.repeat(64),
  removedThrough: null,
  brokenAt: null,
};
let verification: AuditVerification;
const commands = useCommands('cloud audit', () =>
  startServiceWith({
    listAuditEntries: ({ query }) =>
      query['cursor'] === undefined ? { entries: [entry], nextCursor: '1' } : { entries: [refused], nextCursor: null },
    verifyAudit: () => verification,
  }),
);
const audit = commands.run;

beforeEach(() => {
  verification = whole;
});

test('list sends the filters, and prints one row per entry and the option for the next page', async () => {
  const { status, stdout, stderr } = await audit(
    'list --since 1h --until 1m -a secrets.set --object voice --result done -n 5',
  );
  expect(commands.service.requests.at(-1)?.query).toEqual({
    since: '2026-11-20T16:00:00.000Z',
    until: '2026-11-20T16:59:00.000Z',
    action: 'secrets.set',
    object: 'voice',
    result: 'done',
    limit: '5',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: 'Next page: --cursor 1\n' });
  const cells = ['1', entry.at, entry.keyId, '127.0.0.1', 'secrets.set', 'voice', 'A, B', '1 > 2', 'done', '1'];
  const header = 'No.\tTime\tWho\tFrom\tAction\tObject\tKeys\tRevision\tResult\tRequests\n';
  expect(stdout).toBe(`${header}${cells.join('\t')}\n`);
  await audit('list --json', { wholeJson: { entries: [entry], nextCursor: '1' } });
  await audit('list --cursor 1', {
    wholeStdout: `${header}${['2', entry.at, '', '', 'audit.left-out', '', '', '', 'too-many-refusals', '7'].join('\t')}\n`,
  });
});

test('list removes escape sequences from the names of actors on a terminal', async () => {
  await audit('list', { stdout: 'ci', hides: '\u009b' }, { terminal: true, columns: 200 });
});

test('verify prints the last hash, or exits with 1 and prints the number of the first changed entry', async () => {
  await audit('verify', { stdout: `Hash of the last\t${'a'.repeat(64)}\n` });
  await audit('verify --json', { wholeJson: whole });
  verification = { ...whole, ok: false, entries: 1, lastSequence: 1, brokenAt: 2 };
  await audit('verify', { status: 1, wholeStdout: '', stderr: 'Entry 2 of' });
  await audit('verify --json', { status: 1, json: { error: { reason: 'audit-broken', details: { brokenAt: 2 } } } });
});

test.each(['', ' --json', ' --output plain', ' --output rich'])(
  'export with the options "%s" prints the entries of all pages as JSON lines',
  async (mode) => {
    const { status, stdout } = await audit(`export --since 1h${mode}`, null, { terminal: mode.endsWith('rich') });
    const lines = stdout.split('\n');
    expect(status).toBe(0);
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual([entry, refused]);
    expect(commands.service.requests.map(({ query }) => query)).toEqual([
      { since: '2026-11-20T16:00:00.000Z', order: 'asc', limit: '1000' },
      { since: '2026-11-20T16:00:00.000Z', order: 'asc', limit: '1000', cursor: '1' },
    ]);
    if (mode !== ' --json') expect(stdout).not.toContain('\u009b');
  },
);
