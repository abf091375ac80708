import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentSettings, createApiClient } from '@bothost/contract';
import { inject, vi } from 'vitest';
import { uploadAndBuildProject } from '../../../server/test/support/deploys.ts';
import { talkingBotDirectory } from './local-bot.ts';

export const talkingService = inject('talkingService');
export const talkingClient = createApiClient({ origin: talkingService.origin, key: talkingService.privateKey });

/** Deploys the talking bot, and waits until an instance is ready. `change` edits its code. */
export async function deployTalkingBot(
  agentName: string,
  settings: AgentSettings = {},
  change: (code: string) => string = (code) => code,
): Promise<void> {
  const read = (name: string) => readFile(join(talkingBotDirectory, name), 'utf8');
  const files = { 'bot.py': change(await read('bot.py')), 'pyproject.toml': await read('pyproject.toml') };
  const { id: buildId } = await uploadAndBuildProject({ client: talkingClient }, files);
  const autoScaling = { minAgents: 1, maxAgents: 4 };
  await talkingClient.createAgent({ body: { serviceName: agentName, buildId, autoScaling, ...settings } });
  const isReady = async () => (await talkingClient.getAgent({ params: { agentName } })).ready;
  await vi.waitUntil(isReady, { timeout: 120_000, interval: 500 });
}

/** Stops a session, unless it has ended. */
export async function stopTalkingSession(agentName: string, sessionId: string): Promise<void> {
  await talkingClient.stopSession({ params: { agentName, sessionId } }).catch(() => undefined);
}
