import type { Statistics, StatisticsPeriod } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { twMerge } from 'tailwind-merge';
import { formatLatency } from '../components/format.ts';
import { filterCountedSessions, periodLabels } from './period.ts';

type StatisticsTilesProps = {
  readonly organization: string;
  /** Undefined: the figures are those of all agents. */
  readonly agent?: string;
  readonly period: StatisticsPeriod;
  /** Statistics of the period. Undefined while they are loaded. */
  readonly statistics: Statistics | undefined;
  /** What runs now. */
  readonly live: {
    readonly sessions: number;
    readonly limit: number;
    readonly warm: number;
    readonly starting: number;
  };
};

/** Tiles of the sessions that run now, and of failures, start and response times of the period. Each is a link to its sessions. */
export function StatisticsTiles({ organization, agent, period, statistics, live }: StatisticsTilesProps) {
  const link = (search: { readonly status?: string; readonly from?: number }, text: ReactNode) => (
    <Link
      to="/orgs/$organization/sessions"
      params={{ organization }}
      search={{ agent, ...search }}
      // The link's `::after` element covers the whole tile.
      className="after:absolute after:inset-0 after:rounded-2xl"
    >
      {text}
    </Link>
  );
  const total = statistics?.total;
  const counted = filterCountedSessions(statistics?.points ?? []);
  const ofPeriod = (text: string) =>
    total === undefined ? 'Loading…' : `${text} in the ${periodLabels[period].toLowerCase()}`;
  const latency = (median: number | null = null, p95: number | null = null) => ({
    value: link({ ...counted }, median === null ? '–' : formatLatency(median)),
    note: ofPeriod(p95 === null ? 'None' : `p95 ${formatLatency(p95)}`),
  });
  return (
    <dl className="grid grid-cols-2 gap-3 sm:gap-4 lg:grid-cols-4">
      <Tile
        name="Live sessions"
        value={link({ status: 'active' }, live.sessions)}
        note={[
          `of ${live.limit} at the same time`,
          ...(live.warm > 0 ? [`${live.warm} warm`] : []),
          ...(live.starting > 0 ? [`${live.starting} starting`] : []),
        ].join(', ')}
      >
        <Meter share={live.limit === 0 ? 0 : live.sessions / live.limit} />
      </Tile>
      <Tile
        name="Failed sessions"
        value={link({ status: 'failed', ...counted }, total?.failed.toLocaleString('en') ?? '–')}
        note={ofPeriod(`of ${total?.sessions.toLocaleString('en')}`)}
        isBad={total !== undefined && total.failed > 0}
      />
      <Tile name="Start time, median" {...latency(total?.startP50Ms, total?.startP95Ms)} />
      <Tile name="Response time, median" {...latency(total?.responseP50Ms, total?.responseP95Ms)} />
    </dl>
  );
}

type TileProps = {
  readonly name: string;
  readonly value: ReactNode;
  readonly note: string;
  readonly isBad?: boolean;
  readonly children?: ReactNode;
};

function Tile({ name, value, note, isBad = false, children }: TileProps) {
  return (
    <div className="relative flex flex-col gap-1 rounded-2xl border border-line bg-surface px-5 py-4 hover:border-field">
      <dt className="text-quiet text-sm">{name}</dt>
      <dd className={twMerge('font-semibold text-3xl tabular-nums tracking-tight', isBad && 'text-danger')}>{value}</dd>
      <dd className="text-quiet text-sm">{note}</dd>
      {children !== undefined && <dd className="pt-2">{children}</dd>}
    </div>
  );
}

/** A bar for a share from 0 to 1. Hidden from screen readers, because the text above the bar states the share. */
function Meter({ share }: { readonly share: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 100 4" preserveAspectRatio="none" className="h-1.5 w-full rounded-full">
      <rect width="100" height="4" className="fill-line" />
      <rect width={Math.min(1, share) * 100} height="4" className={share >= 1 ? 'fill-danger' : 'fill-accent'} />
    </svg>
  );
}
