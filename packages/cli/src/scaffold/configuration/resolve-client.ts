import type { Transport } from '../catalogue/transport.ts';
import {
  type BotType,
  type ClientFramework,
  type ClientServer,
  type Configuration,
  clientFrameworks,
  clientServers,
} from './configuration.ts';
import type { Given } from './fields.ts';
import { type AddIssue, oneOf } from './issues.ts';

type Client = Pick<Configuration, 'generate_client' | 'client_framework' | 'client_server'>;

/** Whether a web client is generated, and which. `none` is the same as saying nothing. */
export function resolveClient(
  given: Given,
  botType: BotType,
  chosen: readonly Transport[],
  addIssue: AddIssue,
): Client {
  const asked = oneOf([...clientFrameworks, 'none'], given.client_framework, 'client_framework', addIssue);
  const framework = asked === 'none' ? null : asked;
  const server = oneOf(clientServers, given.client_server, 'client_server', addIssue);
  // Also where the type contradicts the transports: that is an issue by itself.
  const isPhone = chosen.length > 0 && chosen.every(({ group }) => group === 'telephony');
  if (framework !== null && (botType === 'telephony' || isPhone)) {
    addIssue('client_framework', 'is for web bots: a telephone needs no client');
  }
  if (given.client_framework === undefined && server !== null) {
    addIssue('client_server', 'needs a client: name the framework too');
  }
  if (framework === 'vanilla' && server === 'nextjs') addIssue('client_server', 'cannot be nextjs without react');
  const reachable = chosen.length === 0 || chosen.some(({ value, group }) => group === 'web' && value !== 'livekit');
  if (framework !== null && botType === 'web' && !isPhone && !reachable) {
    addIssue(
      'client_framework',
      'cannot be made for livekit alone: its client package is not published, and the service hands out no tokens for its ' +
        'rooms. Choose lightrtc, hostedrtc or websocket beside it, or no client',
    );
  }
  return {
    generate_client: framework !== null,
    client_framework: framework,
    client_server: serverOf(framework, server),
  };
}

function serverOf(framework: ClientFramework | null, asked: ClientServer | null): ClientServer | null {
  if (framework === null) return null;
  return framework === 'vanilla' ? 'vite' : (asked ?? 'vite');
}
