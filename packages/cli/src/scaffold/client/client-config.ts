import type { ProjectPlan } from '../configuration/plan.ts';
import type { ClientKind } from './client-kind.ts';

/**
 * Generates `src/config.ts`, which contains the URL to which the page sends start requests. With Next.js, the URL is a route of
 * the page's own server, which adds the API key.
 */
export function generateConfigFile(plan: ProjectPlan, kind: ClientKind): string {
  const hasServer = kind === 'react-nextjs';
  const lines = [
    `export const name = ${quoted(plan.configuration.project_name)};`,
    '',
    '/** Whether the bot gets the camera video. */',
    `export const camera = ${plan.configuration.video_input};`,
    '',
    ...(hasServer
      ? [
          '/** Answered by the server of this page, which forwards the request with the key. */',
          "export const startUrl = '/api/start';",
          '',
          'export const startHeaders: Record<string, string> = {};',
        ]
      : [
          'const key = import.meta.env.VITE_BOT_START_PUBLIC_API_KEY;',
          '',
          '/** The runner on this machine, or the hosting service. */',
          'export const startUrl = import.meta.env.VITE_BOT_START_URL || ' + "'http://localhost:7860/start';",
          '',
          '/** A public key, which can only start sessions: everybody can see it in the page. */',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a template literal of the generated file
          'export const startHeaders: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {};',
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Generates `client/.env.example`. Without variables from an `.env` file, the client uses a bot on the same machine. */
export function generateEnvExample(plan: ProjectPlan, kind: ClientKind): string {
  const prefix = kind === 'react-nextjs' ? '' : 'VITE_';
  const file = kind === 'react-nextjs' ? '.env.local' : '.env';
  const lines = [
    `# By default the client talks to the bot on your machine. To talk to one on the service, copy this file to ${file}`,
    '# and remove the # from both variables. HOST is the name of the service. Use a public key.',
    `# ${prefix}BOT_START_URL=https://HOST/v1/public/${plan.slug}/start`,
    `# ${prefix}BOT_START_PUBLIC_API_KEY=pk_...`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Quotes a string with the quotes that need fewer escapes, as formatters do. */
function quoted(text: string): string {
  if (text.split("'").length > text.split('"').length) return JSON.stringify(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
