import type { DiskLimits } from '../../runtime.ts';

/** The measured disk use of an instance or build. */
export type DiskUse = {
  readonly id: string;
  readonly kind: 'instance' | 'build';
  /**
   * The owner, such as an organization, as `getProjectOwner` returns it. Null for an instance that an earlier version started.
   */
  readonly owner: string | null;
  readonly limitBytes: number;
  /** Disk use in bytes at the last measurement. Null until the first measurement is complete. */
  readonly bytes: number | null;
  readonly isUncountable: boolean;
  /** Growth of the disk use since the previous measurement, or since `DiskState.isReserveAtRisk` became true. */
  readonly grownBytes: number;
  /** Bytes that the processes wrote to any disk in the same period, even to files that the measurement cannot find. */
  readonly writtenBytes: number;
  readonly isEnding: boolean;
};

export type DiskState = {
  readonly limits: DiskLimits;
  readonly uses: readonly DiskUse[];
  readonly organizations: ReadonlyMap<string, number>;
  /** Whether the free space is below the reserve or will soon be, as `forecastFreeSpace` predicts. */
  readonly isReserveAtRisk: boolean;
};

/**
 * An instance or build to end because of its disk use. `reason` explains this to the agent's owner, in one or two sentences.
 */
export type DiskLimitViolation = { readonly id: string; readonly reason: string };

/** Disk growth that counts as normal: 16 MiB, but while the reserve is at risk, at most 1/64 of the reserve. */
const normalGrowthBytes = 16 * 1_048_576;
const normalGrowthFraction = 1 / 64;

/**
 * Chooses the instances and builds to end, to free disk space:
 *
 * 1. each instance or build that is above its own limit or has too many files to count;
 * 2. in each organization above its limit, the instance or build that grew most;
 * 3. if rules 1 and 2 chose none, and the free space reserved for the service is at risk: the instance or build that grew most.
 *    If none grew more than normal, the instance or build that wrote most. If none wrote more than normal, an instance or build
 *    of unknown size.
 */
export function findDiskLimitViolations({
  limits,
  uses,
  organizations,
  isReserveAtRisk,
}: DiskState): readonly DiskLimitViolation[] {
  const ends = new Map<string, string>();
  for (const use of uses) {
    const reason = ownReason(use);
    if (reason !== null) ends.set(use.id, reason);
  }
  for (const [owner, bytes] of organizations) {
    if (bytes <= limits.organizationBytes) continue;
    const members = uses.filter((use) => use.owner === owner);
    if (members.some(({ id, isEnding }) => isEnding || ends.has(id))) continue;
    const most = greatest(members, ({ grownBytes }) => grownBytes, normalGrowthBytes);
    if (most === null) continue;
    const used = `The organization used ${mebibytes(bytes)} of disk space, and this ${most.kind} grew the most.`;
    ends.set(most.id, `${used} An organization may use ${mebibytes(limits.organizationBytes)}.`);
  }
  if (isReserveAtRisk && ends.size === 0) {
    const ordinaryBytes = Math.min(normalGrowthBytes, limits.reserveBytes * normalGrowthFraction);
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
