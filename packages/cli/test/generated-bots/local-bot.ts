import type { Variables } from '../pipecat/uv.ts';
import type { GeneratedProject } from './generated-project.ts';
import { freePort, type Running, startProgram } from './start-program.ts';

/** Where Pipecat's runner serves a bot, and what READMEs say. */
const documentedPort = 7860;

/** A bot that runs as the README of its project says, at `host:port`. */
export type LocalBot = Running & { readonly address: string };

/** `uv run bot.py`, until it answers; on the port that the README names, or on any other. */
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
