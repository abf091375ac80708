import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export type Terminal = {
  /** Resolves when the output contains `text`. Each call searches only the output after the match of the previous call. */
  shows(text: string): Promise<void>;
  press(terminalKeys: string): void;
  /** Returns everything that the terminal has shown so far. */
  screen(): string;
  readonly ended: Promise<{ readonly status: number | null; readonly shown: string }>;
};

export const terminalKeys = { enter: '\r', down: '\x1b[B', space: ' ', ctrlC: '\x03' } as const;

/**
 * Runs a command line in a pseudo-terminal with `script` of util-linux, which every Debian has. `directory` is the working
 * directory and, unless `variables` say otherwise, the home directory.
 */
export function runInTerminal(
  command: string,
  directory: string,
  variables: Readonly<Record<string, string>> = {},
): Terminal {
  const env = { HOME: directory, PATH: '/usr/bin:/bin', TERM: 'xterm', COLUMNS: '120', ...variables };
  const child = spawn('/usr/bin/script', ['-qfec', `stty cols 120 rows 40; ${command}`, '/dev/null'], {
    cwd: directory,
    env,
  });
  let shown = '';
  let seen = 0;
  let look = () => {};
  child.stdout.on('data', (chunk) => {
    shown += stripVTControlCharacters(String(chunk));
    look();
  });
  const ended = new Promise<{ status: number | null; shown: string }>((resolve, reject) => {
    child.on('error', reject).on('close', (status) => resolve({ status, shown }));
  });
  return {
    shows: (text) =>
      new Promise((resolve, reject) => {
        look = () => {
          const at = shown.indexOf(text, seen);
          if (at === -1) return;
          seen = at + text.length;
          look = () => {};
          resolve();
        };
        look();
        void ended.then(() =>
          reject(
            new Error(
              `The program ended without showing ${JSON.stringify(text)}. Its output was: ${shown.slice(seen)}`,
            ),
          ),
        );
      }),
    press: (pressed) => child.stdin.write(pressed),
    screen: () => shown,
    ended,
  };
}
