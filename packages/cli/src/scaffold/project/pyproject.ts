import type { Plan } from './plan.ts';

/** The releases that generated code is checked with: nothing that 2.0 takes away is used. */
const bound = '<2';

/** `server/pyproject.toml`. Evaluations bring speech models, so they are a group of their own and in no image. */
export function pyprojectFile(plan: Plan): string {
  const { configuration, lowest } = plan;
  const library = (extras: readonly string[], lower: string) => `"pipecat-ai[${extras.join(',')}]>=${lower},${bound}"`;
  const observed = configuration.enable_observability ? ['"pipecat-ai-whisker>=2.0.0,<3"'] : [];
  const groups = [
    list('dev', ['"pyright>=1.1.404,<2"', '"ruff>=0.12.11,<1"']),
    ...(configuration.enable_eval ? [list('evals', [library(['evals'], lowest.library)])] : []),
  ];
  return `${[
    '[project]',
    `name = "${plan.slug}"`,
    'version = "0.1.0"',
    `description = ${JSON.stringify(`${configuration.project_name}: a voice bot`)}`,
    `requires-python = ">=${lowest.python}"`,
    list('dependencies', [library(plan.extras, lowest.library), ...observed]),
    '',
    '[dependency-groups]',
    ...groups,
    '',
    '[tool.ruff]',
    'line-length = 100',
    '',
    '[tool.ruff.lint]',
    'select = ["E4", "E7", "E9", "F", "I", "UP"]',
    '',
    '[tool.pyright]',
    'include = ["."]',
    'exclude = [".venv", "recordings"]',
    'venvPath = "."',
    'venv = ".venv"',
  ].join('\n')}\n`;
}

function list(name: string, items: readonly string[]): string {
  return `${name} = [\n${items.map((item) => `    ${item},\n`).join('')}]`;
}
