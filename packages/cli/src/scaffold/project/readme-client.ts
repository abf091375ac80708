import { nodeFor, oldestNode } from '../client/client-package.ts';
import type { Plan } from '../configuration/plan.ts';

/** How to run the client, where things are in it, and whom its page asks for anything. Nothing without a client. */
export function clientSection(plan: Plan): readonly string[] {
  const { client_framework: framework, client_server: server } = plan.configuration;
  if (framework === null) return [];
  const isNext = server === 'nextjs';
  const name = isNext ? 'React and Next.js' : framework === 'react' ? 'React and Vite' : 'plain TypeScript and Vite';
  const node = nodeFor(plan.transports);
  const page = framework === 'react' ? '`src/talk.tsx`' : '`index.html`, `src/main.ts`';
  return [
    [
      '## Client',
      '',
      `A web client in ${name}. You need Node.js ${node} or later. With the bot running:`,
      '',
      '```sh',
      'cd client',
      'npm install',
      'npm run dev',
      '```',
      '',
      '`client/.env.example` explains how to use a bot on the service instead. `npm run build` checks the types and builds the',
      `client; \`npm run lint\` looks for mistakes. ${page} and \`src/style.css\` define what people see.`,
      '`src/conversation.ts` manages a conversation and is independent of how it is shown.',
      '',
      isNext
        ? 'The key stays on the server of the page: `src/app/api` forwards the requests of the browser.'
        : 'The key is part of the page, where everybody can see it. Use a public key: it can only start sessions.',
      'Browsers allow the microphone only on pages at https:// addresses or on localhost.',
      ...(node === oldestNode
        ? ['npm may warn that a package needs a newer Node.js. You can ignore that: the package runs in the browser.']
        : []),
      ...others(plan, isNext),
    ].join('\n'),
  ];
}

/** Whom a page asks besides the bot. */
function others(plan: Plan, isNext: boolean): readonly string[] {
  const hosted = plan.transports.some(({ value }) => value === 'hostedrtc');
  const left = plan.transports.some(({ value }) => value === 'livekit');
  return [
    '',
    ...(hosted
      ? [
          'For a hosted room, the page loads the room vendor’s code from c.daily.co, and that code sends error reports to',
          'sentry.io. The other ways to connect contact only the bot.',
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
    ...(left ? ['', 'The client does not offer LiveKit: no client package for it is published.'] : []),
  ];
}

/** For a page built by Vite, without hosted rooms. `blob:` is for the audio worklet, a script that the page creates itself. */
function contentSecurityPolicy(host: string): string {
  return [
    "default-src 'self'",
    "script-src 'self' blob:",
    `connect-src 'self' https://${host} wss://${host}`,
    "media-src 'self' blob:",
    "img-src 'self' data:",
  ].join('; ');
}
