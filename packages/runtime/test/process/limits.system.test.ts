import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasEnded, readProcessStat } from '../../src/process/proc/process-identity.ts';
import { type BuildLimits, ProjectPreparationTimeoutError } from '../../src/runtime.ts';
import { describeAsRoot, testAsRoot } from '../root.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { writeProject } from './test-project.ts';

const neverAborted = new AbortController().signal;
const manifest = '{ "main": "built.js", "scripts": { "build": "node build.js" } }';
const done = "require('fs').writeFileSync('built.js', '');";

async function openRuntime(limits: Partial<BuildLimits> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-limits-'));
  await chmod(directory, 0o711);
  const building = {
    cpuMillicores: 2000,
    memoryBytes: 2e9,
    timeoutMs: 60_000,
    environment: {},
    installsUv: false,
    ...limits,
  };
  const runtime = await openProcessRuntime({
    dataDirectory: join(directory, 'data'),
    pollMs: 100,
    building,
  });
  onTestFinished(async () => {
    await runtime.close();
    await rm(directory, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const build = async (code: string, organizationId = 'acme', id = 'one') => {
    const path = await writeProject({ 'package.json': manifest, 'build.js': code });
    await runtime.prepare(
      { id, source: { kind: 'build', path, contentHash: id, organizationId } },
      (line) => lines.push(line),
      neverAborted,
    );
    return join(directory, 'data/projects', id);
  };
  return { runtime, build, lines };
}

describe('a build', () => {
  it('is canceled at its timeout', async () => {
    const { build } = await openRuntime({ timeoutMs: 1500 });
    const building = build('setInterval(() => {}, 1000)');
    await expect(building).rejects.toThrow(/exceeded 2 seconds/);
    await expect(building).rejects.toBeInstanceOf(ProjectPreparationTimeoutError);
  });

  it('fails with a message when it exceeds its memory limit', async () => {
    const { build } = await openRuntime({ memoryBytes: 300 * 1024 * 1024 });
    const code = 'const held = []; setInterval(() => held.push(Buffer.alloc(8e6, 1)), 1);';
    await expect(build(code)).rejects.toThrow(/ran out of memory \(builds have 300 MB\)/);
  });

  it('is killed if the function that receives its output throws', async () => {
    const { runtime } = await openRuntime();
    const code = "console.log('pid ' + process.pid); setInterval(() => {}, 1000);";
    const path = await writeProject({ 'package.json': manifest, 'build.js': code });
    const source = { kind: 'build', path, contentHash: 'undeliverable', organizationId: 'acme' } as const;
    let pid = 0;
    const output = (line: string) => {
      pid = Number(/^pid (\d+)$/.exec(line)?.[1] ?? 0);
      if (pid !== 0) throw new Error('output failed');
    };
    await expect(runtime.prepare({ id: 'undeliverable', source }, output, neverAborted)).rejects.toThrow(
      'output failed',
    );
    expect(pid).toBeGreaterThan(1);
    const left = readProcessStat(pid);
    expect(left === null || hasEnded(left)).toBe(true);
  });

  it("receives the operator's environment variables, and their secret values are masked in its output", async () => {
    const environment = { PIP_INDEX_URL: 'https://reader:hunter2@pypi.example.com/simple', NPM_TOKEN: 'npm_abcdef' };
    const { build, lines } = await openRuntime({ environment });
    const code = 'console.log(process.env.PIP_INDEX_URL, process.env.NPM_TOKEN, process.env.NPM_TOKEN.length);';
    await build(`${done} ${code}`);
    expect(lines).toContain('https://***@pypi.example.com/simple *** 10');
    const failing = build('console.error(process.env.NPM_TOKEN); process.exit(1)', 'acme', 'two');
    await expect(failing).rejects.toThrow(/status 1\.\n[\s\S]*\*\*\*/);
    await expect(failing).rejects.not.toThrow('npm_abcdef');
  });

  const special = `${done} require('fs').chmodSync('built.js', 0o6777);
    require('child_process').execFileSync('mkfifo', ['pipe']);`;

  it('produces a project that its bots can read', async () => {
    const { build } = await openRuntime();
    const project = await build(special);
    expect(await readFile(join(project, 'built.js'), 'utf8')).toBe('');
  });

  testAsRoot('produces a project that root owns, without special files', async () => {
    const { build } = await openRuntime();
    const project = await build(special);
    expect(await readdir(project)).not.toContain('pipe');
    const { mode, uid } = await stat(join(project, 'built.js'));
    expect([(mode & 0o7777).toString(8), uid]).toEqual(['750', 0]);
  });
});

describeAsRoot('the download cache of an organization', () => {
  const KEEP = `${done} const file = process.env.XDG_CACHE_HOME + '/kept';
    const fs = require('fs'); console.log('had ' + (fs.existsSync(file) ? fs.readFileSync(file) : 'nothing'));
    fs.writeFileSync(file, 'downloads of ' + process.getuid());
    const others = process.env.XDG_CACHE_HOME.replace(/organization-[a-z]+/, 'organization-acme') + '/kept';
    try { console.log('read ' + fs.readFileSync(others)); } catch (error) { console.log(error.code); }`;

  it('is kept for the next build, and builds of other organizations cannot read it', async () => {
    const { build, lines } = await openRuntime();
    await build(KEEP, 'acme', 'one');
    await build(KEEP, 'other', 'two');
    await build(KEEP, 'acme', 'three');
    const reports = lines.filter((line) => /^(had|read|EACCES)/.test(line));
    expect(reports).toEqual([
      'had nothing',
      expect.stringMatching(/^read/),
      'had nothing',
      'EACCES',
      expect.stringMatching(/^had downloads/),
      expect.stringMatching(/^read/),
    ]);
  });
});
