// Runs every test suite, two at a time. Prints the output of each suite when the suite ends, then a table of times and counts,
// and lists of failed tests, skipped tests, and tests that passed only when retried. A test on one of these lists is a defect.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = 'node_modules/.cache/suites';
const isRoot = process.geteuid() === 0;
const npmRun = (name) => ['npm', 'run', '--silent', name, '--'];
const suite = (name, options = {}) => ({ name, command: npmRun(name), ...options });
const asOrdinaryUser = (name, folders, wrapper = []) => ({
  name: `${name} as an ordinary user`,
  command: ['.ci/ordinary-user', ...wrapper, ...npmRun(name), ...folders],
  // Tests that need root privileges are skipped, each with a reason.
  skipsAllowed: true,
});

const crash = (options) =>
  suite('test:crash', {
    // Never retry a crash test: it looks for rare faults, so a retry would hide most of them.
    retries: 0,
    ...options,
  });

/** The suites in the order in which they start, two at a time. No two suites share a port or a file. */
const suites = [
  suite('test:pipecat'),
  suite('test'),
  suite('test:system'),
  suite('test:clients'),
  suite('test:docker'),
  crash({
    parameters: ['--exclude=packages/server/test/attack/**'],
    variables: { BOTHOST_TEST_KILLS: process.env.BOTHOST_TEST_KILLS ?? '20' },
  }),
  ...(isRoot
    ? [
        // If this script runs as root, also run these tests as an ordinary user, because their results depend on the account.
        // The suite `test` covers the embedded PostgreSQL, so this second run uses an external PostgreSQL.
        asOrdinaryUser('test', ['packages/cli/src', 'packages/runtime', 'packages/server'], ['.ci/external-postgres']),
        asOrdinaryUser('test:system', ['packages/runtime', 'packages/server/test/faults']),
      ]
    : []),
  suite('test:registry'),
  suite('test:browser'),
];

/** Runs alone on the machine, after the others, because it prints times. Long enough for every kind of attack. */
const attack = crash({
  title: 'test:crash, attack',
  parameters: ['packages/server/test/attack'],
  variables: { BOTHOST_TEST_ATTACK_SECONDS: process.env.BOTHOST_TEST_ATTACK_SECONDS ?? '120' },
});

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const pid of running) process.kill(-pid, signal);
    process.exitCode = 1;
  });
}

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
const results = [];
await Promise.all([runNext(), runNext()]);
if (process.exitCode !== 1) results.push(await run(attack));
const summary = describe(results);
writeFileSync(join(directory, 'summary.txt'), summary);
console.log(summary);
if (results.some(({ failed }) => failed > 0)) process.exitCode = 1;

async function runNext() {
  for (let next = suites.shift(); next !== undefined && process.exitCode !== 1; next = suites.shift()) {
    results.push(await run(next));
  }
}

async function run({ name: script, title: name = script, command, ...options }) {
  const { retries = 1, parameters = [], variables = {}, skipsAllowed = false } = options;
  const file = (extension) => join(directory, `${name.replace(/\W+/g, '-')}.${extension}`);
  const started = performance.now();
  const log = openSync(file('log'), 'w');
  const reporting = [`--retry=${retries}`, '--reporter=default', '--reporter=./.ci/suite-report.mjs'];
  // Prevent the suites from building. `npm ci` has built the programs, and a rebuild would replace programs that another suite
  // is running.
  const env = { ...process.env, ...variables, BOTHOST_TEST_BUILT: 'true', SUITE_REPORT: file('json') };
  const child = spawn(command[0], [...command.slice(1), ...parameters, ...reporting], {
    stdio: ['ignore', log, log],
    detached: true,
    env,
  });
  running.add(child.pid);
  const status = await new Promise((resolve) =>
    child.on('error', () => resolve(127)).on('exit', (code) => resolve(code ?? 1)),
  );
  running.delete(child.pid);
  closeSync(log);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`== ${name}\n${readFileSync(file('log'), 'utf8')}== ${name}: ${seconds} s`);
  const { passed, failed, skipped, retried } = readReport(file('json'), status);
  const faulty = skipped.filter(
    ({ reason = '' }) => reason === '' || !(skipsAllowed || reason.startsWith('not applicable')),
  );
  const failures = [
    ...failed,
    ...faulty.map(({ title, reason }) => `${title}: skipped, ${reason ?? 'without a reason'}`),
  ];
  if (failures.length === 0 && status !== 0) failures.push(`no test failed, exit status ${status}`);
  return { name, seconds, passed, failed: failures.length, skipped, failures, retried };
}

/** A suite that wrote no report has failed. */
function readReport(path, status) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failed: [`no report, exit status ${status}`], skipped: [], retried: [] };
  }
}

function describe(results) {
  const sum = (field) => results.reduce((total, result) => total + result[field], 0);
  const rows = results.map(({ name, seconds, passed, failed, skipped }) =>
    [
      name.padEnd(32),
      `${seconds} s`.padStart(7),
      `${passed} passed`.padStart(12),
      `${failed} failed`,
      `${skipped.length} skipped`,
    ].join('  '),
  );
  const list = (field) => results.flatMap((result) => result[field].map((line) => `  ${result.name}: ${line}`));
  const failures = list('failures');
  const retried = list('retried');
  return [
    ...rows,
    ...(failures.length === 0 ? [] : ['Failed:', ...failures]),
    ...(retried.length === 0 ? ['No test needed a retry.'] : ['Passed only when retried, find the cause:', ...retried]),
    ...describeSkips(results.flatMap(({ skipped }) => skipped)),
    `${sum('passed')} passed, ${sum('failed')} failed`,
  ].join('\n');
}

/** Lists the reasons of skipped tests, with the number of tests that each reason skipped. */
function describeSkips(skipped) {
  const counts = new Map();
  for (const { reason = 'without a reason' } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const lines = [...counts].map(([reason, count]) => `  ${count}: ${reason}`);
  return [`${skipped.length} skipped${lines.length === 0 ? '' : ':'}`, ...lines];
}
