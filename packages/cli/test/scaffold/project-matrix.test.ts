import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { checkDeployFile, reservedSecretKey } from '@bothost/contract';
import { parse } from 'smol-toml';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../src/scaffold/configuration/configuration.ts';
import { type Plan, planOf } from '../../src/scaffold/configuration/plan.ts';
import { projectFiles } from '../../src/scaffold/project/project.ts';
import { variableGroups } from '../../src/scaffold/project/variables.ts';
import type { ProjectFile } from '../../src/scaffold/project-file.ts';
import { projects } from './project-matrix.ts';

let ruff: Workspace;
beforeAll(() => {
  const lint = { select: ['E4', 'E7', 'E9', 'F', 'I', 'UP', 'B', 'RUF100'] };
  ruff = new Workspace({ 'line-length': 100, 'target-version': 'py311', lint }, PositionEncoding.Utf16);
});

describe.each(projects)('%s', (_name, configuration) => {
  const files = projectFiles(configuration);
  const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';

  test('Python is formatted and lint-clean', () => {
    for (const { path, text } of files.filter((file) => file.path.endsWith('.py'))) {
      expect(ruff.format(text), path).toBe(text);
      expect(
        ruff.check(text).map(({ code, message }: { code: string; message: string }) => `${code} ${message}`),
      ).toEqual([]);
    }
  });

  test('files are there once, end with a line break, and the README names those that are there', () => {
    const paths = files.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { path, text } of files) {
      expect(text, path).toMatch(/[^\n]\n$/);
      expect(text, path).not.toMatch(/undefined|\[object|[ \t]\n/);
    }
    const table = /## Files\n\n.*\n.*\n([\s\S]*)$/.exec(textOf('README.md'))?.[1]?.trim().split('\n') ?? [];
    const told = table.map((row) => /^\| `(\S+)` \| .+ \|$/.exec(row)?.[1] ?? row);
    const others = ['.botcli/project.json', 'AGENTS.md', 'ASSISTANT.md'];
    const shown = [...paths, ...others].map((path) => path.replace(/^(client|server\/evals)\/.*/, '$1/'));
    expect(told).toEqual([...new Set(shown)].filter((path) => path !== 'README.md').sort());
    if (!configuration.deploy_to_cloud)
      expect(textOf('README.md')).not.toMatch(/deploy\.toml|[Oo]n the service,|For the service/);
  });

  test('every variable that is read is listed, every listed one is read, and none that is optional is set', () => {
    checkVariables(configuration, files, textOf('server/.env.example'));
  });

  test('the files of package and deployment parse and fit together', () => {
    checkPackage(configuration, textOf('server/pyproject.toml'));
    if (configuration.deploy_to_cloud) checkDeployment(configuration, files, textOf);
  });
});

/** Names that the library or a vendor's package reads for what was chosen; variables.pipecat.test.ts looks them up there. */
function readElsewhere({ transports, services }: Plan): readonly string[] {
  const variables = [...transports, ...services.map(({ service }) => service)].flatMap((one) => one.variables ?? []);
  return variables.map(({ name }) => name);
}

function checkVariables(configuration: Configuration, files: readonly ProjectFile[], listed: string): void {
  const python = files.filter(({ path }) => path.endsWith('.py')).map(({ text }) => text);
  const read = [...python.join('\n').matchAll(/(?:environ\[|getenv\()"([A-Z0-9_]+)"/g)].map(([, name]) => name ?? '');
  const lines = [...listed.matchAll(/^(# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  const names = lines.map(([, , name]) => name ?? '');
  expect(new Set(names).size).toBe(names.length);
  // `secrets set --file .env` refuses these: no project needs one, and each is told to be for the own machine only.
  expect(
    lines
      .filter(([line, , name = '']) => reservedSecretKey(name) && !/^# .*for your machine only/.test(line))
      .map(([, , name]) => name),
  ).toEqual([]);
  // The runner on a person's machine sets ENV by itself.
  expect(read.filter((name) => name !== 'ENV' && !names.includes(name))).toEqual([]);
  const plan = planOf(configuration);
  const elsewhere = readElsewhere(plan);
  expect(names.filter((name) => !read.includes(name) && !elsewhere.includes(name))).toEqual([]);
  expect(elsewhere.filter((name) => !names.includes(name))).toEqual([]);
  const needed = variableGroups(plan).flatMap(({ variables }) => variables.filter(({ required }) => required));
  const blank = lines.filter(([, comment]) => comment === undefined);
  expect(blank.map(([, , name]) => name).sort()).toEqual(needed.map(({ name }) => name).sort());
  expect(blank.every(([, , , value]) => value === '')).toBe(true);
  // What stands in the code for an absent variable is told, not taken for the library's.
  const defaults = [...python.join('\n').matchAll(/getenv\("([A-Z0-9_]+)"\) or "([^"]+)"/g)];
  const told = (name = '', value = '') =>
    needed.some((one) => one.name === name) ||
    (listed.includes(`\n# ${name}=<`) && listed.includes(`default: ${value}`));
  expect(defaults.filter(([, name, value]) => !told(name, value)).map(([found]) => found)).toEqual([]);
}

function checkPackage(configuration: Configuration, text: string): void {
  const { project } = parse(text) as { project: { name: string; dependencies: string[]; 'requires-python': string } };
  const plan = planOf(configuration);
  expect(project.name).toMatch(/^[a-z0-9][a-z0-9-]*[a-z0-9]$/);
  expect(project['requires-python']).toBe(`>=${plan.lowest.python}`);
  for (const dependency of project.dependencies)
    expect(dependency).toMatch(/^[a-z-]+(\[[a-z0-9,-]+\])?>=[0-9.]+,<\d+$/);
  expect(project.dependencies.join()).not.toContain('evals');
}

function checkDeployment(
  configuration: Configuration,
  files: readonly ProjectFile[],
  textOf: (path: string) => string,
): void {
  const { file, issues } = checkDeployFile(parse(textOf('server/deploy.toml')));
  expect(issues).toEqual([]);
  expect(file?.agent_name).toBe(planOf(configuration).slug);
  expect(file?.agent_profile).toBe(configuration.video_input || configuration.video_output ? 'agent-2x' : 'agent-1x');
  const copied = [...textOf('server/Dockerfile').matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, sources]) =>
    (sources ?? '').split(' '),
  );
  const there = files.map(({ path }) => path.replace('server/', ''));
  // The lock comes from "uv lock", later: its name is a pattern, which may match nothing.
  expect(copied.filter((source) => !there.includes(source))).toEqual(['uv.lock*']);
}
