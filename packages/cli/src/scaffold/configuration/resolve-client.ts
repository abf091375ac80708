import type { Transport } from '../catalogue/transport.ts';
import { displayName, transports } from '../catalogue/transports.ts';
import {
  type BotType,
  type ClientFramework,
  type ClientServer,
  type Configuration,
  clientFrameworks,
  clientServers,
} from './configuration.ts';
import type { ProjectOptions } from './fields.ts';
import { type AddIssue, listed, oneOf } from './issues.ts';

type Client = Pick<Configuration, 'generate_client' | 'client_framework' | 'client_server'>;

/** Decides which web client is generated, if any. `none` means the same as no answer. */
export function resolveClient(
  options: ProjectOptions,
  botType: BotType,
  chosen: readonly Transport[],
  addIssue: AddIssue,
): Client {
  const answer = oneOf([...clientFrameworks, 'none'], options.client_framework, 'client_framework', addIssue);
  const framework = answer === 'none' ? null : answer;
  const server = oneOf(clientServers, options.client_server, 'client_server', addIssue);
  // A bot type that contradicts the transports is an issue of its own.
  const isPhone = chosen.length > 0 && chosen.every(({ group }) => group === 'telephony');
  if (framework !== null && (botType === 'telephony' || isPhone)) {
    addIssue('client_framework', 'is for web bots only: a phone bot needs no client');
  }
  if (options.client_framework === undefined && server !== null) {
    addIssue('client_server', 'needs a client: choose the framework, too');
  }
  if (framework === 'vanilla' && server === 'nextjs') addIssue('client_server', 'cannot be nextjs without react');
  const reachable = chosen.length === 0 || chosen.some(worksInClient);
  if (framework !== null && botType === 'web' && !isPhone && !reachable) {
    addIssue(
      'client_framework',
      'is not available for livekit alone: the client package for it is not published, and the service issues no tokens ' +
        `for its rooms. Add ${listed(transports.filter(worksInClient).map(displayName))}, or choose no client`,
    );
  }
  return {
    generate_client: framework !== null,
    client_framework: framework,
    client_server: serverOf(framework, server),
  };
}

function worksInClient({ value, group }: Transport): boolean {
  return group === 'web' && value !== 'livekit';
}

function serverOf(framework: ClientFramework | null, answer: ClientServer | null): ClientServer | null {
  if (framework === null) return null;
  return framework === 'vanilla' ? 'vite' : (answer ?? 'vite');
}
