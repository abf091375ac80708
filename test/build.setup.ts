import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds the programs that the tests run, so that no test passes with an old build. CI builds them in an earlier step. */
export function setup(): void {
  // biome-ignore lint/style/noProcessEnv: a setting of the tests, not of the service
  if (process.env['BOTHOST_TEST_BUILT'] === 'true') return;
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
  });
}
