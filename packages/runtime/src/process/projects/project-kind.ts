import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectPreparationError } from '../../runtime.ts';
import { readManifest } from './node-project.ts';

/** The file of a Python project that defines `async def bot(args)`. */
export const pythonMainFile = 'bot.py';
const pythonFiles = ['pyproject.toml', 'requirements.txt', pythonMainFile];

export type ProjectKind = { readonly kind: 'node' | 'python'; readonly because: string };

/**
 * Returns the kind of a project, and the reason for it, which the build log shows. A project that could be both is
 * Python if it has a bot.py and its package.json has no "main". Throws a `ProjectPreparationError` that lists the expected files.
 */
export function detectProjectKind(directory: string): ProjectKind {
  const has = (name: string) => existsSync(join(directory, name));
  const python = pythonFiles.filter(has);
  const isNode = has('package.json');
  if (isNode && python.length > 0) {
    const isPython = has(pythonMainFile) && readManifest(directory).main === undefined;
    return isPython
      ? { kind: 'python', because: 'a Python project: it has a bot.py, and package.json has no "main"' }
      : {
          kind: 'node',
          because: `a Node project: it has a package.json; ${python.join(', ')} is ignored`,
        };
  }
  if (isNode) return { kind: 'node', because: 'a Node project: it has a package.json' };
  if (has(pythonMainFile)) return { kind: 'python', because: `a Python project: it has ${python.join(', ')}` };
  if (python.length > 0) {
    throw new ProjectPreparationError(
      `The project has ${python.join(' and ')}, but no ${pythonMainFile}. A Python bot needs a file ${pythonMainFile} with "async def bot(args)" in its root directory.`,
    );
  }
  if (has('index.js')) return { kind: 'node', because: 'a Node project: it has an index.js' };
  throw new ProjectPreparationError(
    'The project cannot be started: it has neither a package.json (Node) nor a bot.py with pyproject.toml or requirements.txt (Python) in its root directory. Add one of them, or deploy the directory that has it.',
  );
}
