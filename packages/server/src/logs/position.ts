import { createFieldError } from '@bothost/contract';
import type { EpochMicroseconds } from '@bothost/runtime';
import { isUuid } from '../store/uuid.ts';

export type SortOrder = 'asc' | 'desc';

/** The position after the last line of a page. Lines are ordered by time, then instance, then offset. */
export type LogPosition = { readonly at: EpochMicroseconds; readonly instanceId: string; readonly offset: number };

export function comparePositions(a: LogPosition, b: LogPosition): number {
  if (a.at !== b.at) return a.at - b.at;
  if (a.instanceId !== b.instanceId) return a.instanceId < b.instanceId ? -1 : 1;
  return a.offset - b.offset;
}

/** Returns a position that is before all lines that arrived at or after the time `at`, and after all earlier lines. */
export function getLogPositionAtTime(at: EpochMicroseconds): LogPosition {
  return { at, instanceId: '', offset: 0 };
}

export function encodeCursor(order: SortOrder, { at, instanceId, offset }: LogPosition): string {
  return Buffer.from(`${order} ${at} ${offset} ${instanceId}`).toString('base64url');
}

/** @throws failure `invalid-request` unless `text` is a cursor for this sort order */
export function decodeCursor(order: SortOrder, text: string): LogPosition {
  const written = Buffer.from(text, 'base64url').toString();
  const [, at = '', offset = '', instanceId = ''] = /^(?:asc|desc) (\d{1,16}) (\d{1,16}) (\S*)$/.exec(written) ?? [];
  const isKnown = written.startsWith(`${order} `) && at !== '' && (instanceId === '' || isUuid(instanceId));
  if (!isKnown) {
    throw createFieldError('query.cursor', `The cursor does not belong to these logs in the order ${order}.`);
  }
  return { at: Number(at), offset: Number(offset), instanceId };
}
