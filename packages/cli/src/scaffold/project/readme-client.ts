import { nodeFor, oldestNode } from '../client/client-package.ts';
import { contentSecurityPolicy } from '../client/content-security-policy.ts';
import type { Plan } from './plan.ts';

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
      '`client/.env.example` says how it reaches a bot on the service instead. `npm run build` checks its types and builds it,',
      `\`npm run lint\` looks for mistakes. ${page} and \`src/style.css\` are what people see; \`src/conversation.ts\` holds a`,
      'conversation and knows nothing of how it is shown.',
      '',
      isNext
        ? 'The key stays on the server of the page: `src/app/api` hands on what the browser asks.'
        : 'The key is in the page, for everybody to see: it has to be a public one, which may start sessions and do nothing else.',
      'Browsers give microphones only to pages at https:// addresses or on localhost.',
      ...(node === oldestNode
        ? ['npm may warn that a package wants a newer Node.js: that one runs in the browser, where it does not matter.']
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
          'For a hosted room the page loads the program of the rooms’ vendor from c.daily.co, and that program sends reports of',
          'its errors to sentry.io. The other ways to connect ask nobody but the bot.',
        ]
      : ['The page loads nothing from third parties and asks nobody but the bot.']),
    ...(isNext || hosted
      ? []
      : [
          'A content security policy that it works under, with the service at HOST:',
          '',
          '```',
          contentSecurityPolicy('HOST'),
          '```',
        ]),
    ...(left ? ['', 'LiveKit is not offered by the client: no client package for it is published.'] : []),
  ];
}
