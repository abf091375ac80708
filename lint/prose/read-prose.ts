import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFileProse } from './prose.ts';
import { readHashComments, readPythonProse } from './python.ts';
import { repositoryRoot } from './tracked-files.ts';
import { readTypeScriptProse } from './typescript.ts';

export function readProse(path: string): SourceFileProse {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  if (path.endsWith('.py')) return readPythonProse(text);
  if (path.endsWith('.sh')) return { comments: readHashComments(text), messages: [], testNames: [], identifiers: [] };
  return readTypeScriptProse(path, text);
}
