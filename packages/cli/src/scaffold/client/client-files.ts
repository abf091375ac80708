import biome from '../../../templates/client/any-framework/biome.json?raw';
import browserMedia from '../../../templates/client/any-framework/browser-media.ts?raw';
import conversation from '../../../templates/client/any-framework/conversation.ts?raw';
import errorMessages from '../../../templates/client/any-framework/error-messages.ts?raw';
import phases from '../../../templates/client/any-framework/phases.ts?raw';
import style from '../../../templates/client/any-framework/style.css?raw';
import details from '../../../templates/client/react/details.tsx?raw';
import talk from '../../../templates/client/react/talk.tsx?raw';
import useConversation from '../../../templates/client/react/use-conversation.ts?raw';
import botService from '../../../templates/client/react-nextjs/bot-service.ts?raw';
import layout from '../../../templates/client/react-nextjs/layout.tsx?raw';
import nextConfig from '../../../templates/client/react-nextjs/next.config.ts?raw';
import page from '../../../templates/client/react-nextjs/page.tsx?raw';
import sessionRoute from '../../../templates/client/react-nextjs/session-route.ts?raw';
import startRoute from '../../../templates/client/react-nextjs/start-route.ts?raw';
import nextTypes from '../../../templates/client/react-nextjs/tsconfig.json?raw';
import reactIndex from '../../../templates/client/react-vite/index.html?raw';
import reactMain from '../../../templates/client/react-vite/main.tsx?raw';
import reactTypes from '../../../templates/client/react-vite/tsconfig.json?raw';
import viteConfig from '../../../templates/client/react-vite/vite.config.ts?raw';
import viteEnvironment from '../../../templates/client/react-vite/vite-env.d.ts?raw';
import vanillaIndex from '../../../templates/client/vanilla/index.html?raw';
import vanillaMain from '../../../templates/client/vanilla/main.ts?raw';
import vanillaTypes from '../../../templates/client/vanilla/tsconfig.json?raw';
import type { ProjectPlan } from '../configuration/plan.ts';
import type { ProjectFile } from '../project-file.ts';
import { generateConfigFile, generateEnvExample } from './client-config.ts';
import { type ClientKind, resolveClientKind } from './client-kind.ts';
import { generatePackageJson } from './client-package.ts';
import { generateTransportsFile, listClientTransports } from './client-transports.ts';

/** Files that are the same in all clients of one kind, by path in `client/`. */
const fixed: Readonly<Record<ClientKind, Readonly<Record<string, string>>>> = {
  vanilla: {
    'index.html': vanillaIndex,
    'src/main.ts': vanillaMain,
    'src/vite-env.d.ts': viteEnvironment,
    'tsconfig.json': vanillaTypes,
  },
  'react-vite': {
    'index.html': reactIndex,
    'src/main.tsx': reactMain,
    'src/details.tsx': details,
    'src/talk.tsx': talk,
    'src/use-conversation.ts': useConversation,
    'src/vite-env.d.ts': viteEnvironment,
    'tsconfig.json': reactTypes,
    'vite.config.ts': viteConfig,
  },
  'react-nextjs': {
    'next.config.ts': nextConfig,
    'src/app/api/start/route.ts': startRoute,
    'src/app/layout.tsx': layout,
    'src/app/page.tsx': page,
    'src/bot-service.ts': botService,
    'src/details.tsx': details,
    'src/talk.tsx': talk,
    'src/use-conversation.ts': useConversation,
    'tsconfig.json': nextTypes,
  },
};

const anyFramework: Readonly<Record<string, string>> = {
  'biome.json': biome,
  'src/conversation.ts': conversation,
  'src/error-messages.ts': errorMessages,
  'src/phases.ts': phases,
  'src/style.css': style,
};

/** Generates the files in `client/`, a web client that starts sessions and connects to the bot. */
export function generateClientFiles(plan: ProjectPlan): readonly ProjectFile[] {
  const kind = resolveClientKind(plan);
  const transports = listClientTransports(plan);
  const hasPeers = transports.some(({ isPeerToPeer }) => isPeerToPeer);
  const forwardsOffers = kind === 'react-nextjs' && hasPeers;
  const files = {
    ...anyFramework,
    ...fixed[kind],
    ...(forwardsOffers ? { 'src/app/api/sessions/[sessionId]/[...path]/route.ts': sessionRoute } : {}),
    ...(hasPeers ? { 'src/browser-media.ts': browserMedia } : {}),
    '.env.example': generateEnvExample(plan, kind),
    'package.json': generatePackageJson(plan, kind, transports),
    'src/config.ts': generateConfigFile(plan, kind),
    'src/transports.ts': generateTransportsFile(transports),
  };
  return Object.entries(files).map(([path, text]) => ({ path: `client/${path}`, text }));
}
