import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import {
  getInstanceFiles,
  type InstanceRecord,
  readInstanceRecord,
} from '../../src/process/records/instance-record.ts';
import type { Runtime } from '../../src/runtime.ts';
import { openRuntimeFixture } from '../conformance/fixture.ts';
import { createTestInstanceSpec, defaultResourceLimits } from '../instance-spec.ts';
import { describeAsRoot } from '../root.ts';
import { createProcessRuntimeSetup } from './setup.ts';
import { writeProject } from './test-project.ts';

const halfACore = { ...defaultResourceLimits, cpuMillicores: 500 };

/**
 * Returns the CPU limit of an instance in cores, the period of the limit in seconds, and the CPU weight (1 is the default of a
 * control group).
 */
function cpuOf(record: InstanceRecord | null) {
  const { cpu, unified } = record?.cgroups ?? {};
  if (cpu == null) throw new Error('The instance has no CPU controller.');
  const read = (name: string) => readFileSync(join(cpu, name), 'utf8').trim();
  const [quota, period, weight] =
    cpu === unified
      ? [...read('cpu.max').split(' '), Number(read('cpu.weight')) / 100]
      : [read('cpu.cfs_quota_us'), read('cpu.cfs_period_us'), Number(read('cpu.shares')) / 1024];
  return { cores: Number(quota) / 1e6, seconds: Number(period) / 1e6, weight };
}

describeAsRoot('the CPU of a bot', () => {
  const open = async () => {
    const fixture = await openRuntimeFixture(createProcessRuntimeSetup('cgroup'));
    const recordOf = (name: string) =>
      readInstanceRecord(getInstanceFiles(join(fixture.dataDirectory, 'instances'), fixture.idOf(name)));
    return { ...fixture, recordOf };
  };
  const waiting = { cores: 0.5, seconds: 1, weight: 0.125 };
  const opening = { cores: 1, seconds: 1, weight: 1 };
  const opened = { cores: 0.5, seconds: 1, weight: 1 };

  it("is limited to one core while the bot starts or a session opens, and to the agent profile's limit otherwise", async () => {
    const { start, spec, runtime, recordOf } = await open();
    const canceled = new AbortController();
    const starting = runtime().start(await spec('slow', 'readyStatus = 503', halfACore), canceled.signal);
    starting.catch(() => undefined);
    await expect.poll(() => recordOf('slow')?.supervisor ?? null).not.toBeNull();
    await expect.poll(() => cpuOf(recordOf('slow'))).toEqual({ ...waiting, cores: 1 });
    canceled.abort();
    await expect(starting).rejects.toThrow('stopped before it was ready');
    await start('bot', '', halfACore);
    expect(cpuOf(recordOf('bot'))).toEqual(waiting);
    runtime().sessionOpening('bot');
    await expect.poll(() => cpuOf(recordOf('bot'))).toEqual(opening);
    runtime().sessionOpened('bot');
    await expect.poll(() => cpuOf(recordOf('bot'))).toEqual(opened);
  });

  it("returns to the limit of the agent's profile five seconds after the start of a session", async () => {
    const { start, runtime, recordOf } = await open();
    await start('bot', '', halfACore);
    runtime().sessionOpening('bot');
    await expect.poll(() => cpuOf(recordOf('bot'))).toEqual(opened);
  });

  it("returns to the agent profile's limit when the server restarts after a crash during a session start", async () => {
    const { start, runtime, recordOf, closeServer, restartServer } = await open();
    await start('bot', '', halfACore);
    runtime().sessionOpening('bot');
    await closeServer();
    // A killed server leaves the higher CPU limit of an opening session in place. `closeServer` restores the usual limit, so
    // write the higher limit again after that.
    await expect.poll(() => cpuOf(recordOf('bot'))).toEqual(opened);
    const { cpu = null, unified } = recordOf('bot')?.cgroups ?? {};
    if (cpu === unified) writeFileSync(join(`${cpu}`, 'cpu.max'), '1000000 1000000');
    else writeFileSync(join(`${cpu}`, 'cpu.cfs_quota_us'), '1000000');
    expect(cpuOf(recordOf('bot'))).toEqual(opening);
    await restartServer();
    expect(cpuOf(recordOf('bot'))).toEqual(opened);
  });

  it('is shared equally between organizations, however many bots each of them runs', async () => {
    const { start, runtime, dataDirectory, idOf, track } = await open();
    await start('single');
    await startTwice(runtime(), track);
    const groupOf = (name: string) => {
      const record = readInstanceRecord(getInstanceFiles(join(dataDirectory, 'instances'), idOf(name)));
      return dirname(`${record?.cgroups?.cpu}`);
    };
    expect(basename(groupOf('first'))).toBe('organization-acme');
    expect(groupOf('second')).toBe(groupOf('first'));
    expect(groupOf('single')).not.toBe(groupOf('first'));
    expect(dirname(groupOf('single'))).toBe(dirname(groupOf('first')));
  });

  /** Runs a build of an organization, checks that the build runs in the organization's control group, and starts two bots. */
  async function startTwice(runtime: Runtime, track: (name: string) => void): Promise<void> {
    const bot = `require('http').createServer((_, response) => response.end()).listen(process.env.PORT, process.env.BOT_HOST)`;
    const report = `const groups = require('fs').readFileSync('/proc/self/cgroup', 'utf8'); console.log(groups.match(/organization-acme.*/)[0])`;
    const files = {
      'package.json': '{ "scripts": { "build": "node build.js" } }',
      'index.js': bot,
      'build.js': report,
    };
    const path = await writeProject(files);
    const lines: string[] = [];
    const signal = new AbortController().signal;
    const source = { kind: 'build', path, contentHash: '', organizationId: 'acme' } as const;
    const prepared = await runtime.prepare({ id: 'd', source }, (line) => lines.push(line), signal);
    expect(lines).toContainEqual(expect.stringMatching(/^organization-acme\/organization-acme-/));
    for (const instanceId of ['first', 'second']) {
      track(instanceId);
      await runtime.start(createTestInstanceSpec({ instanceId, deploymentId: 'd', prepared }), signal);
    }
  }
});
