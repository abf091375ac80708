import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { BenchmarkedService } from './benchmarked-service.ts';
import { minimalEnvironment } from './program.ts';
import { botcliProgramPath } from './repository.ts';

/**
 * Deploys a directory with `botcli cloud deploy --json`. Returns the duration in milliseconds and the printed JSON document.
 */
export async function deployProject(service: BenchmarkedService, project: string) {
  const begun = performance.now();
  const child = spawn(process.execPath, [botcliProgramPath, 'cloud', 'deploy', '--yes', '--json'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...minimalEnvironment,
      BOTCLI_API_URL: service.origin,
      BOTCLI_TOKEN: service.privateKey,
      BOTCLI_CONFIG: join(project, '../no-profile.toml'),
    },
  });
  const exit = once(child, 'exit');
  const [output, talk] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  if (code !== 0) throw new Error(`botcli cloud deploy exited with status ${code}: ${talk}`);
  return { elapsed: performance.now() - begun, document: JSON.parse(output) as { readonly change: string } };
}
