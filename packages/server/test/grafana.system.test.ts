import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
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

const service = await useTestServer({ bots: { measured: { maxAgents: 2 } } });

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

describeUnless(
  prometheus === undefined ? null : 'prometheus is not installed',
  'a Prometheus that scrapes the service',
  () => {
    let directory: string;
    let url: string;
    let stop: () => Promise<unknown>;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bothost-prometheus-'));
      const port = await findFreePort();
      url = `http://127.0.0.1:${port}`;
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
      const exited = new Promise((done) => child.once('exit', done));
      stop = () => {
        child.kill('SIGTERM');
        return exited;
      };
      const isReady = () =>
        fetch(`${url}/-/ready`).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(isReady, { timeout: 20_000 }).toBe(200);
      // Rates need several scrapes before and after the counters change.
      await runSession();
      await expect.poll(() => query('count_over_time(bothost_instances[30s])'), { timeout: 20_000 }).not.toEqual([]);
      await runSession();
    });
    afterAll(async () => {
      await stop();
      await rm(directory, { recursive: true });
    });

    async function query(expr: string): Promise<readonly unknown[]> {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const body = (await response.json()) as { status: string; error?: string; data?: { result: readonly unknown[] } };
      expect(body, expr).toMatchObject({ status: 'success' });
      return body.data?.result ?? [];
    }

    it.each(queries)('has a result for the panel "%s": %s', async (_, expr) => {
      if (optional.some((pattern) => pattern.test(expr))) await query(resolve(expr));
      else await expect.poll(() => query(resolve(expr)), { timeout: 20_000, interval: 500 }).not.toEqual([]);
    });
  },
);
