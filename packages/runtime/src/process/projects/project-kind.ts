import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PrepareError } from '../../runtime.ts';
import { readManifest } from './node-project.ts';

/** The file of a Python project that has `async def bot(args)`. */
export const PYTHON_MAIN = 'bot.py';
const PYTHON_FILES = ['pyproject.toml', 'requirements.txt', PYTHON_MAIN];

export type ProjectKind = { readonly kind: 'node' | 'python'; readonly because: string };

/**
 * What kind of project lies in a directory, and a line that says why. Where both could be, it is a Python one when it has
 * a bot.py and no "main" in package.json. Throws `PrepareError` with what was looked for.
 */
export function detectKind(directory: string): ProjectKind {
  const has = (name: string) => existsSync(join(directory, name));
  const python = PYTHON_FILES.filter(has);
  const isNode = has('package.json');
  if (isNode && python.length > 0) {
    const isPython = has(PYTHON_MAIN) && readManifest(directory).main === undefined;
    return isPython
      ? { kind: 'python', because: 'a Python project: it has a bot.py, and package.json names no "main"' }
      : {
          kind: 'node',
          because: `a Node project: it has a package.json; ${python.join(', ')} beside it is ignored`,
        };
  }
  if (isNode) return { kind: 'node', because: 'a Node project: it has a package.json' };
  if (has(PYTHON_MAIN)) return { kind: 'python', because: `a Python project: it has ${python.join(', ')}` };
  if (python.length > 0) {
    throw new PrepareError(
      `The project has ${python.join(' and ')}, but no ${PYTHON_MAIN}: a Python bot is a file ${PYTHON_MAIN} at the top of the project, with an "async def bot(args)".`,
    );
  }
  if (has('index.js')) return { kind: 'node', because: 'a Node project: it has an index.js' };
  throw new PrepareError(
    'This project cannot be started: at its top there is neither a package.json (Node) nor a bot.py with pyproject.toml or requirements.txt (Python). Put one there, or name the folder that has it.',
  );
}
