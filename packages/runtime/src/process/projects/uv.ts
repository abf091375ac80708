import { ProjectPreparationError, type RuntimeLogger } from '../../runtime.ts';
import { installUv } from './install-uv.ts';
import { findProgramsInPath, runProgramAsAccount, type UnixAccount } from './interpreter.ts';
import { createBuildOutputMask } from './mask-build-output.ts';
import { findPython } from './python-interpreter.ts';

const retryMs = 10 * 60_000;
const reasonCharacters = 300;

export type UvOptions = {
  readonly path: string;
  readonly toolsDirectory: string;
  readonly installs: boolean;
  readonly passed: Readonly<Record<string, string>>;
  readonly account: UnixAccount;
  readonly now: () => Date;
  readonly logger: Pick<RuntimeLogger, 'info' | 'warn'>;
  readonly signal: AbortSignal;
};

/** Returns the path of uv. Rejects with `ProjectPreparationError` if this machine has none. */
export type UvFinder = () => Promise<string>;

/** Finds uv in `path`. If it is missing, installs it once for all builds of this service. */
export function createUvFinder(options: UvOptions): UvFinder {
  const { path, account, logger, now } = options;
  let installing: Promise<string> | null = null;
  let failure: { readonly reason: string; readonly retryAt: number } | null = null;

  const install = async (): Promise<string> => {
    const { toolsDirectory, passed, signal } = options;
    const python = await findPython([], path, null);
    const environment = { PATH: path, ...passed };
    const program = await installUv({ python: python.path, toolsDirectory, environment, signal });
    if ((await runProgramAsAccount(program, ['--version'], account)) === null)
      throw new Error(`cannot run the installed ${program}`);
    logger.info({ program }, 'uv installed');
    return program;
  };

  return async () => {
    for (const candidate of findProgramsInPath(['uv'], path)) {
      if ((await runProgramAsAccount(candidate, ['--version'], account)) !== null) return candidate;
    }
    if (!options.installs) {
      throw new ProjectPreparationError(
        'Installing Python packages needs uv, which this service lacks. Ask the operator to install uv in the PATH of the service, or to set BOTHOST_INSTALL_UV to true.',
      );
    }
    if (failure === null || failure.retryAt <= now().getTime()) {
      failure = null;
      installing ??= install();
      try {
        return await installing;
      } catch (error) {
        installing = null;
        const reason = createBuildOutputMask(options.passed)(reasonOf(error));
        failure = { reason, retryAt: now().getTime() + retryMs };
        logger.warn({ reason }, 'uv could not be installed');
      }
    }
    throw new ProjectPreparationError(
      `Installing Python packages needs uv, which the service could not install (${failure.reason}). Ask the operator to install uv in the PATH of the service, and deploy again.`,
    );
  };
}

/** Returns why pip failed: the last line that it printed, or else the message of the error. */
function reasonOf(error: unknown): string {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return (line === '' && error instanceof Error ? error.message : line).slice(0, reasonCharacters);
}
