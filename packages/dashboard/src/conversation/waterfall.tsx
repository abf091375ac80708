import type { ConversationLineOf } from '@bothost/contract';
import { formatResponseTime } from './offset.ts';
import { placeSpan } from './spans.ts';
import { getStageName, originNames } from './words.ts';

/** The stages of one response, one below the other, each at its place in time. */
export function Waterfall({ response }: { readonly response: ConversationLineOf<'response'> }) {
  const { from, ms, parts, measuredFrom } = response;
  const range = { fromMs: from, toMs: from + ms };
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold text-xl tabular-nums">{formatResponseTime(ms)}</span>
        <span className="text-quiet text-sm">{originNames[measuredFrom]} to the bot's first audio</span>
      </p>
      {parts.length === 0 ? (
        <p className="text-quiet text-sm">The bot did not report the stages.</p>
      ) : (
        <ol aria-label="Stages of the response" className="flex flex-col gap-1.5">
          {parts.map((part, index) => {
            const isLongest = part.ms === Math.max(...parts.map((other) => other.ms));
            return (
              <li
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a response do not change
                key={index}
                className="grid grid-cols-[7.5rem_minmax(0,1fr)_3.75rem] items-center gap-x-3 text-sm"
              >
                <span className="flex min-w-0 flex-col leading-tight">
                  <span className="truncate">{getStageName(part.stage)}</span>
                  {part.service !== undefined && (
                    <span className="truncate text-quiet text-xs" title={part.service}>
                      {part.service}
                    </span>
                  )}
                </span>
                <span aria-hidden="true" className="relative h-4 rounded bg-line/50">
                  <span
                    className={`absolute inset-y-0 min-w-0.5 rounded ${isLongest ? 'bg-warning' : 'bg-accent'}`}
                    style={placeSpan({ fromMs: part.from, toMs: part.from + part.ms }, range)}
                  />
                </span>
                <span className="text-right tabular-nums">{formatResponseTime(part.ms)}</span>
              </li>
            );
          })}
        </ol>
      )}
    </div>
  );
}
