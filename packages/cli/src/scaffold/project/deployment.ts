import type { ProjectPlan } from '../configuration/plan.ts';
import { listRequiredEnvironmentVariables } from './variables.ts';

export function formatSecretSetName(plan: ProjectPlan): string {
  return `${plan.slug}-secrets`;
}

/** The base image, pinned so that builds are reproducible. Its tags: https://github.com/daily-co/pipecat-cloud-images. */
const baseImage = 'dailyco/pipecat-base:0.1.27-py3.12';

/** Generates `server/Dockerfile`. Dependencies come first, so that a change to the bot's code rebuilds only one small layer. */
export function generateDockerfile(): string {
  return `${[
    `FROM ${baseImage}`,
    '',
    'ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy',
    '',
    '# With a lock file (uv lock), the image has exactly the versions that you tested; without one, the latest that fit.',
    '# --inexact keeps the packages of the program that starts the bot: the base image has them in the same environment.',
    'COPY pyproject.toml uv.lock* ./',
    'RUN --mount=type=cache,target=/root/.cache/uv \\',
    '    if [ -f uv.lock ]; then uv sync --inexact --locked --no-install-project --no-dev; \\',
    '    else uv sync --inexact --no-install-project --no-dev; fi',
    '',
    'COPY bot.py ./',
  ].join('\n')}\n`;
}

export function generateDockerignore(): string {
  return `${['.env', '.env.*', '.venv/', '__pycache__/', 'recordings/', 'eval-runs/', '.ruff_cache/'].join('\n')}\n`;
}

/** Generates `server/deploy.toml`. A bot with video needs a larger instance. */
export function generateDeployFile(plan: ProjectPlan): string {
  const profile = plan.configuration.video_output || plan.configuration.video_input ? 'agent-2x' : 'agent-1x';
  const secrets =
    listRequiredEnvironmentVariables(plan).length > 0 ? [`secret_set = "${formatSecretSetName(plan)}"`] : [];
  return `${[
    `agent_name = "${plan.slug}"`,
    ...secrets,
    `agent_profile = "${profile}"`,
    ...(plan.has('stream')
      ? [
          `# Your own call documents connect without a token. Remove this setting if you use "botcli cloud phone ${plan.slug}".`,
          'websocket_auth = "none"',
        ]
      : []),
    '',
    '[scaling]',
    '# Instances that are kept ready. With 0 the first session waits until an instance has started; with 1 it starts at once.',
    '# The default is 0, and 1 for an image, because a container takes longer to start.',
    '# min_agents = 1',
    'max_agents = 10',
  ].join('\n')}\n`;
}

export function generateGitignore(plan: ProjectPlan): string {
  const client = plan.configuration.generate_client
    ? ['', '# Client', ...clientWaste.map((path) => `client/${path}`)]
    : [];
  return `${[
    '# Secrets',
    'server/.env',
    '',
    '# Python',
    'server/.venv/',
    '__pycache__/',
    '.ruff_cache/',
    '.pytest_cache/',
    '',
    '# Files that the bot writes',
    'server/recordings/',
    'server/eval-runs/',
    ...client,
  ].join('\n')}\n`;
}

const clientWaste = ['node_modules/', 'dist/', '.next/', 'next-env.d.ts', '*.tsbuildinfo', '.env', '.env.local'];
