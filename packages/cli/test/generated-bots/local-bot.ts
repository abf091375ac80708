import type { EnvironmentVariables } from '../pipecat/uv.ts';
import type { GeneratedProject } from './generated-project.ts';
import { findFreePort, type RunningProgram, startProgram } from './start-program.ts';

/** The default port of Pipecat's development runner, as in READMEs. */
const documentedPort = 7860;

/** A bot that was started as its README says. `address` has the form `host:port`. */
export type RunningGeneratedBot = RunningProgram & { readonly address: string };

/**
 * Runs `uv run bot.py` and waits until the bot responds. The bot listens on the port that the README documents, or on a free
 * port.
 */
export async function startBot(
  project: GeneratedProject,
  where: 'documented' | 'anywhere',
  variables: EnvironmentVariables,
): Promise<RunningGeneratedBot> {
  const port = await findFreePort(where === 'documented' ? documentedPort : 0);
  const address = `localhost:${port}`;
  const command = ['bot.py', ...(where === 'documented' ? [] : ['--port', String(port)])];
  const running = await startProgram(project.spawn(command, variables), `http://${address}/status`);
  return { address, ...running };
}
