import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds the programs before the suites that run them, so that no test passes with an old build. In CI, the programs are built
 * before.
 */
export function setup(): void {
  // biome-ignore lint/style/noProcessEnv: a setting of the tests, not of the service
  if (process.env['BOTHOST_TEST_BUILT'] === 'true') return;
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
  });
}
