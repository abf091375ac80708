import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure, UsageError } from './failure.ts';
import type { World } from './world.ts';

/**
 * A JSON object given as an argument: the text itself, `@path` for a file, `-` for standard input. Its content is
 * never put into an error: it may be private.
 */
export async function readJsonObject(world: World, given: string, option: string): Promise<Record<string, unknown>> {
  const { text, place } = await readText(world, given, option);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`${place} is not valid JSON.`, `Give an object, such as ${option} '{"language": "en"}'.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${place} must be a JSON object, such as {"language": "en"}.`);
  }
  return value as Record<string, unknown>;
}

async function readText(world: World, given: string, option: string): Promise<{ text: string; place: string }> {
  if (given === '-') return { text: await world.stdin.text(), place: 'Standard input' };
  if (!given.startsWith('@')) return { text: given, place: `The value of ${option}` };
  const path = given.slice(1);
  try {
    return { text: await readFile(resolve(world.directory, path), 'utf8'), place: path };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Failure('file-unreadable', `Cannot read ${path}, named by ${option}${code}.`);
  }
}
