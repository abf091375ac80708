import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  agentInstances,
  defaultProfile,
  nameLength,
  namePattern,
  profiles,
  reservedNames,
  sessionSeconds,
} from '@bothost/contract';
import { parse } from 'smol-toml';
import { z } from 'zod';

const profileNames = Object.keys(profiles) as [keyof typeof profiles, ...(keyof typeof profiles)[]];

/** The keys of a `deploy.toml` that a directory agent takes (cloud API 10). An unknown key is an error, never ignored. */
const DeployFile = z.strictObject({
  agent_name: z
    .string()
    .min(nameLength.minimum)
    .max(nameLength.maximum)
    .regex(namePattern, 'use lower-case letters, digits and hyphens, and begin and end with a letter or digit')
    .refine((name) => !reservedNames.includes(name), 'this name is reserved'),
  agent_profile: z.enum(profileNames).default(defaultProfile),
  max_session_duration: z.int().min(sessionSeconds.minimum).max(sessionSeconds.maximum).default(sessionSeconds.default),
  websocket_auth: z.enum(['none', 'token']).default('token'),
  scaling: z
    .strictObject({
      min_agents: z
        .int()
        .min(agentInstances.minimum)
        .max(agentInstances.maximum)
        .default(agentInstances.defaultMinimum),
      max_agents: z.int().min(1).max(agentInstances.maximum).default(agentInstances.defaultMaximum),
    })
    .prefault({})
    .refine((scaling) => scaling.min_agents <= scaling.max_agents, 'min_agents is above max_agents'),
});
export type DeployFile = z.output<typeof DeployFile>;

/** A directory that cannot be an agent; the message names the file and everything that is wrong with it. */
export class DeployFileError extends Error {
  override readonly name = 'DeployFileError';
}

/**
 * Reads `deploy.toml` of a directory. Without the file the directory's own name is the agent's name.
 *
 * @throws DeployFileError
 */
export async function readDeployFile(directory: string, directoryName: string): Promise<DeployFile> {
  const file = join(directory, 'deploy.toml');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new DeployFileError(`cannot read ${file}: ${error.code}`, { cause: error });
  });
  const parsed = DeployFile.safeParse(text === null ? { agent_name: directoryName } : parseToml(text, file));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
  throw new DeployFileError(`${file}: ${problems.join('; ')}`);
}

function parseToml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new DeployFileError(`${file}: ${error instanceof Error ? error.message.split('\n')[0] : 'not TOML'}`, {
      cause: error,
    });
  }
}
