import { findNodeVersion, minimumNodeVersion } from '../client/client-package.ts';
import { listClientTransports } from '../client/client-transports.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import { formatWebClientName } from '../configuration/summary.ts';

/**
 * Generates the section about the web client: how to run it, its files, and the hosts that its page contacts. Empty without a
 * client.
 */
export function generateClientSection(plan: ProjectPlan): readonly string[] {
  const { client_framework: framework, client_server: server } = plan.configuration;
  if (framework === null) return [];
  const isNext = server === 'nextjs';
  const node = findNodeVersion(listClientTransports(plan));
  const page = framework === 'react' ? '`src/talk.tsx`, `src/details.tsx`' : '`index.html`, `src/main.ts`';
  return [
    [
      '## Client',
      '',
      `A web client: ${formatWebClientName(plan.configuration)}. You need [Node.js](https://nodejs.org) ${node} or later.`,
      '',
      '1. Start the bot, as described above.',
      '2. Start the client in another terminal:',
      '',
      '   ```sh',
      '   cd client',
      '   npm install',
      '   npm run dev',
      '   ```',
      '',
      `3. Open ${isNext ? 'http://localhost:3000' : 'http://localhost:5173'} and press **Talk**.`,
      '',
      '`client/.env.example` explains how to use a bot on the service instead. `npm run build` checks the types and builds the',
      `client; \`npm run lint\` finds mistakes. ${page} and \`src/style.css\` define the look of the page.`,
      '`src/conversation.ts` manages a conversation and is independent of how it is shown.',
      '',
      isNext
        ? 'The key stays on the server of the page: `src/app/api` forwards the requests of the browser.'
        : 'The key is part of the page, where everybody can see it. Use a public key: it can only start sessions.',
      'Browsers allow the microphone only on pages at https:// addresses or on localhost.',
      ...(node === minimumNodeVersion
        ? ['npm may warn that a package needs a newer Node.js. You can ignore that: the package runs in the browser.']
        : []),
      ...contactedHosts(plan, isNext),
    ].join('\n'),
  ];
}

function contactedHosts(plan: ProjectPlan, isNext: boolean): readonly string[] {
  const hosted = plan.transports.some(({ value }) => value === 'hostedrtc');
  const missing = plan.transports.filter(({ client }) => client === undefined);
  return [
    '',
    ...(hosted
      ? [
          'For a hosted room, the page loads the room vendor’s code from c.daily.co, and that code sends error reports to',
          'sentry.io. The other transports contact only the bot.',
        ]
      : ['The page loads nothing from third parties and contacts only the bot.']),
    ...(isNext || hosted
      ? []
      : [
          'A content security policy that works for the page, with the service at HOST:',
          '',
          '```',
          contentSecurityPolicy('HOST'),
          '```',
        ]),
    ...missing.flatMap(({ label }) => [
      '',
      `The client does not offer ${label}: no client package for it is published.`,
    ]),
  ];
}

/**
 * Returns the content security policy for a page that is built with Vite and uses no Daily rooms. `blob:` allows the audio
 * worklet, whose script the page creates as a blob.
 */
function contentSecurityPolicy(host: string): string {
  return [
    "default-src 'self'",
    "script-src 'self' blob:",
    `connect-src 'self' https://${host} wss://${host}`,
    "media-src 'self' blob:",
    "img-src 'self' data:",
  ].join('; ');
}
