import type { World } from '../world/world.ts';
import { colorsFor } from './colors.ts';
import type { Described } from './described.ts';
import type { OutputMode } from './output-mode.ts';
import { printable } from './printable.ts';
import type { Report, Stream } from './report.ts';

export async function printReport(world: World, mode: OutputMode, report: Report): Promise<void> {
  if (mode === 'json') return world.stdout.write(`${JSON.stringify(report.json, null, 2)}\n`);
  const { renderPlain, renderRich } = await import('./render.ts');
  const colors = await colorsFor(world, world.stdout);
  for (const [index, block] of report.blocks.entries()) {
    if (mode === 'rich') {
      world.stdout.write((index > 0 ? '\n' : '') + renderRich(block, { colors, columns: world.stdout.columns }));
    } else {
      world.stdout.write(renderPlain(block));
      if (block.kind === 'note') world.stderr.write(block.lines.map((line) => `${printable(line)}\n`).join(''));
      const isEmpty =
        (block.kind === 'table' && block.rows.length === 0) || (block.kind === 'pieces' && block.pieces.length === 0);
      if (isEmpty) world.stderr.write(`${block.empty}\n`);
    }
  }
}

/** Prints pieces as they come, until they end or nobody reads any more. */
export async function printStream(world: World, mode: OutputMode, stream: Stream): Promise<void> {
  const { stdout } = world;
  const colors = await colorsFor(world, stdout);
  const reader = AbortSignal.any([world.signal, stdout.closed]);
  try {
    for await (const { json, plain, rich } of stream.pieces(reader)) {
      stdout.write(`${mode === 'json' ? JSON.stringify(json) : mode === 'plain' ? plain : rich(colors)}\n`);
    }
  } catch (error) {
    if (!stdout.closed.aborted) throw error;
  }
}

/** Help: a text that is not data. */
export function printText(world: World, mode: OutputMode, text: string, document: unknown): void {
  world.stdout.write(mode === 'json' ? `${JSON.stringify(document, null, 2)}\n` : `${text}\n`);
}

/** `isLine`: in JSON it is one more line after those of a stream. */
export async function printFailure(world: World, mode: OutputMode, failure: Described, isLine: boolean): Promise<void> {
  const { message, code, reason, requestId, issues, hint, details } = failure;
  if (mode === 'json') {
    const error = {
      error: message,
      code,
      reason,
      ...(requestId === null ? {} : { requestId }),
      ...(issues.length === 0 ? {} : { issues }),
      ...(hint === null ? {} : { hint }),
      ...(details === null ? {} : { details }),
    };
    world.stdout.write(`${JSON.stringify({ error }, null, isLine ? 0 : 2)}\n`);
    return;
  }
  const colors = await colorsFor(world, world.stderr);
  const lines = [
    `${colors.red('error:')} ${printable(message)}`,
    ...issues.map(({ path, message }) => `  ${printable(path === '' ? message : `${path}: ${message}`)}`),
    ...(requestId === null ? [] : [`  request id: ${printable(requestId)}`]),
    ...(hint === null ? [] : [printable(hint)]),
  ];
  world.stderr.write(`${lines.join('\n')}\n`);
}
