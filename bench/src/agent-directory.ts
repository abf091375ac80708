import { appendFile, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeVoiceBot } from './first-second/voice-bot.ts';
import { parrotBotProgramPath, pipecatEchoDirectory } from './repository.ts';

export type BenchAgent = {
  readonly name: string;
  readonly bot: 'parrot' | 'tiny' | 'printing' | 'pipecat' | { readonly voice: { readonly standIns: string } };
  readonly minAgents: number;
  readonly maxAgents: number;
  /**
   * The instance profile, which sets the CPU and memory limits of the bot. With `agent-3x`, the CPU limit of the bot does not
   * slow down the measurement.
   */
  readonly profile?: 'agent-1x' | 'agent-2x' | 'agent-3x';
  /** Whether instances of a Python bot may be forked from a process that has already imported the bot. The default is true. */
  readonly fork?: boolean;
  readonly secretSet?: string;
};

const files = {
  parrot: parrotBotProgramPath,
  tiny: fileURLToPath(new URL('./programs/tiny-bot.js', import.meta.url)),
  printing: fileURLToPath(new URL('./programs/printing-bot.js', import.meta.url)),
} as const;

/** Writes the directory of an agent into `parent` and returns its path. */
export async function writeAgentDirectory(parent: string, agent: BenchAgent): Promise<string> {
  const directory = join(parent, agent.name);
  await mkdir(directory, { recursive: true });
  if (typeof agent.bot === 'object') await writeVoiceBot(directory, agent.bot.voice.standIns);
  else if (agent.bot === 'pipecat') await writePipecatBot(directory);
  else await writeNodeBot(directory, agent.bot);
  await writeFile(
    join(directory, 'deploy.toml'),
    `agent_name = "${agent.name}"
agent_profile = "${agent.profile ?? 'agent-1x'}"
websocket_auth = "none"
fork = ${agent.fork ?? true}
${agent.secretSet === undefined ? '' : `secret_set = "${agent.secretSet}"`}
[scaling]
min_agents = ${agent.minAgents}
max_agents = ${agent.maxAgents}
`,
  );
  return directory;
}

async function writeNodeBot(directory: string, bot: keyof typeof files): Promise<void> {
  await copyFile(files[bot], join(directory, 'bot.js'));
  if (bot === 'tiny') {
    const ws = dirname(fileURLToPath(import.meta.resolve('ws/package.json')));
    await cp(ws, join(directory, 'node_modules/ws'), { recursive: true });
  }
  await writeFile(join(directory, 'package.json'), '{ "type": "module", "main": "bot.js" }\n');
}

/**
 * Writes a copy of `examples/pipecat-echo` that also prints the time at which `bot()` was called, the path of the Python
 * interpreter and the working directory.
 */
async function writePipecatBot(directory: string): Promise<void> {
  for (const file of ['bot.py', 'pyproject.toml'])
    await copyFile(join(pipecatEchoDirectory, file), join(directory, file));
  await appendFile(join(directory, 'bot.py'), entered);
}

const entered = `

echo = bot


async def bot(arguments):
    import json, os, sys, time

    entered = {"at": time.time() * 1000, "python": sys.executable, "directory": os.getcwd()}
    print("entered", json.dumps(entered), flush=True)
    await echo(arguments)
`;
