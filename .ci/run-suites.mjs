// Runs every test suite, two at a time, and then the files of failed tests again. Prints the output of each suite when the suite
// ends, then a table of times and counts, and lists of failed tests, skipped tests, and tests that passed only when retried. A test
// on one of these lists is a defect.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { directory, npmRun, runSuite } from './suite.mjs';

const isRoot = process.geteuid() === 0;
const clone = mkdtempSync(join(tmpdir(), 'bothost-clone-'));
const suite = (name, options = {}) => ({ name, command: npmRun(name), ...options });
const asOrdinaryUser = (name, folders, { wrapper = [], variables = {} } = {}) => ({
  name: `${name} as an ordinary user`,
  command: ['.ci/ordinary-user', clone, ...wrapper, ...npmRun(name)],
  parameters: folders,
  variables,
  // Tests that need root privileges are skipped, each with a reason.
  skipsAllowed: true,
});

const crash = (options) =>
  suite('test:crash', {
    // A crash test looks for rare faults, so a retry would hide most of them.
    neverRetried: true,
    ...options,
  });

/**
 * No two suites that own the network run at the same time: Chromium cancels its requests when a network interface appears or
 * vanishes, as with each container and pod.
 */
const ownsNetwork = true;

const clients = { BOTHOST_TEST_CLIENTS: process.env.BOTHOST_TEST_CLIENTS ?? 'some' };

/**
 * The suites in the order in which they start, two at a time: the longest first, so that no processor is idle at the end. No two
 * suites share a port or a file. `npm run test:long` runs what they leave out.
 */
const suites = [
  suite('test:pipecat', {
    variables: { ...clients, BOTHOST_TEST_VENDORS: process.env.BOTHOST_TEST_VENDORS ?? 'some' },
  }),
  suite('test:browser', { ownsNetwork }),
  suite('test:system'),
  suite('test'),
  suite('test:docker', { ownsNetwork }),
  crash({
    variables: { BOTHOST_TEST_ATTACK_SECONDS: '0', BOTHOST_TEST_KILLS: process.env.BOTHOST_TEST_KILLS ?? '12' },
  }),
  suite('test:clients', { ownsNetwork, variables: clients }),
  // If this script runs as root, also run the tests on a Kubernetes cluster, which needs root, and as an ordinary user those whose
  // results depend on the account or the database. The suite `test` covers the embedded PostgreSQL, so its second run uses an
  // external PostgreSQL.
  ...(isRoot
    ? [
        suite('test:kubernetes', { ownsNetwork, parameters: ['packages/server/test/kubernetes'] }),
        asOrdinaryUser('test:system', ['packages/runtime', 'packages/server/test/faults']),
        asOrdinaryUser('test', ['packages/cli/src', 'packages/runtime', 'packages/server'], {
          wrapper: ['.ci/external-postgres'],
          variables: { BOTHOST_TEST_ONLY_ACCOUNT: 'true' },
        }),
      ]
    : []),
  suite('test:registry'),
];

/** Runs alone on the machine, after the others, because it prints times and takes every processor. */
const attack = crash({
  name: 'test:crash, attack',
  parameters: ['packages/server/test/attack'],
  variables: { BOTHOST_TEST_ATTACK_SECONDS: process.env.BOTHOST_TEST_ATTACK_SECONDS ?? '30' },
});

const readIdleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);
const start = { atMs: performance.now(), idleMs: readIdleMs() };
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const results = [];
const running = [];
await Promise.all([runNext(), runNext()]);
for (const result of results) await retry(result);
rmSync(clone, { recursive: true, force: true });
if (process.exitCode !== 1) results.push(await runSuite(attack));
const summary = describe(results);
writeFileSync(join(directory, 'summary.txt'), summary);
console.log(summary);
if (results.some(({ failures }) => failures.length > 0)) process.exitCode = 1;

async function runNext() {
  while (process.exitCode !== 1) {
    const at = suites.findIndex((next) => !(next.ownsNetwork && running.some((other) => other.ownsNetwork)));
    // The other call runs the remaining suites, one after the other.
    if (at === -1) return;
    const [next] = suites.splice(at, 1);
    running.push(next);
    results.push({ suite: next, ...(await runSuite(next)) });
    running.splice(running.indexOf(next), 1);
  }
}

/**
 * Runs the files of failed tests again. Whole files, because the tests of a file share a service, in which a failed test leaves what
 * its repetition does not expect; and alone on the machine, so that what fails twice is no matter of load. Many failures are not
 * retried: they have one cause.
 */
async function retry(result) {
  const files = [...new Set(result.failures.map(({ file }) => file))];
  const isRetried = files.length > 0 && files.length <= 5 && !files.includes(null) && !result.suite.neverRetried;
  if (!isRetried || process.exitCode === 1) return;
  const again = await runSuite({ ...result.suite, name: `${result.name}, again`, parameters: files });
  result.seconds += again.seconds;
  // A run that was killed, or that wrote no report, shows nothing.
  if (again.failures.some(({ file }) => file === null)) return;
  const titles = new Set(again.failures.map(({ title }) => title));
  result.retried = result.failures.filter(({ title }) => !titles.has(title));
  result.failures = again.failures;
  result.passed += result.retried.length;
}

function describe(results) {
  const rows = results.map(({ name, seconds, passed, failures, skipped }) =>
    [
      name.padEnd(32),
      `${seconds} s`.padStart(7),
      `${passed} passed`.padStart(12),
      `${failures.length} failed`,
      `${skipped.length} skipped`,
    ].join('  '),
  );
  const list = (field) =>
    results.flatMap(({ name, [field]: tests = [] }) =>
      tests.map(({ title, message }) => `  ${name}: ${title}: ${message}`),
    );
  const failures = list('failures');
  const retried = list('retried');
  const idleShare = (readIdleMs() - start.idleMs) / ((performance.now() - start.atMs) * cpus().length);
  return [
    ...rows,
    `The processors were idle for ${Math.round(idleShare * 100)} % of the time.`,
    ...(failures.length === 0 ? [] : ['Failed:', ...failures]),
    ...(retried.length === 0 ? ['No test needed a retry.'] : ['Passed only when retried, find the cause:', ...retried]),
    ...describeSkips(results.flatMap(({ skipped }) => skipped)),
    `${results.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failures.length} failed`,
  ].join('\n');
}

/** Lists the reasons of skipped tests, with the number of tests that each reason skipped. */
function describeSkips(skipped) {
  const counts = new Map();
  for (const { reason = 'without a reason' } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const lines = [...counts].map(([reason, count]) => `  ${count}: ${reason}`);
  return [`${skipped.length} skipped${lines.length === 0 ? '' : ':'}`, ...lines];
}
