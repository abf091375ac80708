import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, vi } from 'vitest';
import { placeholderSecret } from '../../packages/cli/test/generated-bots/generated-project.ts';
import { requireUvInstallation } from '../../packages/cli/test/pipecat/uv.ts';
import { type StandInVendors, startStandInVendors } from '../../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import { startTestServer, type TestServer } from '../../packages/server/test/support/test-server.ts';
import { openCommandRunner } from './commands.ts';
import versions from './versions.json' with { type: 'json' };

/** A project that Pipecat's generator wrote, deployed unchanged with Pipecat's CLI. */
export type DeployedProject = {
  readonly name: string;
  /** The directory of the project, with the bot in `server` and, if generated, the web client in `client`. */
  readonly directory: string;
  readonly service: TestServer;
  readonly standIns: StandInVendors;
  /** Runs `pipecat` in the directory `server` and returns its output. Throws unless the exit status is 0. */
  readonly pipecat: (line: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Builds of web clients ignore npm releases after this date, so that the builds are reproducible. */
export const packageReleaseCutoff = versions.date;

const hook = fileURLToPath(new URL('../../packages/cli/test/stand-in-vendors/reach_stand_ins.py', import.meta.url));
const services = '-m cascade --stt deepgram_stt --tts cartesia_tts';

/**
 * Generates a project with `pipecat init` and deploys it to a new service. `options` are further arguments of the command.
 */
export async function deployProject(name: string, options: string): Promise<DeployedProject> {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-existing-'));
  // Bots run under other accounts, which must be able to read the Python file that connects them to the stand-in vendors.
  await chmod(folder, 0o755);
  const standIns = await startStandInVendors();
  const { inherited, secrets } = readConfig();
  // Put uv in PATH of the service, because pip takes four times as long to install Pipecat.
  const path = `${inject('uvFolder')}:${inherited.path}`;
  const service = await startTestServer({ environment: { PATH: path, ...secrets.buildVariables } });
  const directory = join(folder, name);
  const commands = await openCommandRunner(versions.pypi.pipecatcloud[0] ?? '', {
    directory: folder,
    environment: {
      HOME: folder,
      PATH: `${inject('uvFolder')}:/usr/bin:/bin`,
      COLUMNS: '200',
      NO_COLOR: '1',
      PIPECAT_API_HOST: service.url,
      PIPECAT_TOKEN: service.privateKey,
      PIPECAT_DEFAULT_PUBLIC_KEY: service.publicKey,
    },
  });
  const run = async (line: string, workingDirectory: string) => {
    const { status, output } = await commands.run(line.split(' '), { directory: workingDirectory });
    expect(status, output).toBe(0);
    return output;
  };
  const project: DeployedProject = {
    name,
    directory,
    service,
    standIns,
    pipecat: (line) => run(line, join(directory, 'server')),
    close: async () => {
      commands.close();
      await service.close();
      await standIns.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await run(`init -o ${folder} -n ${name} ${services} ${options}`, folder);
    await deploy(project);
    return project;
  } catch (error) {
    await project.close();
    throw error;
  }
}

/**
 * Deploys the project as its README says. Then adds a file to the Python environment that makes every bot use the stand-in
 * vendors, because a secret cannot set PIPECAT_SETUP_FILES.
 */
async function deploy({ name, directory, service, standIns, pipecat }: DeployedProject): Promise<void> {
  const server = join(directory, 'server');
  const uv = requireUvInstallation();
  await promisify(execFile)(uv.program, ['lock', '--quiet'], { cwd: server, env: uv.environment });
  const example = await readFile(join(server, '.env.example'), 'utf8');
  const keys = [...example.matchAll(/^(\w+)=/gm)].map(([, key]) => `${key}=${placeholderSecret}`);
  const vendors = [`OPENAI_BASE_URL=http://${standIns.address}/v1`, `STAND_INS=${standIns.address}`];
  const setName = `${name}-secrets`;
  await pipecat(`cloud secrets set ${setName} ${[...keys, ...vendors].join(' ')} --skip`);
  const isReady = async () => (await service.client.getSecretSet({ params: { setName } })).status === 'ready';
  await vi.waitUntil(isReady, { timeout: 60_000 });
  expect(await pipecat('cloud deploy --yes')).toContain(`'${name}' is ready`);

  const environments = join(service.dataDirectory, 'environments');
  const packages = (await readdir(environments, { recursive: true })).find((path) => /\/site-packages$/.test(path));
  const readable = join(directory, '../reach_stand_ins.py');
  await copyFile(hook, readable);
  const line = `import os; os.environ["PIPECAT_SETUP_FILES"] = ${JSON.stringify(readable)}\n`;
  await writeFile(join(environments, packages ?? '', 'stand-ins.pth'), line);
  expect(await pipecat('cloud deploy --yes --force')).toContain(`'${name}' is ready`);
}
