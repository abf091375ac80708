import {
  checkDeployFile,
  type DeployFile,
  type DeploySource,
  findUnsupportedDeploySettings,
  type ValidationIssue,
} from '@bothost/contract';
import { parse, TomlError } from 'smol-toml';
import { PackingError } from './packing-error.ts';

/**
 * Parses a deploy file: the deployment settings of a project, in TOML. `name` is the path to show in error messages. `findSource`
 * says what the file is used to deploy, because a project and an image support different settings. Throws a `PackingError` with
 * all problems.
 */
export function parseDeployFile(
  text: string,
  name: string,
  findSource: (file: DeployFile) => DeploySource,
): DeployFile {
  const { file, issues } = checkDeployFile(parseToml(text, name));
  if (file === null) throw invalid(`${name} is invalid.`, issues);
  const unsupported = findUnsupportedDeploySettings(file, findSource(file));
  if (unsupported.length > 0) throw invalid(`${name} has settings that this service does not support.`, unsupported);
  return file;
}

function parseToml(text: string, name: string): unknown {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [message = ''] = error.message.split('\n');
    throw invalid(`${name} is not valid TOML.`, [{ path: `line ${error.line}`, message }]);
  }
}

function invalid(message: string, issues: readonly ValidationIssue[]): PackingError {
  return new PackingError('deploy-file-invalid', message, null, issues);
}
