import type { DeploySource } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';

/** Added to the rest of a session, so that the session is stopped at its time limit before its instance is killed. */
const marginMs = 60_000;

/** A bot that runs a session, and that may have a status route. */
type SessionBot = { readonly instanceId: string; readonly reportsSession: boolean };

/**
 * Whether a bot must be asked to exit after its session, because nothing else shows the end of the session once the connection of
 * `POST /bot` is lost. Images for Pipecat Cloud are like this. A bot from a project exits by itself (docs/bot-contract.md, "End of a
 * session").
 */
export function mustDrain(host: { readonly accepts: DeploySource }, bot: Pick<SessionBot, 'reportsSession'>): boolean {
  return host.accepts === 'image' && !bot.reportsSession;
}

/**
 * Sends SIGTERM to a bot for which `mustDrain` is true, and resolves once it has exited, which ends its session. The bot has until
 * `limit`, the time limit of its session.
 */
export async function drainBot(
  context: {
    readonly now: () => Date;
    readonly logger: Pick<Logger, 'info'>;
    readonly host: { readonly accepts: DeploySource };
    readonly runtime: Pick<Runtime, 'stop'>;
  },
  bot: SessionBot,
  limit: Date,
): Promise<void> {
  if (!mustDrain(context.host, bot)) return;
  context.logger.info({ instanceId: bot.instanceId }, 'bot asked to exit after its session');
  await context.runtime.stop(bot.instanceId, Math.max(limit.getTime() - context.now().getTime(), 0) + marginMs);
}
