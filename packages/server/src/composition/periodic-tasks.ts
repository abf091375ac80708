import type { DirectoryTreeRemover } from '@bothost/runtime';
import { purgeExpiredAccountData } from '../accounts/purge.ts';
import type { RefusalLog } from '../audit/refusals.ts';
import { purgeAudit } from '../audit/retention.ts';
import { type ConversationRetention, purgeConversations, removeOrphanedContent } from '../conversations/retention.ts';
import { type RegionHost, recordHeartbeat } from '../instances/host.ts';
import { type LogRetention, purgeLogs, removeOrphanedLogs } from '../logs/retention.ts';
import type { Sampler } from '../metrics/sampler.ts';
import { purgeRefusedCalls } from '../phone/retention.ts';
import { purgeRoomRecords } from '../rooms/retention.ts';
import { logPendingSecretDeliveries } from '../secrets/watch.ts';
import { purgeSessions } from '../sessions/retention.ts';
import { createStatisticsRollUp } from '../sessions/roll-up-statistics.ts';
import type { StoreContext } from '../store/store-context.ts';
import { purgeWebhookDeliveries } from '../webhooks/retention.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger'> & {
  readonly host: RegionHost;
  readonly removeTree: DirectoryTreeRemover;
  readonly sampler: Sampler;
  /** Interval in seconds at which the runtime has new usage. */
  readonly sampleSeconds: number;
  readonly retentionDays: number;
  readonly logs: LogRetention & { readonly logsDirectory: string };
  readonly conversations: ConversationRetention & { readonly conversationsDirectory: string };
  readonly removeUnusedBuilds: () => Promise<void>;
  /** Deletes unused revisions of secret sets. */
  readonly pruneRevisions: () => Promise<unknown>;
  readonly auditRetentionDays: number;
  readonly webhookRetentionDays: number;
  readonly evaluateAlerts: () => Promise<void>;
  readonly refusals: Pick<RefusalLog, 'recordLeftOut'>;
};

const second = 1_000;
const storeSeconds = 5;
const omittedRefusalsSeconds = 60;
const watchSeconds = 60;
const purgeSeconds = 600;
const alertSeconds = 15;
const rollUpSeconds = 300;
const orphanSeconds = 21_600;

/** Starts the periodic tasks. The heartbeat runs every second, and the other tasks run as often or less often. */
export function startPeriodicTasks(context: Context): { readonly stop: () => Promise<void> } {
  const { sampler } = context;
  const removal = { ...context, ...context.logs, ...context.conversations };
  const rounds = [
    every(context.sampleSeconds * second, () => sampler.sample()),
    every(second, () => recordHeartbeat(context, context.host)),
    every(storeSeconds * second, () => sampler.store()),
    every(purgeSeconds * second, async () => void (await purgeSessions(context, context.retentionDays))),
    every(rollUpSeconds * second, createStatisticsRollUp(context)),
    every(purgeSeconds * second, async () => void (await purgeLogs({ ...context, ...context.logs }, context.logs))),
    every(purgeSeconds * second, () => purgeRoomRecords(context)),
    every(purgeSeconds * second, () => purgeRefusedCalls(context, context.logs.days)),
    every(orphanSeconds * second, () => removeOrphanedLogs({ ...context, ...context.logs })),
    every(purgeSeconds * second, () => purgeConversations(removal, context.conversations)),
    every(orphanSeconds * second, () => removeOrphanedContent(removal)),
    every(purgeSeconds * second, context.removeUnusedBuilds),
    every(purgeSeconds * second, async () => void (await context.pruneRevisions())),
    every(watchSeconds * second, async () => void (await logPendingSecretDeliveries(context))),
    every(purgeSeconds * second, async () => void (await purgeAudit(context, context.auditRetentionDays))),
    every(purgeSeconds * second, () => purgeWebhookDeliveries(context, context.webhookRetentionDays)),
    every(alertSeconds * second, context.evaluateAlerts),
    every(omittedRefusalsSeconds * second, context.refusals.recordLeftOut),
    every(purgeSeconds * second, () => purgeExpiredAccountData(context)),
  ];

  /** Runs a task periodically, never twice at a time. Logs a failure and tries again at the next interval. */
  function every(milliseconds: number, work: () => Promise<void>) {
    let running: Promise<void> | null = null;
    const round = () => {
      running ??= work()
        .catch((error: unknown) => context.logger.warn({ err: error }, 'periodic task failed'))
        .finally(() => {
          running = null;
        });
    };
    const timer = setInterval(round, milliseconds);
    return { timer, settled: () => running };
  }

  return {
    stop: async () => {
      for (const { timer } of rounds) clearInterval(timer);
      await Promise.all(rounds.map((round) => round.settled()));
      await sampler.store().catch(() => undefined);
      await context.refusals.recordLeftOut().catch(() => undefined);
    },
  };
}
