import { failure } from '@bothost/contract';
import type { Timestamp } from '@bothost/runtime';
import { isUuid } from '../store/uuid.ts';

export type Order = 'asc' | 'desc';

/**
 * How far a page got in the total order of lines: by time, then instance, then offset. In ascending order, everything before
 * `offset` was read; in descending order, everything after it.
 */
export type Position = { readonly at: Timestamp; readonly instanceId: string; readonly offset: number };

export function comparePositions(a: Position, b: Position): number {
  if (a.at !== b.at) return a.at - b.at;
  if (a.instanceId !== b.instanceId) return a.instanceId < b.instanceId ? -1 : 1;
  return a.offset - b.offset;
}

/** The position before every line that was seen at `at` or later. */
export function beginningAt(at: Timestamp): Position {
  return { at, instanceId: '', offset: 0 };
}

export function encodeCursor(order: Order, { at, instanceId, offset }: Position): string {
  return Buffer.from(`${order} ${at} ${offset} ${instanceId}`).toString('base64url');
}

/** @throws failure `invalid-request` unless it is a cursor of this order */
export function decodeCursor(order: Order, text: string): Position {
  const written = Buffer.from(text, 'base64url').toString();
  const [, at = '', offset = '', instanceId = ''] = /^(?:asc|desc) (\d{1,16}) (\d{1,16}) (\S*)$/.exec(written) ?? [];
  const isKnown = written.startsWith(`${order} `) && at !== '' && (instanceId === '' || isUuid(instanceId));
  if (!isKnown) {
    const message = `not a cursor of these logs in the order ${order}`;
    throw failure('invalid-request', {
      message: `The cursor is ${message}.`,
      issues: [{ path: 'query.cursor', message }],
    });
  }
  return { at: Number(at), offset: Number(offset), instanceId };
}
