import type { BuiltService } from '../../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../../server/test/support/client.ts';

export async function startSession(service: BuiltService, agent: string): Promise<string> {
  const response = await fetch(`${service.origin}/v1/public/${agent}/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: '{}',
  });
  return String(((await response.json()) as { readonly sessionId: unknown }).sessionId);
}

/** Makes the scripted bot `crow` print these lines in a session. */
export async function makeBotPrintLines(
  service: BuiltService,
  sessionId: string,
  lines: readonly string[],
): Promise<void> {
  const client = { url: service.origin, publicKey: service.publicKey };
  await evaluateJavaScriptInBot(client, 'crow', sessionId, `console.log(${JSON.stringify(lines.join('\n'))}); 1`);
}

/** Formats a log line as Pipecat's logger prints it. */
export function formatLogLine(level: string, message: string): string {
  const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
  return `${time} | ${level.padEnd(8)} | bot:run:12 - ${message}`;
}
