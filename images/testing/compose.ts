import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { findComposeCommand, runScript } from './commands.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A project of docker compose for one test. `file` is in `images/`, and `variables` are its environment variables. */
export function createComposeProject(file: string, variables: () => Readonly<Record<string, string>>) {
  const project = `bothost-test-${randomBytes(4).toString('hex')}`;
  const command = async () => `${await findComposeCommand()} -p ${project}`;
  return {
    run: async (words: string) => runScript(`${await command()} -f images/${file} ${words}`, root, variables()),
    /** Runs a documented script, which creates secrets in `secrets` instead. */
    runDocumented: async (script: string, secrets: string) =>
      runScript(
        script.replaceAll('images/secrets', secrets).replace('docker compose', await command()),
        root,
        variables(),
      ),
  };
}

export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
