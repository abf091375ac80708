import type { Transport } from '../catalogue/transport.ts';
import { formatTransportName, transports } from '../catalogue/transports.ts';
import {
  type BotType,
  type ClientFramework,
  type ClientWebServer,
  clientFrameworkAnswers,
  clientWebServers,
  type ProjectConfiguration,
} from './configuration.ts';
import type { ProjectOptions } from './fields.ts';
import { type IssueReporter, joinWords, parseEnumeratedOption } from './issues.ts';

type Client = Pick<ProjectConfiguration, 'generate_client' | 'client_framework' | 'client_server'>;

/** Decides which web client is generated. The framework `none` means the same as no framework. */
export function resolveWebClientOptions(
  options: ProjectOptions,
  botType: BotType,
  chosen: readonly Transport[],
  addIssue: IssueReporter,
): Client {
  const answer = parseEnumeratedOption(clientFrameworkAnswers, options.client_framework, 'client_framework', addIssue);
  const framework = answer === 'none' ? null : answer;
  const server = parseEnumeratedOption(clientWebServers, options.client_server, 'client_server', addIssue);
  // Check both the bot type and the transports, because invalid options can combine a web bot with phone transports.
  // `resolveBotType` reports that contradiction.
  const isPhone = chosen.length > 0 && chosen.every(({ group }) => group === 'telephony');
  if (framework !== null && (botType === 'telephony' || isPhone)) {
    addIssue('client_framework', 'web clients are only for web bots, because a phone bot needs no client');
  }
  if (options.client_framework === undefined && server !== null) {
    addIssue('client_server', '--client-server can be used only with --client-framework react or vanilla');
  }
  if (framework === 'vanilla' && server === 'nextjs')
    addIssue('client_server', '--client-server nextjs can be used only with --client-framework react');
  const reachable = chosen.length === 0 || chosen.some(worksInClient);
  if (framework !== null && botType === 'web' && !isPhone && !reachable) {
    addIssue(
      'client_framework',
      `a web client cannot use ${joinWords(chosen.map(formatTransportName))}: its Pipecat client package is not published. ` +
        `Add ${joinWords(transports.filter(worksInClient).map(formatTransportName))}, or choose no client`,
    );
  }
  return {
    generate_client: framework !== null,
    client_framework: framework,
    client_server: resolveServer(framework, server),
  };
}

function worksInClient({ client }: Transport): boolean {
  return client !== undefined;
}

function resolveServer(framework: ClientFramework | null, answer: ClientWebServer | null): ClientWebServer | null {
  if (framework === null) return null;
  return framework === 'vanilla' ? 'vite' : (answer ?? 'vite');
}
