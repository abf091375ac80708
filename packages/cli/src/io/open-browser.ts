import { spawn } from 'node:child_process';

const programs: Readonly<Record<string, readonly [program: string, ...args: readonly string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a web page in the user's browser. Returns false if the system has no program that opens pages. */
export function openBrowser(url: string): Promise<boolean> {
  const [program, ...args] = programs[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
