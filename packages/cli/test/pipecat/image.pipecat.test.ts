import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { quickstartProject } from '../../src/scaffold/quickstart.ts';
import { findPython } from './find-python.ts';
import { requireUvInstallation, type UvInstallation } from './uv.ts';

/**
 * A directory that replaces `/app` of the Docker base image, so that the tests need no container engine. It contains a Python
 * environment with the packages of the program that starts the bot. The tests run the install command of a project's Dockerfile
 * in this directory.
 */
let app: string;
let uv: UvInstallation;
let dockerfile: string;
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'botcli-image-'));
  const opened = await requireUvInstallation();
  uv = { ...opened, environment: { ...opened.environment, UV_PYTHON: (await findPython()).program } };
  const { configuration } = resolveConfiguration(quickstartProject.options, quickstartProject.name);
  if (configuration === null) throw new Error('the quickstart cannot be resolved');
  const textOf = (path: string) => generateProjectFiles(configuration).find((file) => file.path === path)?.text ?? '';
  dockerfile = textOf('server/Dockerfile');
  for (const name of ['bot.py', 'pyproject.toml']) await writeFile(join(app, name), textOf(`server/${name}`));
  await run(uv.program, 'venv');
  // Pass the interpreter of the new environment explicitly. Otherwise uv would use the interpreter in UV_PYTHON.
  const place = ['--python', join(app, '.venv/bin/python')];
  await run(uv.program, 'pip', 'install', ...place, 'fastapi[standard]', 'pipecatcloud');
}, 600_000);
afterAll(() => rm(app, { recursive: true, force: true }));

const run = async (program: string, ...args: readonly string[]) =>
  (await promisify(execFile)(program, [...args], { cwd: app, env: uv.environment })).stdout;

/** Returns the RUN command of the Dockerfile without the --mount options. */
const install = () => /^RUN ((?:.*\\\n)*.*)$/m.exec(dockerfile)?.[1]?.replace(/--mount=\S+/g, '') ?? '';

test.each(['with a lock file', 'without a lock file'])(
  'an image that is built %s contains the bot and the program that starts the bot',
  async (which) => {
    if (which === 'with a lock file') await run(uv.program, 'lock');
    else await rename(join(app, 'uv.lock'), join(app, 'no.lock'));
    await run('sh', '-euc', install());
    const output = await run(
      join(app, '.venv/bin/python'),
      '-c',
      'import bot, fastapi, pipecatcloud.agent; print("here")',
    );
    expect(output).toContain('here');
  },
  600_000,
);
