import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The directory for the output and the report of each suite. */
export const directory = 'node_modules/.cache/suites';

export const npmRun = (name) => ['npm', 'run', '--silent', name, '--'];

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const pid of running) process.kill(-pid, signal);
    process.exitCode = 1;
  });
}

/** Runs a suite, prints its output when it ends, and returns its numbers of tests and its failures. */
export async function runSuite({ name, command, parameters = [], variables = {}, skipsAllowed = false }) {
  const file = (extension) => join(directory, `${name.replace(/\W+/g, '-')}.${extension}`);
  rmSync(file('json'), { force: true });
  const started = performance.now();
  const log = openSync(file('log'), 'w');
  const reporting = ['--reporter=default', '--reporter=./.ci/suite-report.mjs'];
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
  const { passed, failures, skipped } = readReport(file('json'), status);
  for (const { file: path, title, reason } of skipped) {
    if (reason !== undefined && (skipsAllowed || reason.startsWith('not applicable'))) continue;
    failures.push({ file: path, title, message: `skipped, ${reason ?? 'without a reason'}` });
  }
  if (failures.length === 0 && status !== 0) failures.push(failureOf(`no test failed, exit status ${status}`));
  return { name, seconds, passed, failures, skipped };
}

const failureOf = (message) => ({ file: null, title: '', message });

/** A suite that wrote no report has failed. */
function readReport(path, status) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { passed: 0, failures: [failureOf(`no report, exit status ${status}`)], skipped: [] };
  }
}
