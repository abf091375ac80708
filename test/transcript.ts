import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * One step of a document: either a file to save, or commands with their output. A file is a block after a line that ends with the
 * file's name and a colon. Commands are an `sh` block; their output is the next block if that is a `text` block.
 */
export type DocumentedStep =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'commands'; readonly text: string; readonly printed: string | null };

export function readDocumentedSteps(document: string, title: string): readonly DocumentedStep[] {
  const section = document.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`The document has no section "${title}".`);
  const blocks = [...section.matchAll(/(?:^`([\w.-]+)`[^\n]*:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, name, language, text = ''], index): DocumentedStep[] => {
    if (name !== undefined) return [{ kind: 'file', name, text }];
    if (language !== 'sh') return [];
    const next = blocks[index + 1];
    return [{ kind: 'commands', text, printed: next?.[2] === 'text' ? (next[3] ?? '') : null }];
  });
}

export type Terminal = {
  /**
   * Executes a step of a Markdown document: writes a file, or runs shell commands. Returns the output and errors of the
   * commands as a terminal with 80 columns shows them.
   */
  readonly follow: (step: DocumentedStep) => Promise<string>;
};

/** A shell that keeps its working directory and variables between steps. A failed command does not end it. */
export function openTerminal(home: string, origin: string, environment: Readonly<Record<string, string>>): Terminal {
  const state = join(home, '.terminal');
  let folder = home;
  return {
    follow: async (step) => {
      if (step.kind === 'file') {
        await mkdir(dirname(join(folder, step.name)), { recursive: true });
        await writeFile(join(folder, step.name), step.text);
        return '';
      }
      const commands = step.text.replaceAll('http://127.0.0.1:7420', origin);
      const script = `touch ${state}; . ${state}\n${commands}\n{ export -p; } > ${state}; pwd > ${state}.folder`;
      const env = { ...environment, BOTCLI_API_URL: origin, BOTCLI_OUTPUT: 'rich', NO_COLOR: '1' };
      const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${script}`], { cwd: folder, env });
      folder = (await readFile(`${state}.folder`, 'utf8')).trim();
      return stdout;
    },
  };
}

/** Replaces all parts of an output that differ between runs: ids, times, sizes, column widths and paths. */
export function normalizeTerminalOutput(text: string): string {
  return (
    text
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b/g, 'HASH')
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, 'TIME')
      .replace(/\d+(?:\.\d+)? (?:B|KiB|MiB|s)\b/g, 'SIZE')
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'ORIGIN')
      .replace(/\/[^\s]*\/projects\/ID/g, 'PROJECT')
      .replace(/\bv2\d\.\d+\.\d+/g, 'NODE')
      .replace(/Python 3\.\d+\.\d+ \(\S+\)/g, 'PYTHON')
      .split('\n')
      // Remove progress lines, which appear only on slow machines.
      .filter((line) => !/^(?:Preparing|Starting the first instance)/.test(line))
      .map((line) => line.replace(/ +/g, ' ').trimEnd())
      .filter((line) => line !== '')
      .join('\n')
  );
}

/** Converts the documented output of a step to a pattern. A line that is `...` matches any number of lines. */
export function createDocumentedOutputPattern(printed: string): RegExp {
  const parts = normalizeTerminalOutput(printed)
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\\n)*?' : `${line.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}\\n`));
  return new RegExp(`^${parts.join('')}$`);
}
