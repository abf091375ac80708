import { projectRecordPath } from '../project-file.ts';

/** Descriptions of the project's files by path. Another section of the README describes the files in `client/`. */
const purposes: Readonly<Record<string, string>> = {
  [projectRecordPath]: 'how this project was generated; commit it',
  '.gitignore': 'keeps secrets, recordings and packages out of git',
  'AGENTS.md': 'instructions for coding agents',
  'ASSISTANT.md': 'points an assistant to AGENTS.md',
  'README.md': 'this file',
  'client/': 'the web client',
  'server/.dockerignore': 'files to leave out of the image',
  'server/.env.example': 'all settings and keys, to copy to .env',
  'server/Dockerfile': 'builds an image of the bot',
  'server/bot.py': 'the bot: start here',
  'server/deploy.toml': 'name, size and scaling on the service',
  'server/evals/': 'scenarios that evaluate the bot',
  'server/pyproject.toml': 'dependencies and tool settings',
  'server/server.py': 'the webhook that the carrier calls',
};

/**
 * Generates a code block with a tree of the project's files and their descriptions. `client/` and `server/evals/` are one line
 * each.
 */
export function generateFileTree(root: string, paths: readonly string[]): readonly string[] {
  const folded = paths.map((path) => path.replace(/^(client|server\/evals)\/.*/, '$1/'));
  const all = [...new Set([projectRecordPath, ...folded])].sort();
  const inServer = all.filter((path) => path.startsWith('server/'));
  const outside = all.filter((path) => !path.startsWith('server/'));
  const rows: readonly (readonly [text: string, purpose: string])[] = [
    ...outside.map((path) => [`├── ${path}`, purposes[path] ?? ''] as const),
    ['└── server/', ''],
    ...inServer.map((path, index) => {
      const branch = index === inServer.length - 1 ? '└──' : '├──';
      return [`    ${branch} ${path.slice('server/'.length)}`, purposes[path] ?? ''] as const;
    }),
  ];
  const width = Math.max(...rows.map(([text]) => text.length));
  const lines = rows.map(([text, purpose]) => `${text.padEnd(width)}   ${purpose}`.trimEnd());
  return ['```text', `${root}/`, ...lines, '```'];
}
