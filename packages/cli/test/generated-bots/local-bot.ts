import type { Variables } from '../pipecat/uv.ts';
import type { GeneratedProject } from './generated-project.ts';
import { freePort, type Running, startProgram } from './start-program.ts';

/** The default port of Pipecat's development runner, as in READMEs. */
const documentedPort = 7860;

/** A bot that runs as its README says, at `host:port`. */
export type LocalBot = Running & { readonly address: string };

/** Runs `uv run bot.py` until it answers, on the documented port or on a free one. */
export async function startBot(
  project: GeneratedProject,
  where: 'documented' | 'anywhere',
  variables: Variables,
): Promise<LocalBot> {
  const port = await freePort(where === 'documented' ? documentedPort : 0);
  const address = `localhost:${port}`;
  const command = ['bot.py', ...(where === 'documented' ? [] : ['--port', String(port)])];
  const running = await startProgram(project.spawn(command, variables), `http://${address}/status`);
  return { address, ...running };
}
