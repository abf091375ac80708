import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProjectPreparationTimeoutError } from '../../src/runtime.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { writeProject } from './test-project.ts';

const neverAborted = new AbortController().signal;
/** Command that makes the output file of its build 16 TiB long and sparse. */
const sparseCommand = "perl -e 'truncate(STDOUT,16*1024**4-8192)'";
/**
 * Command that makes the output file of its build 8 EiB long, which is more than a JavaScript number represents exactly. Only
 * some file systems support such files.
 */
const longest = "perl -e 'truncate(STDOUT,2**63-4096)'";

async function openRuntime({ directory = tmpdir(), timeoutMs = 60_000 } = {}) {
  const root = await mkdtemp(join(directory, 'bothost-output-'));
  await chmod(root, 0o711);
  const runtime = await openProcessRuntime({
    dataDirectory: join(root, 'data'),
    building: { cpuMillicores: 2000, memoryBytes: 2e9, timeoutMs, environment: {}, installsUv: false },
  });
  onTestFinished(async () => {
    await runtime.close();
    await rm(root, { recursive: true, force: true });
  });
  const lines: string[] = [];
  const prepare = async (script: string, onLine: (line: string) => void = () => undefined, signal = neverAborted) => {
    const path = await writeProject({
      'package.json': JSON.stringify({ main: 'index.js', scripts: { build: script } }),
      'index.js': '',
    });
    const source = { kind: 'build', path, contentHash: 'one', organizationId: 'acme' } as const;
    const output = (line: string) => {
      lines.push(line);
      onLine(line);
    };
    return runtime.prepare({ id: 'one', source }, output, signal);
  };
  return { runtime, prepare, lines };
}

describe('a build that makes its output file 16 TiB long', () => {
  it('ends when its command ends, and its log states how many bytes were skipped', async () => {
    const { prepare, lines } = await openRuntime();
    await prepare(`echo before; ${sparseCommand}; echo after`);
    expect(lines.slice(lines.indexOf('before'))).toEqual([
      'before',
      expect.stringMatching(/^\.\.\. \d{14} bytes of output skipped \.\.\.$/),
      'after',
    ]);
  });

  it('fails with the last lines of its output when its command fails', async () => {
    const { prepare } = await openRuntime();
    await expect(prepare(`${sparseCommand}; echo broken; exit 3`)).rejects.toThrow(
      /failed with status 3[\s\S]*\nbroken/,
    );
  });

  it('is stopped by its timeout', async () => {
    const { prepare } = await openRuntime({ timeoutMs: 3_000 });
    await expect(prepare(`${sparseCommand}; sleep 1000`)).rejects.toBeInstanceOf(ProjectPreparationTimeoutError);
  });

  it('is stopped when its caller aborts', async () => {
    const { prepare } = await openRuntime();
    const aborting = new AbortController();
    const onLine = (line: string) => {
      if (line === 'started') aborting.abort(new Error('aborted'));
    };
    const preparing = prepare(`echo started; ${sparseCommand}; sleep 1000`, onLine, aborting.signal);
    await expect(preparing).rejects.toThrow('aborted');
  });

  it('is stopped when the runtime closes', async () => {
    const { runtime, prepare } = await openRuntime();
    const lines = new EventTarget();
    const started = once(lines, 'started');
    const preparing = prepare(`echo started; ${sparseCommand}; sleep 1000`, (line) =>
      lines.dispatchEvent(new Event(line)),
    );
    const rejected = expect(preparing).rejects.toThrow(/stopping/);
    await started;
    await runtime.close();
    await rejected;
  });
});

it('a build that makes its output file 8 EiB long ends when its command ends', async ({ skip }) => {
  // Use tmpfs, because ext4 does not support files of 8 EiB.
  const { prepare, lines } = await openRuntime({ directory: '/dev/shm' }).catch(() => skip('no tmpfs at /dev/shm'));
  await prepare(`${longest} || exit 3`);
  expect(lines.at(-1)).toMatch(/bytes of output skipped/);
});

it('a build that floods its output keeps the first and last lines in its log', async () => {
  const { prepare, lines } = await openRuntime();
  await prepare('echo first; yes | head -c 200000000; echo last');
  expect(lines).toContain('first');
  expect(lines.at(-1)).toBe('last');
  expect(lines.filter((line) => /^\.\.\. \d+ bytes of output skipped \.\.\.$/.test(line))).toHaveLength(1);
  expect(lines.length).toBeLessThan(20_000);
});
