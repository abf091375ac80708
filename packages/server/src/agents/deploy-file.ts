import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkDeployFile,
  type DeployFile,
  deployFileNames,
  findUnsupportedDeploySettings,
  type ValidationIssue,
} from '@bothost/contract';
import { parse } from 'smol-toml';

/** Thrown if a directory cannot be served as an agent. The message names the file and lists all errors. */
export class DeployFileError extends Error {
  override readonly name = 'DeployFileError';
}

/**
 * Reads `deploy.toml` of a directory, or `pcc-deploy.toml` of a Pipecat Cloud project. If neither file exists,
 * `directoryName` becomes the name of the agent.
 *
 * @throws DeployFileError
 */
export async function readDeployFile(directory: string, directoryName: string): Promise<DeployFile> {
  const found = await findFile(directory);
  const filePath = found?.path ?? join(directory, deployFileNames[0]);
  const parsed = found === null ? { agent_name: directoryName } : parseToml(found.text, found.path);
  const { file, issues } = checkDeployFile(parsed);
  if (file === null) throw refused(filePath, issues);
  const beyond = [...findUnsupportedDeploySettings(file, 'build'), ...beyondDirectories(file)];
  if (beyond.length > 0) throw refused(filePath, beyond);
  return file;
}

/** Returns errors for the fields that apply only to an uploaded project. */
function beyondDirectories(file: DeployFile): readonly ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  if (file.build_id !== undefined) {
    issues.push({
      path: 'build_id',
      message: 'an agent that is served from a directory has no build; remove build_id',
    });
  }
  return issues;
}

function refused(filePath: string, issues: readonly ValidationIssue[]): DeployFileError {
  const problems = issues.map(({ path, message }) => `${path || 'the file'}: ${message}`);
  return new DeployFileError(`${filePath}: ${problems.join('; ')}`);
}

async function findFile(directory: string): Promise<{ readonly path: string; readonly text: string } | null> {
  for (const name of deployFileNames) {
    const path = join(directory, name);
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new DeployFileError(`cannot read ${path}: ${error.code}`, { cause: error });
    });
    if (text !== null) return { path, text };
  }
  return null;
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
