import { deployFileNames } from '@bothost/contract';

/**
 * Files that are excluded whatever the ignore files say: environment files, which contain secrets; version control, whose
 * history contains removed files; and the deploy file, so that changed settings need no new build.
 */
export function isAlwaysExcluded(name: string): boolean {
  return name.startsWith('.env') || versionControl.has(name) || deployFiles.has(name);
}

const versionControl: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj']);
const deployFiles: ReadonlySet<string> = new Set(deployFileNames);

/**
 * What stays behind in a project without a `.dockerignore`, in the grammar of `.gitignore`. The project's
 * own files are read after it, so that `!dist/` takes one back.
 */
export const defaultPatterns: readonly string[] = [
  ...['.gitignore', '.gitattributes', '.gitmodules', '.dockerignore'],
  ...['*.pem', '*.key', '*.p12', '*.pfx', 'id_rsa', 'id_ed25519', '.netrc'],
  ...['__pycache__/', '*.py[cod]', '.pytest_cache/', '.mypy_cache/', '.ruff_cache/', '.hypothesis/', '.tox/', '.nox/'],
  ...['.coverage', 'htmlcov/', 'coverage/', '*.egg-info/', '.ipynb_checkpoints/'],
  ...['.venv/', 'venv/', 'node_modules/', 'dist/', 'build/'],
  ...['.idea/', '.vscode/', '*.swp', '.DS_Store'],
  ...[
    '.github/',
    '.gitlab/',
    '.gitlab-ci.yml',
    '.circleci/',
    '.claude/',
    '.cursor/',
    '.codex/',
    '.windsurf/',
    '.aider*',
  ],
  '.botcli/',
];
