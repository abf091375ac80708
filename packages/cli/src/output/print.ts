import type { CommandIo } from '../io/io.ts';
import { loadColors } from './colors.ts';
import type { FailureDescription } from './failure-description.ts';
import type { OutputMode } from './output-mode.ts';
import { escapeControls } from './printable.ts';
import type { CommandReport, CommandReportStream } from './report.ts';

export async function printReport(io: CommandIo, mode: OutputMode, report: CommandReport): Promise<void> {
  if (mode === 'json') return io.stdout.write(`${JSON.stringify(report.json, null, 2)}\n`);
  const { renderPlainText, renderRichText } = await import('./render.ts');
  const colors = await loadColors(io, io.stdout);
  for (const [index, block] of report.blocks.entries()) {
    if (mode === 'rich') {
      io.stdout.write((index > 0 ? '\n' : '') + renderRichText(block, { colors, columns: io.stdout.columns }));
    } else {
      io.stdout.write(renderPlainText(block));
      if (block.kind === 'note') io.stderr.write(block.lines.map((line) => `${escapeControls(line)}\n`).join(''));
      const isEmpty =
        (block.kind === 'table' && block.rows.length === 0) || (block.kind === 'pieces' && block.pieces.length === 0);
      if (isEmpty) io.stderr.write(`${block.empty}\n`);
    }
  }
}

export async function printStreamedReport(io: CommandIo, mode: OutputMode, stream: CommandReportStream): Promise<void> {
  const { stdout } = io;
  const colors = await loadColors(io, stdout);
  const reader = AbortSignal.any([io.signal, stdout.closed]);
  try {
    for await (const { json, plain, rich } of stream.pieces(reader)) {
      stdout.write(`${mode === 'json' ? JSON.stringify(json) : mode === 'plain' ? plain : rich(colors)}\n`);
    }
  } catch (error) {
    if (!stdout.closed.aborted) throw error;
  }
}

export function printText(io: CommandIo, mode: OutputMode, text: string, document: unknown): void {
  io.stdout.write(mode === 'json' ? `${JSON.stringify(document, null, 2)}\n` : `${text}\n`);
}

/** Prints that the user interrupted the command. The message has no "error:" prefix, because an interruption is not an error. */
export async function printCommandInterruption(
  io: CommandIo,
  mode: OutputMode,
  failure: FailureDescription,
  isLine: boolean,
): Promise<void> {
  if (mode === 'json') await printFailure(io, mode, failure, isLine);
  else io.stderr.write(`${failure.message}\n`);
}

/** `isLine`: JSON lines are already printed, so a failure in JSON mode is a line too. */
export async function printFailure(
  io: CommandIo,
  mode: OutputMode,
  failure: FailureDescription,
  isLine: boolean,
): Promise<void> {
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
    io.stdout.write(`${JSON.stringify({ error }, null, isLine ? 0 : 2)}\n`);
    return;
  }
  const colors = await loadColors(io, io.stderr);
  // Do not label a declined or interrupted prompt as an error.
  const isAnswer = reason === 'interrupted' || reason === 'declined';
  const lines = [
    isAnswer ? escapeControls(message) : `${colors.red('error:')} ${escapeControls(message)}`,
    ...issues.map(({ path, message }) => `  ${escapeControls(path === '' ? message : `${path}: ${message}`)}`),
    ...(requestId === null ? [] : [`  request id: ${escapeControls(requestId)}`]),
    ...(hint === null ? [] : [escapeControls(hint)]),
  ];
  io.stderr.write(`${lines.join('\n')}\n`);
}
