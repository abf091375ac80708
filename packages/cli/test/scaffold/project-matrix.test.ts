import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { checkDeployFile, isReservedSecretKey } from '@bothost/contract';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import type { ProjectConfiguration } from '../../src/scaffold/configuration/configuration.ts';
import { createProjectPlan, type ProjectPlan } from '../../src/scaffold/configuration/plan.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { groupEnvironmentVariables } from '../../src/scaffold/project/variables.ts';
import type { ProjectFile } from '../../src/scaffold/project-file.ts';
import { projectMatrix } from './project-matrix.ts';

const lint = { select: ['E4', 'E7', 'E9', 'F', 'I', 'UP', 'B', 'RUF100'] };
const ruff = new Workspace({ 'line-length': 100, 'target-version': 'py311', lint }, PositionEncoding.Utf16);

describe.each(projectMatrix)('the project with %s', (_name, configuration) => {
  const files = generateProjectFiles(configuration);
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';

  test('has formatted and lint-clean Python', () => {
    for (const { path, text } of files.filter((file) => file.path.endsWith('.py'))) {
      expect(ruff.format(text), path).toBe(text);
      expect(
        ruff.check(text).map(({ code, message }: { code: string; message: string }) => `${code} ${message}`),
      ).toEqual([]);
    }
  });

  test('has unique paths, a line break at the end of each file, and a README that lists all files', () => {
    const paths = files.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { path, text } of files) {
      expect(text, path).toMatch(/[^\n]\n$/);
      expect(text, path).not.toMatch(/undefined|\[object|[ \t]\n/);
    }
    const others = ['.botcli/project.json', 'AGENTS.md', 'ASSISTANT.md'];
    const expected = [...paths, ...others].map((path) => path.replace(/^(client|server\/evals)\/.*/, '$1/'));
    expect(listedFiles(textOf('README.md'))).toEqual([...new Set(expected)].sort());
    if (!configuration.deploy_to_cloud)
      expect(textOf('README.md')).not.toMatch(/deploy\.toml|[Oo]n the service,|For the service/);
  });

  test('lists in .env.example exactly the variables that the code reads, with optional variables commented out', () => {
    checkVariables(configuration, files, textOf('server/.env.example'));
  });

  test('has valid and consistent pyproject.toml, Dockerfile and deploy.toml', () => {
    checkPackage(configuration, textOf('server/pyproject.toml'));
    if (configuration.deploy_to_cloud) checkDeployment(configuration, files, textOf);
  });
});

/** Returns the paths in the file tree of a README. Fails if a file has no description. */
function listedFiles(readme: string): readonly string[] {
  const [, tree = ''] = /^## Files\n\n```text\n.*\/\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  return tree.split('\n').flatMap((line) => {
    const [, indent, path] = /^( {4})?[├└]── (\S+) {3,}\S/.exec(line) ?? [];
    return path === undefined ? [] : [indent === undefined ? path : `server/${path}`];
  });
}

/** Lists the environment variables that pipecat-ai or a vendor's package reads, according to the catalogue of `botcli init`. */
function readElsewhere({ transports, services }: ProjectPlan): readonly string[] {
  const variables = [...transports, ...services.map(({ service }) => service)].flatMap((one) => one.variables ?? []);
  return variables.map(({ name }) => name);
}

function checkVariables(configuration: ProjectConfiguration, files: readonly ProjectFile[], listed: string): void {
  const python = files.filter(({ path }) => path.endsWith('.py')).map(({ text }) => text);
  const read = [...python.join('\n').matchAll(/(?:environ\[|getenv\()"([A-Z0-9_]+)"/g)].map(([, name]) => name ?? '');
  const lines = [...listed.matchAll(/^(# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  const names = lines.map(([, , name]) => name ?? '');
  expect(new Set(names).size).toBe(names.length);
  // `secrets set --file .env` refuses reserved variables, so `.env.example` must mark them as "for your machine only".
  expect(
    lines
      .filter(([line, , name = '']) => isReservedSecretKey(name) && !/^# .*for your machine only/.test(line))
      .map(([, , name]) => name),
  ).toEqual([]);
  // Projects do not list the variable `ENV`, because Pipecat's development runner sets it.
  expect(read.filter((name) => name !== 'ENV' && !names.includes(name))).toEqual([]);
  const plan = createProjectPlan(configuration);
  const elsewhere = readElsewhere(plan);
  expect(names.filter((name) => !read.includes(name) && !elsewhere.includes(name))).toEqual([]);
  expect(elsewhere.filter((name) => !names.includes(name))).toEqual([]);
  const needed = groupEnvironmentVariables(plan).flatMap(({ variables }) =>
    variables.filter(({ required }) => required),
  );
  const blank = lines.filter(([, comment]) => comment === undefined);
  expect(blank.map(([, , name]) => name).sort()).toEqual(needed.map(({ name }) => name).sort());
  expect(blank.every(([, , , value]) => value === '')).toBe(true);
  // Every default in the code is documented in .env.example.
  const defaults = [...python.join('\n').matchAll(/getenv\("([A-Z0-9_]+)"\) or "([^"]+)"/g)];
  const isDocumented = (name = '', value = '') =>
    needed.some((one) => one.name === name) ||
    (listed.includes(`\n# ${name}=<`) && listed.includes(`default: ${value}`));
  expect(defaults.filter(([, name, value]) => !isDocumented(name, value)).map(([found]) => found)).toEqual([]);
}

function checkPackage(configuration: ProjectConfiguration, text: string): void {
  const { project } = parse(text) as { project: { name: string; dependencies: string[]; 'requires-python': string } };
  const plan = createProjectPlan(configuration);
  expect(project.name).toMatch(/^[a-z0-9][a-z0-9-]*[a-z0-9]$/);
  expect(project['requires-python']).toBe(`>=${plan.lowest.python}`);
  for (const dependency of project.dependencies)
    expect(dependency).toMatch(/^[a-z-]+(\[[a-z0-9,-]+\])?>=[0-9.]+,<\d+$/);
  expect(project.dependencies.join()).not.toContain('evals');
}

function checkDeployment(
  configuration: ProjectConfiguration,
  files: readonly ProjectFile[],
  textOf: (path: string) => string,
): void {
  const { file, issues } = checkDeployFile(parse(textOf('server/deploy.toml')));
  expect(issues).toEqual([]);
  expect(file?.agent_name).toBe(createProjectPlan(configuration).slug);
  expect(file?.agent_profile).toBe(configuration.video_input || configuration.video_output ? 'agent-2x' : 'agent-1x');
  const copied = [...textOf('server/Dockerfile').matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, sources]) =>
    (sources ?? '').split(' '),
  );
  const generated = files.map(({ path }) => path.replace('server/', ''));
  // `uv.lock` does not exist in a generated project, so the Dockerfile copies the pattern `uv.lock*`, which may match no file.
  expect(copied.filter((source) => !generated.includes(source))).toEqual(['uv.lock*']);
}
