import type { ProjectPlan } from '../configuration/plan.ts';

/** The upper version bound of pipecat-ai. Generated code is tested only with releases 1.x. */
const bound = '<2';

export function listDependencies({ configuration, extras, lowest }: ProjectPlan): readonly string[] {
  const observed = configuration.enable_observability ? ['pipecat-ai-whisker>=2.0.0,<3'] : [];
  return [`pipecat-ai[${extras.join(',')}]>=${lowest.library},${bound}`, ...observed];
}

/**
 * Generates `server/pyproject.toml`. The packages for `pipecat eval` download speech models. They are in a separate dependency
 * group, which container images do not install.
 */
export function generatePyproject(plan: ProjectPlan): string {
  const { configuration, lowest } = plan;
  const groups = [
    list('dev', ['"pyright>=1.1.404,<2"', '"ruff>=0.12.11,<1"']),
    ...(configuration.enable_eval ? [list('evals', [`"pipecat-ai[evals]>=${lowest.library},${bound}"`])] : []),
  ];
  return `${[
    '[project]',
    `name = "${plan.slug}"`,
    'version = "0.1.0"',
    `description = ${JSON.stringify(`${configuration.project_name}: a voice bot`)}`,
    `requires-python = ">=${lowest.python}"`,
    list(
      'dependencies',
      listDependencies(plan).map((one) => `"${one}"`),
    ),
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
