import { clientFiles } from '../client/client-files.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { type Plan, planOf } from '../configuration/plan.ts';
import type { ProjectFile } from '../project-file.ts';
import { botFile } from './bot.ts';
import { deployFile, dockerfile, dockerignoreFile, gitignoreFile } from './deployment.ts';
import { envExampleFile } from './env-example.ts';
import { evalFiles } from './evals.ts';
import { pyprojectFile } from './pyproject.ts';
import { readmeFile } from './readme.ts';
import { webhookFile } from './webhook.ts';

/** Generates all files of a project except guides and answers, sorted by path. Reads and writes nothing. */
export function projectFiles(configuration: Configuration): readonly ProjectFile[] {
  const plan = planOf(configuration);
  const client = configuration.generate_client ? clientFiles(plan) : [];
  const files = [...serverFiles(plan), ...client, { path: '.gitignore', text: gitignoreFile(plan) }];
  const paths = [...files.map(({ path }) => path), 'AGENTS.md', 'ASSISTANT.md', 'README.md'].sort();
  return [...files, { path: 'README.md', text: readmeFile(plan, paths) }].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function serverFiles(plan: Plan): readonly ProjectFile[] {
  const webhook = webhookFile(plan);
  return [
    { path: 'server/bot.py', text: botFile(plan) },
    ...(webhook === null ? [] : [{ path: 'server/server.py', text: webhook }]),
    { path: 'server/pyproject.toml', text: pyprojectFile(plan) },
    { path: 'server/.env.example', text: envExampleFile(plan) },
    ...(plan.configuration.enable_eval ? evalFiles(plan) : []),
    ...(plan.configuration.deploy_to_cloud
      ? [
          { path: 'server/Dockerfile', text: dockerfile() },
          { path: 'server/.dockerignore', text: dockerignoreFile() },
          { path: 'server/deploy.toml', text: deployFile(plan) },
        ]
      : []),
  ];
}
