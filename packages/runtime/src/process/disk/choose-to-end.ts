import type { DiskLimits } from '../../runtime.ts';

/** What an instance or build uses, as measured. */
export type DiskUse = {
  readonly id: string;
  readonly kind: 'instance' | 'build';
  /** See `ownerOf`. Null if unknown: the instance was started by an earlier version. */
  readonly owner: string | null;
  readonly limitBytes: number;
  /** Null while it is not known, because the measurement takes long. */
  readonly bytes: number | null;
  /** Its files could not be counted in the longest time allowed. */
  readonly isUncountable: boolean;
  /** Since the last measurement at which the reserve was not at risk. */
  readonly grownBytes: number;
  /** What its processes wrote to any disk since then, which includes files that no measurement finds. */
  readonly writtenBytes: number;
  /** Its end was requested, and it is still running. */
  readonly isEnding: boolean;
};

export type DiskState = {
  readonly limits: DiskLimits;
  readonly uses: readonly DiskUse[];
  /** Bytes of each organization in total, by owner. */
  readonly organizations: ReadonlyMap<string, number>;
  /** The reserve is being used, or will be before the next measurement. */
  readonly isReserveAtRisk: boolean;
};

/** `reason`: a sentence for the owner of the agent, which names the limit. */
export type DiskEnd = { readonly id: string; readonly reason: string };

/** Growth up to this, or up to this part of a small reserve, is ordinary work, such as writing a log file. */
const ORDINARY_BYTES = 16 * 1_048_576;
const ORDINARY_PART = 1 / 64;

/**
 * Pure. Chooses the instances and builds to end:
 *
 * 1. all that are above their own limit, or have too many files to count;
 * 2. in each organization above its limit, its member with the most growth;
 * 3. if the reserve is at risk and rules 1 and 2 chose none, the instance or build with the most growth; without measured
 *    growth, with the most bytes written; otherwise one whose size is still unknown.
 */
export function chooseToEnd({ limits, uses, organizations, isReserveAtRisk }: DiskState): readonly DiskEnd[] {
  const ends = new Map<string, string>();
  for (const use of uses) {
    const reason = ownReason(use);
    if (reason !== null) ends.set(use.id, reason);
  }
  for (const [owner, bytes] of organizations) {
    if (bytes <= limits.organizationBytes) continue;
    const members = uses.filter((use) => use.owner === owner);
    if (members.some(({ id, isEnding }) => isEnding || ends.has(id))) continue;
    const most = greatest(members, ({ grownBytes }) => grownBytes, ORDINARY_BYTES);
    if (most === null) continue;
    const used = `The organization used ${mebibytes(bytes)} of disk space, and this ${most.kind} grew the most.`;
    ends.set(most.id, `${used} An organization may use ${mebibytes(limits.organizationBytes)}.`);
  }
  if (isReserveAtRisk && ends.size === 0) {
    const ordinaryBytes = Math.min(ORDINARY_BYTES, limits.reserveBytes * ORDINARY_PART);
    const most =
      greatest(uses, ({ grownBytes }) => grownBytes, ordinaryBytes) ??
      greatest(uses, ({ writtenBytes }) => writtenBytes, ordinaryBytes) ??
      uses.find(({ bytes }) => bytes === null) ??
      null;
    if (most !== null)
      ends.set(most.id, `The disk of the service is almost full, and this ${most.kind} was writing the most to it.`);
  }
  const ending = new Set(uses.filter(({ isEnding }) => isEnding).map(({ id }) => id));
  return [...ends].filter(([id]) => !ending.has(id)).map(([id, reason]) => ({ id, reason }));
}

function ownReason({ kind, bytes, limitBytes, isUncountable }: DiskUse): string | null {
  if (bytes !== null && bytes > limitBytes) {
    const article = kind === 'instance' ? 'An' : 'A';
    return `The ${kind} used ${mebibytes(bytes)} of disk space. ${article} ${kind} may use ${mebibytes(limitBytes)}.`;
  }
  return isUncountable ? `The ${kind} has more files than the service can count in a minute.` : null;
}

function greatest(uses: readonly DiskUse[], of: (use: DiskUse) => number, above: number): DiskUse | null {
  const [most] = [...uses].sort((a, b) => of(b) - of(a));
  return most !== undefined && of(most) > above ? most : null;
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_048_576)} MiB`;
}
