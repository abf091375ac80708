// Runs what .ci/run leaves out or shortens, one suite after the other: `npm run test:long`, or some of it by name:
// `npm run test:long -- attack kills`. After each suite, writes date, commit and result to its row in docs/testing.md.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { directory, npmRun, runSuite } from './suite.mjs';

const document = 'docs/testing.md';
const suites = [
  {
    name: 'attack',
    command: npmRun('test:crash'),
    parameters: ['packages/server/test/attack'],
  },
  {
    name: 'kills',
    command: npmRun('test:crash'),
    variables: { BOTHOST_TEST_ATTACK_SECONDS: '0' },
  },
  { name: 'pipecat-cli', command: npmRun('test:pipecat'), parameters: ['test/existing-clients'] },
  { name: 'web-clients', command: npmRun('test:clients') },
  {
    name: 'docker',
    command: npmRun('test:docker'),
    parameters: ['packages/server/test/docker/kills', 'packages/server/test/docker/engine-faults'],
    variables: { BOTHOST_TEST_KILLS: '50' },
  },
  {
    name: 'external-database',
    command: ['.ci/external-postgres', ...npmRun('test')],
    parameters: ['packages/server/test/api'],
  },
  { name: 'kubernetes', command: npmRun('test:kubernetes'), variables: { BOTHOST_TEST_KILLS: '30' } },
  { name: 'vendors', command: npmRun('test:pipecat'), parameters: ['packages/cli/test/pipecat/library'] },
  {
    name: 'pipecat-versions',
    command: npmRun('test:pipecat'),
    parameters: ['test/conversation.pipecat'],
    variables: { BOTHOST_TEST_PIPECAT_VERSIONS: '1.9.0,1.10.0,1.11.0,1.12.0,1.13.0,1.14.0' },
  },
  {
    name: 'pictures',
    command: npmRun('test:browser'),
    variables: { BOTHOST_TEST_PICTURES: `${process.cwd()}/node_modules/.cache/pictures` },
  },
];

const git = (...parameters) => execFileSync('git', parameters, { encoding: 'utf8' }).trim();
const names = process.argv.slice(2);
const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) throw new Error(`Unknown suite: ${unknown}. Known are ${suites.map(({ name }) => name)}.`);

mkdirSync(directory, { recursive: true });
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
const isChanged = git('status', '--porcelain', '--', '.', `:!${document}`) !== '';
const commit = `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ', changed' : ''}`;
for (const suite of suites.filter(({ name }) => names.length === 0 || names.includes(name))) {
  if (process.exitCode !== undefined) break;
  const { passed, failures, seconds } = await runSuite(suite);
  for (const { title, message } of failures) console.log(`Failed: ${title}: ${message}`);
  writeRow(suite.name, [
    new Date().toISOString().slice(0, 10),
    commit,
    `${passed} passed, ${failures.length} failed`,
    `${Math.ceil(seconds / 60)} min`,
  ]);
  if (failures.length > 0) process.exitCode = 1;
}

/** Replaces the last cells in the row of a suite. */
function writeRow(name, cells) {
  const text = readFileSync(document, 'utf8');
  const row = new RegExp(`^(\\| ${name} \\|[^|]*\\|[^|]*\\|).*$`, 'm');
  if (!row.test(text)) throw new Error(`${document} has no row for ${name}.`);
  writeFileSync(
    document,
    text.replace(row, (_, start) => `${start} ${cells.join(' | ')} |`),
  );
}
