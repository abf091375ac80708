import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/**
 * One step of a document: a file to save (a block after a line that ends with its name and a colon), or commands (`sh`)
 * with their output (`text`, if that is the next block).
 */
export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'commands'; readonly text: string; readonly printed: string | null };

/** The steps of one section of a document. */
export function stepsOf(document: string, title: string): readonly Step[] {
  const section = document.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`The document has no section "${title}".`);
  const blocks = [...section.matchAll(/(?:^`([\w.-]+)`[^\n]*:\n\n)?^```(\w+)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, name, language, text = ''], index): Step[] => {
    if (name !== undefined) return [{ kind: 'file', name, text }];
    if (language !== 'sh') return [];
    const next = blocks[index + 1];
    return [{ kind: 'commands', text, printed: next?.[2] === 'text' ? (next[3] ?? '') : null }];
  });
}

export type Terminal = {
  /** Follows a step; returns its output on both streams as a terminal with 80 columns shows it. */
  readonly follow: (step: Step) => Promise<string>;
};

/** A shell that keeps its folder and its variables between steps. A document may contain failing commands. */
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

/** A text without what differs between runs: ids, times, sizes, column widths, paths. */
export function essence(text: string): string {
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
      // Progress lines appear only after some time, so they depend on the machine.
      .filter((line) => !/^(?:Preparing|Starting the first instance)/.test(line))
      .map((line) => line.replace(/ +/g, ' ').trimEnd())
      .filter((line) => line !== '')
      .join('\n')
  );
}

/** The printed output of a step as a pattern: a line of three dots stands for any lines. */
export function patternOf(printed: string): RegExp {
  const parts = essence(printed)
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\\n)*?' : `${line.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}\\n`));
  return new RegExp(`^${parts.join('')}$`);
}
