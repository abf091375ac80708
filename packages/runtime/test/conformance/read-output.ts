import { readFile } from 'node:fs/promises';
import type { EpochMicroseconds, OutputFile, Runtime } from '../../src/runtime.ts';

const neverAborted = new AbortController().signal;

export type OutputLine = { readonly text: string; readonly at: EpochMicroseconds; readonly unattended: boolean };

type OutputSnapshot = { readonly file: OutputFile; readonly lines: readonly OutputLine[] };

/** Returns the lines that an instance has written so far. Empty for an unknown instance. */
export async function readOutput(runtime: Runtime, instanceId: string): Promise<readonly OutputLine[]> {
  return (await readOutputSnapshot(runtime, instanceId))?.lines ?? [];
}

/**
 * Reads the output file of an instance and its lines. Repeats this if the driver has dropped output meanwhile, because lines
 * may be missing then. The driver records a dropped range before it drops the bytes.
 */
export async function readOutputSnapshot(runtime: Runtime, instanceId: string): Promise<OutputSnapshot | null> {
  for (;;) {
    await runtime.outputs.mark();
    const file = await runtime.outputs.find(instanceId);
    if (file === null) return null;
    const lines = await decodeOutputLines(file);
    const after = await runtime.outputs.find(instanceId);
    if (JSON.stringify(after?.dropped) === JSON.stringify(file.dropped)) return { file, lines };
  }
}

/** Like `readOutput`, but first waits for a number of lines or the end of the instance. */
export async function waitForOutputLines(
  runtime: Runtime,
  instanceId: string,
  count: number,
): Promise<readonly OutputLine[]> {
  for (;;) {
    const since = await runtime.outputs.mark();
    const file = await runtime.outputs.find(instanceId);
    const lines = file === null ? [] : await decodeOutputLines(file);
    if (lines.length >= count || (file !== null && file.endedAt !== null)) return lines;
    // An instance that is being started is not known yet.
    const signal = file === null ? AbortSignal.timeout(100) : neverAborted;
    await runtime.outputs.changed([instanceId], since, signal);
  }
}

export async function decodeOutputLines(file: OutputFile): Promise<readonly OutputLine[]> {
  const bytes = await readFile(file.path);
  const end = (file.marks.at(-1)?.end ?? file.base) - file.base;
  const lines: OutputLine[] = [];
  let from = 0;
  for (const { from: gapFrom, to } of [
    ...file.dropped.filter((range) => range.from >= file.base),
    { from: file.base + end, to: 0 },
  ]) {
    const part = bytes.subarray(from, gapFrom - file.base);
    let start = from;
    for (const line of part.toString('utf8').split(/(?<=\n)/)) {
      start += Buffer.byteLength(line);
      if (line === '' || (!line.endsWith('\n') && file.endedAt === null)) continue;
      const mark = file.marks.find((one) => one.end >= file.base + start);
      lines.push({ text: line.replace(/\n$/, ''), at: mark?.at ?? 0, unattended: mark?.unattended ?? false });
    }
    from = to - file.base;
  }
  return lines;
}
