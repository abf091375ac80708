import { type ConversationNumbers, formatCount, type nameSessionEnd, type ResponseTimes } from '@bothost/contract';
import type { ReactNode } from 'react';
import { twMerge } from 'tailwind-merge';
import { formatResponseTime } from './offset.ts';
import { getEndReasonName } from './words.ts';

type NumbersProps = {
  readonly numbers: ConversationNumbers;
  /** How the session ended. Null while it runs. */
  readonly end: ReturnType<typeof nameSessionEnd>;
};

/** The numbers of a conversation, such as its response times. Response times of different origins stay apart. */
export function ConversationNumberTiles({ numbers, end }: NumbersProps) {
  const { turns, interruptions, responses, greetingMs, tools, errors, endReason } = numbers;
  const kinds = [
    [responses.silence, "after the caller's silence"],
    [responses.release, 'after the release of the turn'],
  ] as const;
  const hasFailed = end?.isFailure === true;
  const known = kinds.filter(([times]) => times !== null);
  return (
    <dl
      aria-label="Numbers of the conversation"
      className={twMerge(
        'flex flex-wrap gap-px overflow-hidden rounded-2xl border border-line bg-line *:grow *:basis-[40%] sm:*:basis-[22%]',
        known.length < kinds.length ? 'lg:*:basis-0' : 'lg:*:basis-[19%]',
      )}
    >
      {(known.length === 0 ? kinds.slice(0, 1) : known).map(([times, origin]) => (
        <ResponseTiles key={origin} times={times} origin={origin} />
      ))}
      <Tile
        name="Turns"
        value={String(turns)}
        note={greetingMs === null ? null : `greeting after ${formatResponseTime(greetingMs)}`}
      />
      <Tile name="Interruptions" value={String(interruptions)} note={null} />
      <Tile
        name="Tool calls"
        value={String(tools.calls)}
        note={tools.failed === 0 ? null : <span className="text-danger">{tools.failed} failed</span>}
      />
      <Tile
        name="Errors"
        value={errors === 0 && hasFailed ? '1' : String(errors)}
        note={hasFailed ? (errors === 0 ? 'the failure of the session' : 'and the session failed') : null}
        isBad={errors > 0 || hasFailed}
      />
      <Tile
        name={endReason === null && end === null ? 'State' : 'Ended'}
        value={endReason === null || hasFailed ? (end?.name ?? 'Running') : getEndReasonName(endReason)}
        note={null}
        isBad={hasFailed}
        isText
      />
    </dl>
  );
}

function ResponseTiles({ times, origin }: { readonly times: ResponseTimes | null; readonly origin: string }) {
  const format = (ms: number | undefined) => (ms === undefined ? '—' : formatResponseTime(ms));
  return (
    <>
      <Tile name="Response p50" value={format(times?.p50)} note={origin} />
      <Tile
        name="Response p95"
        value={format(times?.p95)}
        note={times === null ? 'no responses' : `of ${formatCount(times.ms.length, 'response')}`}
      />
    </>
  );
}

type TileProps = {
  readonly name: string;
  readonly value: string;
  readonly note: ReactNode;
  readonly isBad?: boolean;
  readonly isText?: boolean;
};

function Tile({ name, value, note, isBad = false, isText = false }: TileProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1 bg-surface px-4 py-3.5">
      <dt className="text-quiet text-xs">{name}</dt>
      <dd className="flex flex-col gap-0.5">
        <span
          className={twMerge(
            'font-semibold tabular-nums wrap-anywhere',
            isText ? 'text-sm leading-7' : 'text-xl leading-7',
            isBad && 'text-danger',
          )}
        >
          {value}
        </span>
        {note !== null && <span className="text-quiet text-xs leading-4">{note}</span>}
      </dd>
    </div>
  );
}
