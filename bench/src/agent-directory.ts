import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parrotFile } from './repository.ts';

/** An agent that a bench has the service serve. */
export type BenchAgent = {
  readonly name: string;
  readonly bot: 'parrot' | 'tiny' | 'printing';
  readonly minAgents: number;
  readonly maxAgents: number;
  /** `agent-3x` where the bot itself must not be what limits. */
  readonly profile?: 'agent-1x' | 'agent-3x';
};

const files = {
  parrot: parrotFile,
  tiny: fileURLToPath(new URL('./programs/tiny-bot.js', import.meta.url)),
  printing: fileURLToPath(new URL('./programs/printing-bot.js', import.meta.url)),
} as const;

/** Writes the directory of an agent below `parent` and returns it. */
export async function writeAgent(parent: string, agent: BenchAgent): Promise<string> {
  const directory = join(parent, agent.name);
  await mkdir(directory, { recursive: true });
  await copyFile(files[agent.bot], join(directory, 'bot.js'));
  if (agent.bot === 'tiny') {
    const ws = dirname(fileURLToPath(import.meta.resolve('ws/package.json')));
    await cp(ws, join(directory, 'node_modules/ws'), { recursive: true });
  }
  await writeFile(join(directory, 'package.json'), '{ "type": "module", "main": "bot.js" }\n');
  await writeFile(
    join(directory, 'deploy.toml'),
    `agent_name = "${agent.name}"
agent_profile = "${agent.profile ?? 'agent-1x'}"
[scaling]
min_agents = ${agent.minAgents}
max_agents = ${agent.maxAgents}
`,
  );
  return directory;
}
