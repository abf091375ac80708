import { readFile } from 'node:fs/promises';
import type { OutputFile, Runtime, Timestamp } from '../../src/runtime.ts';

const NEVER = new AbortController().signal;

export type ReadLine = { readonly text: string; readonly at: Timestamp; readonly unattended: boolean };

type Whole = { readonly file: OutputFile; readonly lines: readonly ReadLine[] };

/** What an instance has written until now, in lines; nothing when it is not known. */
export async function readOutput(runtime: Runtime, instanceId: string): Promise<readonly ReadLine[]> {
  return (await readWhole(runtime, instanceId))?.lines ?? [];
}

/** The same with the file that it is in. What is dropped is written down before it goes: the same gaps after the reading mean that all was there. */
export async function readWhole(runtime: Runtime, instanceId: string): Promise<Whole | null> {
  for (;;) {
    runtime.outputs.look();
    const file = await runtime.outputs.of(instanceId);
    if (file === null) return null;
    const lines = await linesOf(file);
    const after = await runtime.outputs.of(instanceId);
    if (JSON.stringify(after?.dropped) === JSON.stringify(file.dropped)) return { file, lines };
  }
}

/** As `readOutput`, once there are so many lines, or the instance has ended. */
export async function readLines(runtime: Runtime, instanceId: string, count: number): Promise<readonly ReadLine[]> {
  for (;;) {
    const since = runtime.outputs.look();
    const file = await runtime.outputs.of(instanceId);
    const lines = file === null ? [] : await linesOf(file);
    if (lines.length >= count || (file !== null && file.endedAt !== null)) return lines;
    await runtime.outputs.changed([instanceId], since, NEVER);
  }
}

export async function linesOf(file: OutputFile): Promise<readonly ReadLine[]> {
  const bytes = await readFile(file.path);
  const end = (file.marks.at(-1)?.end ?? file.base) - file.base;
  const lines: ReadLine[] = [];
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
