import { deployFileNames } from '@bothost/contract';

/**
 * Returns true for names that are never packed: environment files, which contain secrets, and their samples; version control directories, whose
 * history may contain removed files; and the deploy file (the deployment settings in TOML), so that a changed setting needs no
 * new build.
 */
export function isAlwaysExcluded(name: string): boolean {
  return name.startsWith('.env') || versionControl.has(name) || deployFiles.has(name);
}

const versionControl: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj']);
const deployFiles: ReadonlySet<string> = new Set(deployFileNames);

/**
 * Patterns in the syntax of `.gitignore` for a project without a `.dockerignore`. The project's own `.gitignore` files take
 * precedence: a line `!dist/` in one of them includes that directory again.
 */
export const defaultExclusionPatterns: readonly string[] = [
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
