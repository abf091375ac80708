import { generateClientFiles } from '../client/client-files.ts';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { createProjectPlan, type ProjectPlan } from '../configuration/plan.ts';
import type { ProjectFile } from '../project-file.ts';
import { generateBotFile } from './bot.ts';
import { generateDeployFile, generateDockerfile, generateDockerignore, generateGitignore } from './deployment.ts';
import { generateEnvExample } from './env-example.ts';
import { generateEvalFiles } from './evals.ts';
import { generatePyproject } from './pyproject.ts';
import { generateReadme } from './readme.ts';
import { generateWebhookFile } from './webhook.ts';

/**
 * Generates all files of a project, sorted by path, except the guides and `.botcli/project.json`. Does not access the file
 * system.
 */
export function generateProjectFiles(configuration: ProjectConfiguration): readonly ProjectFile[] {
  const plan = createProjectPlan(configuration);
  const client = configuration.generate_client ? generateClientFiles(plan) : [];
  const files = [...serverFiles(plan), ...client, { path: '.gitignore', text: generateGitignore(plan) }];
  const paths = [...files.map(({ path }) => path), 'AGENTS.md', 'ASSISTANT.md', 'README.md'].sort();
  return [...files, { path: 'README.md', text: generateReadme(plan, paths) }].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  );
}

function serverFiles(plan: ProjectPlan): readonly ProjectFile[] {
  const webhook = generateWebhookFile(plan);
  return [
    { path: 'server/bot.py', text: generateBotFile(plan) },
    ...(webhook === null ? [] : [{ path: 'server/server.py', text: webhook }]),
    { path: 'server/pyproject.toml', text: generatePyproject(plan) },
    { path: 'server/.env.example', text: generateEnvExample(plan) },
    ...(plan.configuration.enable_eval ? generateEvalFiles(plan) : []),
    ...(plan.configuration.deploy_to_cloud
      ? [
          { path: 'server/Dockerfile', text: generateDockerfile() },
          { path: 'server/.dockerignore', text: generateDockerignore() },
          { path: 'server/deploy.toml', text: generateDeployFile(plan) },
        ]
      : []),
  ];
}
