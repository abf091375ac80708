import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { z } from 'zod';
import { RuntimeUnavailableError } from '../runtime.ts';

/**
 * Reads a file of the operator. `setting` is the variable that names it.
 *
 * @throws RuntimeUnavailableError that says what is wrong, without quoting the file, which may have secrets
 */
export async function readYamlFile<T>(path: string, setting: string, schema: z.ZodType<T>): Promise<T> {
  const unusable = (reason: string) =>
    new RuntimeUnavailableError(`The file ${path} cannot be used: ${reason}. Correct it, or change ${setting}.`);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable(`it cannot be read (${error.code})`);
  });
  let content: unknown;
  try {
    content = parse(text);
  } catch {
    throw unusable('it is not YAML');
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(`"${issue?.path.join('.')}" is missing or not valid: ${issue?.message}`);
}
