import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { testUnless } from '../../runtime/test/skip-with-reason.ts';
import { evaluateJavaScriptInBot, startAgentSession, waitForSessionEnd } from './support/client.ts';
import { findFreePort } from './support/free-port.ts';
import { useTestServer } from './support/use-test-server.ts';

/** Tests that the dashboard for Grafana shows metrics of the service, with a real Prometheus. */
type Dashboard = {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
};
const dashboard = JSON.parse(
  readFileSync(new URL('../../../deploy/grafana.json', import.meta.url), 'utf8'),
) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));
/** Queries that have no result until a bot is built or a Python bot is forked. */
const optional = [/bothost_build_seconds_count/, /bothost_builds/, /bothost_fork_server_memory_bytes/];

/** Replaces the variables of Grafana. */
const resolve = (expr: string) =>
  expr.replaceAll('$__rate_interval', '30s').replaceAll(/\$(organization|agent)\b/g, '.*');

const service = await useTestServer({ bots: { measured: { minAgents: 1, maxAgents: 2 } } });

async function runSession(): Promise<void> {
  const id = await startAgentSession(service, 'measured');
  await evaluateJavaScriptInBot(service, 'measured', id, 'state.end(500, "")');
  await waitForSessionEnd(service, 'measured', id);
}

it('deploy/grafana.json names only metrics that /metrics has', async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const named = queries.flatMap(([, expr]) => expr.match(/\bbothost_\w+/g) ?? []);
  const missing = named.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|count|sum)$/, '')));
  expect(named.length).toBeGreaterThan(queries.length - 1);
  expect(missing).toEqual([]);
});

const prometheus = spawnSync('prometheus', ['--version']).error;

testUnless(
  prometheus === undefined ? null : 'prometheus is not installed',
  'every query of deploy/grafana.json has a result in a Prometheus that scrapes the service',
  async () => {
    const query = await startPrometheus();
    // A rate needs scrapes before and after a counter changes.
    await runSession();
    await expect
      .poll(() => query('count_over_time(bothost_agent_session_limit[30s]) > 1'), { timeout: 30_000 })
      .not.toEqual([]);
    await runSession();
    for (const [title, expr] of queries) {
      const read = () => query(resolve(expr));
      if (optional.some((pattern) => pattern.test(expr))) await read();
      else await expect.poll(read, { timeout: 30_000, message: `${title}: ${expr}` }).not.toEqual([]);
    }
  },
);

/** Starts a Prometheus that scrapes the service every second. Returns a function that runs a query. */
async function startPrometheus(): Promise<(expr: string) => Promise<readonly unknown[]>> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-prometheus-'));
  const port = await findFreePort();
  const target = new URL(service.url).host;
  await writeFile(
    join(directory, 'prometheus.yml'),
    `global: { scrape_interval: 1s }\nscrape_configs: [{ job_name: bothost, static_configs: [{ targets: ['${target}'] }] }]\n`,
  );
  const options = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', options, { cwd: directory, stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true });
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(isReady, { timeout: 30_000 }).toBe(200);
  return async (expr) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const body = (await response.json()) as { status: string; data?: { result: readonly unknown[] } };
    expect(body, expr).toMatchObject({ status: 'success' });
    return body.data?.result ?? [];
  };
}
